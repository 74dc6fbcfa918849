/**
 * A01 to A04: who may post to a hook. A whole daemon, real sockets; each refusal beside the request
 * that differs in one thing and is taken.
 */
import { createHash, createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { createRegistry } from "../../src/daemon/config/registry.ts";
import { parseConfig } from "../../src/domain/config/index.ts";
import { newFolder } from "../support/daemon/folder.ts";
import {
  type HookDaemon,
  hookSecret,
  kitchen,
  messageBody,
  nowSeconds,
  openHookDaemon,
  otherSecret,
  signed,
} from "../support/daemon/hook-daemon.ts";

describe("A01 an unsigned post", () => {
  test("A01 is refused without a row and without being read as JSON; the same signed is taken", async () => {
    const door = await openHookDaemon();
    const body = messageBody("m1");
    const before = door.rows();
    for (const headers of [
      {},
      { "earshot-timestamp": nowSeconds() },
      { "earshot-signature": signed(body)["earshot-signature"] as string },
      { authorization: `Bearer ${door.daemon.token}` },
      { ...signed(body), "earshot-signature": "sha256=" },
      { ...signed(body), "earshot-signature": `sha1=${"0".repeat(40)}` },
      { ...signed(body), "earshot-timestamp": "now" },
      { ...signed(body), "earshot-timestamp": "1e9" },
    ]) {
      const answer = await door.post(kitchen, body, headers);
      expect(answer.status).toBe(401);
      expect(await answer.json()).toMatchObject({ error: { code: "signature" } });
    }
    // Invalid JSON gets no other answer: it was not read.
    expect((await door.post(kitchen, "{{{")).status).toBe(401);
    expect(door.rows()).toBe(before);
    const taken = await door.post(kitchen, body, signed(body));
    expect(taken.status).toBe(200);
    expect(await taken.json()).toEqual({ taken: [{ id: "m1" }] });
    expect(door.rows()).toBe(before + 1);
  });

  test("A01 an account has a hook only with a secret: without one the config is refused by its path", async () => {
    const channels = (account: object) => ({ webhook: { accounts: { kitchen: account } } });
    const parse = (account: object) =>
      parseConfig({ channels: channels(account) }, createRegistry());
    expect(() => parse({ hook: {} })).toThrow("channels.webhook.accounts.kitchen.hook.secret");
    expect(() => parse({ hook: { secret: "short" } })).toThrow("hook.secret");
    expect(() => parse({ hook: { secret: "" } })).toThrow("hook.secret");
    expect(parse({ hook: { secret: hookSecret } })).toBeTruthy();
    const telegram = (webhook: object) =>
      parseConfig(
        { channels: { telegram: { accounts: { a: { botToken: "1:a", webhook } } } } },
        createRegistry(),
      );
    const url = "https://bot.example.com/hooks/telegram/a";
    expect(() => telegram({ url })).toThrow("webhook.secret");
    expect(() => telegram({ url, secret: "with blanks and so on" })).toThrow("webhook.secret");
    expect(telegram({ url, secret: "A-secret_of_sixteen" })).toBeTruthy();
  });

  test("A01 an account without a hook, or none at all, is not found, signed or not", async () => {
    const door = await openHookDaemon();
    const body = messageBody("m1");
    for (const path of [
      "/hooks/webhook/closed",
      "/hooks/webhook/nobody",
      "/hooks/terminal/default",
    ])
      expect((await door.post(path, body, signed(body))).status).toBe(404);
    expect((await door.post(kitchen, body, signed(body))).status).toBe(200);
  });

  test("A01 who is refused is logged once, without what was sent", async () => {
    const door = await openHookDaemon();
    for (let n = 0; n < 20; n += 1) await door.post(kitchen, "canary-of-a-stranger");
    const refusals = door.log.filter((line) => line.includes("hook.refused"));
    expect(refusals).toHaveLength(1);
    expect(refusals[0]).toContain("earshot-signature is missing");
    expect(refusals[0]).toContain('"from":"127.0.0.1"');
    expect(door.log.join("")).not.toContain("canary-of-a-stranger");
  });
});

describe("A02 a wrong signature", () => {
  test("A02 is refused: another key, other bytes, another account, the body written anew", async () => {
    const door = await openHookDaemon();
    const body = `{"chat": {"id": "room", "kind": "group"},\n "id": "m1", "author": {"id": "ann"}}`;
    const before = door.rows();
    const fresh = JSON.stringify(JSON.parse(body));
    const flipped = signed(body)["earshot-signature"]?.replace(/.$/, (c) =>
      c === "0" ? "1" : "0",
    );
    for (const [sent, headers] of [
      [body, signed(body, { secret: "not-the-secret-of-the-kitchen" })],
      [body, signed(body, { secret: otherSecret })],
      [body, signed(`${body} `)],
      [`${body}\n`, signed(body)],
      [fresh, signed(body)],
      [body, signed(fresh)],
      ["", signed(body)],
      [body, { ...signed(body), "earshot-signature": flipped as string }],
      [body, { ...signed(body), "earshot-timestamp": nowSeconds(-1) }],
      // The bearer of a signature of nothing has signed nothing.
      [body, signed("")],
    ] as const)
      expect((await door.post(kitchen, sent, headers)).status).toBe(401);
    expect(door.rows()).toBe(before);
    expect((await door.post(kitchen, body, signed(body))).status).toBe(200);
    expect(door.rows()).toBe(before + 1);
  });

  test("A02 a body that carries its digest is known before it is read, and must then fit it", async () => {
    const door = await openHookDaemon();
    const large = messageBody("big", "", { extra: "x".repeat(200_000) });
    const timestamp = nowSeconds();
    const digest = createHash("sha256").update(large).digest("hex");
    const over = (text: string) =>
      createHmac("sha256", hookSecret).update(`${timestamp}.${text}`).digest("hex");
    const headers = (mac: string) => ({
      "earshot-timestamp": timestamp,
      "earshot-digest": `sha256=${digest}`,
      "earshot-signature": `sha256=${mac}`,
    });
    // As a body of its own the same text is another signature.
    expect((await door.post(kitchen, large, headers(over(digest)))).status).toBe(401);
    const fits = headers(over(`digest:${digest}`));
    expect((await door.post(kitchen, `${large} `, fits)).status).toBe(401);
    const taken = await door.post(kitchen, large, fits);
    expect(taken.status).toBe(200);
    expect(await taken.json()).toEqual({ taken: [{ id: "big" }] });
  });

  test("A02 bytes that are no UTF-8 are refused after they were verified, not mended", async () => {
    const door = await openHookDaemon();
    const bytes = Buffer.from(messageBody("mX")).map((byte) => (byte === 88 ? 0xff : byte));
    expect((await door.post(kitchen, bytes)).status).toBe(401);
    const answer = await door.post(kitchen, bytes, signed(bytes));
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { code: "EAR_INBOUND_INVALID" } });
  });
});

