/**
 * Webhook accounts in a whole daemon: what a program posts beside messages reaches the conversation,
 * and what it asked to be posted reaches it, signed.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { hookSecret, kitchen, openHookDaemon, signed } from "../support/daemon/hook-daemon.ts";

const chat = { id: "room", kind: "group" };
const message = (id: string, text: string, also: object = {}) => ({
  chat,
  id,
  author: { id: "ann" },
  text,
  ...also,
});
const outSecret = "a-receiver-secret-of-letters";
const scripted = {
  agents: {
    list: [{ id: "main", driver: { kind: "scripted", runs: [{ steps: [{ text: "ok" }] }] } }],
  },
};

interface Receiver {
  readonly url: string;
  readonly got: Record<string, unknown>[];
}

async function receiver(): Promise<Receiver> {
  const got: Record<string, unknown>[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (data) => {
      body += String(data);
    });
    request.on("end", () => {
      got.push(JSON.parse(body) as Record<string, unknown>);
      response.end("{}");
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, got };
}

const webhook = (account: object) => ({
  webhook: { groups: { room: {} }, allowFrom: ["ann"], accounts: { kitchen: account } },
});

test.each(["hook", "API"])(
  "edits, deletions, reactions and member counts by the %s reach the room",
  async (way) => {
    const out = await receiver();
    const server = await openHookDaemon({
      ...scripted,
      engagement: { activation: "ladder" },
      channels: webhook({ hook: { secret: hookSecret }, url: out.url, secret: outSecret }),
    });
    const post = async (body: unknown): Promise<string> => {
      const text = JSON.stringify(body);
      const headers = { "content-type": "application/json" };
      const answer =
        way === "hook"
          ? await server.post(kitchen, text, signed(text))
          : await server.api("/api/inbound", { method: "POST", body: text, headers });
      expect(answer.status).toBe(200);
      return answer.text();
    };
    const account = way === "hook" ? {} : { account: "kitchen" };
    // Two people: what is not addressed is only read.
    const members = { ...account, chat: "room", humans: 2 };
    expect(JSON.parse(await post({ membership: members }))).toEqual({ taken: [] });
    await post([message("m1", "lunch at noon", account), message("m2", "pizza?", account)]);
    await post([
      { edit: { ...account, chat: "room", id: "m1", text: "lunch at one" } },
      { delete: { ...account, chat: "room", id: "m2" } },
    ]);
    await post(message("m3", "and you?", { ...account, mentions: [{ id: "us", isSelf: true }] }));
    await expect.poll(() => out.got.some(({ text }) => text === "ok")).toBe(true);
    const answer = out.got.find(({ text }) => text === "ok");
    const author = { id: "ann", name: "Ann" };
    const reaction = { ...account, id: answer?.id, author, added: ["👍"] };
    // The row of the delivery comes after what was delivered.
    const settled = async () => (await server.daemon.runtime.why("m3"))[0]?.fate.outcome;
    await expect.poll(settled).toBe("replied");
    const before = server.rows();
    // Who posts with the token is the operator; who signs posts for people in listed groups.
    await post({ reaction: { ...reaction, chat: "attic" } });
    expect(server.rows() - before).toBe(way === "hook" ? 0 : 1);
    await post({ reaction: { ...reaction, chat: "room" } });
    const [m1] = await server.daemon.runtime.why("m1");
    expect(m1?.recorded).toMatchObject({ decision: "observe" });
    const key = encodeURIComponent(m1?.key ?? "");
    const history = await (await server.api(`/api/rooms/${key}/history`)).json();
    const { entries } = history as { entries: { kind: string; id?: string; text?: string }[] };
    expect(entries).toContainEqual(
      expect.objectContaining({ kind: "edited", id: "m1", text: "lunch at one" }),
    );
    expect(entries).toContainEqual(expect.objectContaining({ kind: "deleted", id: "m2" }));
    expect(entries).toContainEqual(
      expect.objectContaining({ kind: "reacted", id: answer?.id, added: ["👍"] }),
    );
    const [m3] = await server.daemon.runtime.why("m3");
    expect(m3?.membership).toMatchObject({ humans: 2 });
  },
);

test("a request that waits for decisions waits for those of its messages only", async () => {
  const server = await openHookDaemon({ ...scripted, channels: webhook({}) });
  const post = async (body: unknown) => {
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", body: JSON.stringify(body), headers };
    const answer = await server.api("/api/inbound?wait=decision", init);
    return [answer.status, await answer.json()];
  };
  const taken = [{ id: "m1", decision: "observe" }];
  const edit = { chat: "room", id: "m1", text: "lunch at one" };
  expect(await post([message("m1", "lunch at noon"), { edit }])).toMatchObject([200, { taken }]);
  for (const event of [{ edit }, { delete: { chat: "room", id: "m1" } }])
    expect(await post(event)).toEqual([200, { taken: [] }]);
});

test("what is wrong with an edit is named by its place, and nothing of the body is taken", async () => {
  const server = await openHookDaemon({ channels: webhook({ hook: { secret: hookSecret } }) });
  const before = server.rows();
  const wrong: [unknown, string][] = [
    [{ edit: { chat: "room", text: "no id" } }, "edit.id"],
    [[message("m1", "hi"), { delete: { chat: "room", id: 7 } }], "1.delete.id"],
    [{ membership: { chat: "room", humans: -1 } }, "membership.humans"],
    [{ edit: { channel: "telegram", chat: "room", id: "m1", text: "x" } }, "edit.channel"],
    [{ edit: { chat: "room", id: "m1", text: "x" }, delete: {} }, "delete"],
  ];
  for (const [body, place] of wrong) {
    const text = JSON.stringify(body);
    const answer = await server.post(kitchen, text, signed(text));
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain(place);
  }
  expect(server.rows()).toBe(before);
});

test("typing and reactions are posted to an account that asks for them, and to no other", async () => {
  const [asks, quiet] = await Promise.all([receiver(), receiver()]);
  for (const [out, also] of [
    [asks, ["typing", "reactions"]],
    [quiet, undefined],
  ] as const) {
    const server = await openHookDaemon({
      ...scripted,
      messages: { ackReaction: "eyes" },
      typing: { mode: "instant" },
      channels: webhook({
        ...(also && { also }),
        hook: { secret: hookSecret },
        url: out.url,
        secret: outSecret,
      }),
    });
    const text = JSON.stringify(message("m1", "hi", { mentions: [{ id: "us", isSelf: true }] }));
    expect((await server.post(kitchen, text, signed(text))).status).toBe(200);
    await expect.poll(() => out.got.some((body) => body.text === "ok")).toBe(true);
    await server.daemon.stop();
  }
  expect(quiet.got.map((body) => body.text)).toEqual(["ok"]);
  const route = { channel: "webhook", account: "kitchen", chat, thread: null };
  const typing = asks.got.filter((body) => "typing" in body);
  expect(typing.map((body) => body.typing)).toEqual([true, false]);
  expect(typing[0]).toMatchObject({ account: "kitchen", route });
  const reactions = asks.got.flatMap((body) => body.reaction ?? []);
  expect(reactions).toEqual([
    { message: "m1", emoji: "eyes", on: true },
    { message: "m1", emoji: "eyes", on: false },
  ]);
});