describe("A03 time", () => {
  test("A03 a signature that is old or early is refused; one inside the window is taken", async () => {
    const door = await openHookDaemon();
    const post = (id: string, offset: number) => {
      const body = messageBody(id);
      const timestamp = nowSeconds(offset);
      return door.post(kitchen, body, signed(body, { timestamp }));
    };
    expect((await post("old", -600)).status).toBe(401);
    expect((await post("early", 600)).status).toBe(401);
    expect((await post("forever", 9_999_999_999)).status).toBe(401);
    const before = door.rows();
    expect((await post("late", -250)).status).toBe(200);
    expect((await post("soon", 250)).status).toBe(200);
    expect(door.rows()).toBe(before + 2);
  });

  test("A03 the same request twice is answered twice and applied once, at the same time as well", async () => {
    const door = await openHookDaemon();
    const body = messageBody("m1");
    const headers = signed(body);
    const before = door.rows();
    const first = await Promise.all([1, 2, 3].map(() => door.post(kitchen, body, headers)));
    const again = await door.post(kitchen, body, headers);
    for (const answer of [...first, again]) {
      expect(answer.status).toBe(200);
      expect(await answer.json()).toEqual({ taken: [{ id: "m1" }] });
    }
    expect(door.rows()).toBe(before + 1);
    // The message's own id protects against that: signed again it is still the same message.
    const fresh = signed(body, { timestamp: nowSeconds(-3) });
    expect((await door.post(kitchen, body, fresh)).status).toBe(200);
    expect(door.rows()).toBe(before + 1);
    const other = messageBody("m2");
    expect((await door.post(kitchen, other, signed(other))).status).toBe(200);
    expect(door.rows()).toBe(before + 2);
  });
});

describe("A03 after a restart", () => {
  test("A03 a request that was taken before it is answered, and is not taken again", async () => {
    const stateDir = newFolder();
    const config = { store: { driver: "sqlite" } };
    const body = messageBody("m1");
    const headers = signed(body);
    const first = await openHookDaemon(config, { stateDir });
    expect((await first.post(kitchen, body, headers)).status).toBe(200);
    await first.daemon.stop();
    const second = await openHookDaemon(config, { stateDir });
    const before = second.rows();
    expect((await second.post(kitchen, body, headers)).status).toBe(200);
    expect(second.rows()).toBe(before);
    const other = messageBody("m2");
    expect((await second.post(kitchen, other, signed(other))).status).toBe(200);
    expect(second.rows()).toBe(before + 1);
  });
});

describe("A04 an id that a stranger names", () => {
  test("A04 is not used up: the real message with it is taken", async () => {
    const door = await openHookDaemon();
    const stolen = messageBody("real-1", "from a stranger");
    const before = door.rows();
    for (const headers of [{}, signed(stolen, { secret: "a-guess-of-many-letters" })])
      expect((await door.post(kitchen, stolen, headers)).status).toBe(401);
    // Nor does a signature of the same time and a body that was never taken.
    const real = messageBody("real-1", "from the platform");
    expect((await door.post(kitchen, `${real} `, signed(real))).status).toBe(401);
    const taken = await door.post(kitchen, real, signed(real));
    expect(taken.status).toBe(200);
    expect(door.rows()).toBe(before + 1);
    const why = await door.api("/api/why/real-1");
    expect(why.status).toBe(200);
  });

  test("A04 a post that failed does not use up its id either", async () => {
    const door = await openHookDaemon();
    const body = messageBody("m1");
    const headers = signed(body);
    const wrong = signed("[]");
    expect((await door.post(kitchen, "[]", wrong)).status).toBe(400);
    expect((await door.post(kitchen, body, headers)).status).toBe(200);
  });
});

describe("who is heard", () => {
  const decisionsOf = async ({ api }: HookDaemon, id: string) => {
    const { why } = (await (await api(`/api/why/${id}`)).json()) as {
      why: { recorded: { decision: string } | null }[];
    };
    return why.map(({ recorded }) => recorded?.decision);
  };

  test("a hook's secret makes nobody an operator: strangers are denied, listed people are heard", async () => {
    const door = await openHookDaemon();
    const direct = { chat: { id: "d", kind: "direct" } };
    for (const [id, author] of [
      ["stranger", "mallory"],
      ["known", "ann"],
    ] as const) {
      const body = messageBody(id, "hello", { ...direct, author: { id: author } });
      expect((await door.post(kitchen, body, signed(body))).status).toBe(200);
    }
    await door.daemon.runtime.settled();
    expect(await decisionsOf(door, "stranger")).toEqual(["denied"]);
    expect(await decisionsOf(door, "known")).toEqual(["engage"]);
  });

  test("a body cannot name another channel, another account or a friend of the house", async () => {
    const door = await openHookDaemon();
    for (const over of [{ channel: "telegram" }, { account: "cellar" }]) {
      const body = messageBody("m1", "x", over);
      expect((await door.post(kitchen, body, signed(body))).status).toBe(400);
    }
    const direct = { chat: { id: "d", kind: "direct" }, author: { id: "mallory" } };
    const body = messageBody("m2", "x", { ...direct, outside: false, session: "agent:main:main" });
    expect((await door.post(kitchen, body, signed(body))).status).toBe(200);
    expect(await decisionsOf(door, "m2")).toEqual(["denied"]);
  });
});
