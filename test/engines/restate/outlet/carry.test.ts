/**
 * Calls that are carried over a real Restate, to holders of an account that come, go, stand still and break.
 */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createSystemClock } from "../../../../src/adapters/system/clock.ts";
import { EarshotError } from "../../../../src/domain/errors.ts";
import type { Route } from "../../../../src/domain/message.ts";
import type {
  ChannelOutbound,
  MediaRequest,
  SendReceipt,
  SendRequest,
} from "../../../../src/domain/ports/index.ts";
import { ingressCaller } from "../../../../src/engines/restate/calls/ingress-call.ts";
import type { RestateNode } from "../../../../src/engines/restate/node.ts";
import { createOutlets } from "../../../../src/engines/restate/outlet/outlets.ts";
import { registerNodes } from "../../../../src/engines/restate/registration.ts";
import { setLimits } from "../../../support/restate/limits.ts";
import { openTestNode } from "../../../support/restate/node.ts";
import { haveRestate, type RestateServer, startRestate } from "../../../support/restate/server.ts";
import { rounds } from "../../../support/rounds.ts";

const route = (account: string): Route => ({
  channel: "irc",
  account,
  chat: { id: "#tea", kind: "group" },
  thread: null,
});
const whole: ChannelOutbound = {
  sendText: async () => ({ messageIds: [] }),
  replyText: async () => ({ messageIds: [] }),
  sendMedia: async () => ({ messageIds: [] }),
  sendChoices: async () => ({ messageIds: [] }),
  editText: async () => undefined,
  sendTyping: async () => undefined,
  addReaction: async () => undefined,
  removeReaction: async () => undefined,
};

describe.skipIf(!haveRestate)("calls that another node makes", () => {
  let restate: RestateServer;
  let node: RestateNode;
  let count = 0;

  beforeAll(async () => {
    restate = await startRestate();
    node = await openTestNode();
    await registerNodes(restate.admin, `http://127.0.0.1:${node.port}`);
  });
  afterAll(async () => {
    await node?.close();
    await restate?.stop();
  });

  /** An account of its own, whose calls a node asks for and holders make. */
  function rig() {
    count += 1;
    const account = `bot${count}`;
    const ports = {
      clock: createSystemClock(),
      log: () => undefined,
      call: ingressCaller(restate.ingress),
    };
    const asking = createOutlets({ ...ports, boot: `asks-${count}` });
    const happened: string[] = [];
    const other = createOutlets({ ...ports, boot: `asks-again-${count}` });
    const outbound = asking.outbound("irc", account, whole);
    /** A node that has the connection. Its calls end as `make` says. */
    function hold(
      epoch: number,
      make: (text: string) => Promise<SendReceipt> = async (text) => ({ messageIds: [text] }),
    ) {
      const lease = { holder: { node: `node-${epoch}`, epoch, since: 0 }, isValid: () => isValid };
      let isValid = true;
      const note = (what: string) => void happened.push(`${epoch} ${what}`);
      const made = async ({ text }: { text: string }) => {
        note(text);
        return make(text);
      };
      const served = createOutlets({ ...ports, boot: `holds-${count}-${epoch}` }).serve({
        channel: "irc",
        account,
        lease,
        typingIntervalMs: 1_000,
        refreshMembers: () => note("members"),
        outbound: {
          sendText: made,
          replyText: ({ text, replyTo }) => made({ text: `${text} to ${replyTo}` }),
          sendMedia: ({ name, caption = "", data }: MediaRequest) =>
            made({ text: `${name} ${caption} ${data.length}` }),
          sendChoices: ({ choices }) => made({ text: choices.options.join("|") }),
          editText: async ({ messageId, text }) => note(`${messageId} is ${text}`),
          sendTyping: async (_route, on) => note(on ? "types" : "types no more"),
          addReaction: async (_route, id, emoji) => note(`+${emoji} ${id}`),
          removeReaction: async (_route, id, emoji) => note(`-${emoji} ${id}`),
        },
      });
      onTestFinished(() => served.stop());
      return {
        ...served,
        lose: () => {
          isValid = false;
        },
      };
    }
    const request = (text: string, more: Partial<SendRequest> = {}): SendRequest => ({
      route: route(account),
      text,
      id: text,
      signal: AbortSignal.timeout(30_000),
      ...more,
    });
    return {
      account,
      asking,
      outbound,
      again: other.outbound("irc", account, whole),
      happened,
      hold,
      request,
      route: route(account),
    };
  }
  const codeOf = (sent: Promise<unknown>) =>
    sent.then(
      () => "sent",
      (error: unknown) => (error instanceof EarshotError ? error.code : String(error)),
    );

  test("each is made as it was asked for, and answered with what the platform said", async () => {
    const { outbound, hold, request, happened, route: place } = rig();
    hold(1);
    const signal = AbortSignal.timeout(30_000);
    const from = performance.now();
    expect(await outbound.sendText(request("hello"))).toEqual({ messageIds: ["hello"] });
    console.log(`a carried send takes ${Math.round(performance.now() - from)} ms`);
    const reply = { ...request("yes"), replyTo: "m1", quote: false };
    expect(await outbound.replyText(reply)).toEqual({ messageIds: ["yes to m1"] });
    const choices = { text: "tea?", options: ["yes", "no"] };
    await outbound.sendChoices?.({ ...request("tea?"), choices });
    await outbound.editText?.({ ...request("hello!"), messageId: "hello" });
    await outbound.addReaction?.(place, "m1", "👀", signal);
    await outbound.removeReaction?.(place, "m1", "👀", signal);
    expect(happened).toEqual([
      "1 hello",
      "1 yes to m1",
      "1 yes|no",
      "1 hello is hello!",
      "1 +👀 m1",
      "1 -👀 m1",
    ]);
  });

  test("a file of many parts, in the full rounds of 20 MB, arrives whole", async () => {
    const { outbound, hold, request, happened } = rig();
    hold(1);
    const data = new Uint8Array(rounds(2_097_152, 20_971_520)).fill(7);
    const { text: _, ...rest } = request("file");
    await outbound.sendMedia?.({ ...rest, mime: "image/png", name: "a.png", caption: "b", data });
    expect(happened).toEqual([`1 a.png b ${data.length}`]);
  });

  test("a failure keeps what it means: refused, later, in doubt", async () => {
    const { outbound, hold, request } = rig();
    const failures = new Map<string, Error>([
      ["refused", new EarshotError("EAR_CHANNEL_REJECTED", "blocked")],
      ["later", new EarshotError("EAR_CHANNEL_RATE", "slowly", { retryAfterMs: 1_234 })],
      ["odd", new Error("socket closed")],
    ]);
    hold(1, async (text) => Promise.reject(failures.get(text)));
    expect(await codeOf(outbound.sendText(request("refused")))).toBe("EAR_CHANNEL_REJECTED");
    expect(await codeOf(outbound.sendText(request("odd")))).toBe("EAR_SEND_IN_DOUBT");
    await expect(outbound.sendText(request("later"))).rejects.toMatchObject({
      code: "EAR_CHANNEL_RATE",
      retryAfterMs: 1_234,
    });
  });

  test("a caller that ended and another one that asks for the same attempt: it is made once", async () => {
    const { outbound, again, hold, request, happened } = rig();
    let end: (receipt: SendReceipt) => void = () => undefined;
    hold(1, () => new Promise((resolve) => (end = resolve)));
    const stop = new AbortController();
    const attempt = outbound.newAttempt();
    const first = codeOf(outbound.sendText(request("once", { attempt, signal: stop.signal })));
    await expect.poll(() => happened).toEqual(["1 once"]);
    stop.abort(new Error("it ends"));
    expect(await first).toBe("Error: it ends");
    const second = again.sendText(request("once", { attempt }));
    end({ messageIds: ["p1"] });
    expect(await second).toEqual({ messageIds: ["p1"] });
    expect(await again.sendText(request("once", { attempt }))).toEqual({ messageIds: ["p1"] });
    expect(happened).toEqual(["1 once"]);
  });

  test("a holder that loses its lease: what it has begun is in doubt, what waits goes to the next", async () => {
    const { outbound, hold, request, happened } = rig();
    let end: (receipt: SendReceipt) => void = () => undefined;
    const first = hold(1, () => new Promise((resolve) => (end = resolve)));
    const begun = codeOf(outbound.sendText(request("begun")));
    await expect.poll(() => happened).toEqual(["1 begun"]);
    first.lose();
    const waits = outbound.sendText(request("waits"));
    hold(2);
    expect(await begun).toBe("EAR_SEND_IN_DOUBT");
    expect(await waits).toEqual({ messageIds: ["waits"] });
    end({ messageIds: ["late"] });
    expect(happened).toEqual(["1 begun", "2 waits"]);
  });

  test("a holder that was paused makes nothing any more, and what it says comes too late", async () => {
    const { outbound, hold, request, happened } = rig();
    let end: (receipt: SendReceipt) => void = () => undefined;
    const paused = hold(1, () => new Promise((resolve) => (end = resolve)));
    const begun = codeOf(outbound.sendText(request("begun")));
    await expect.poll(() => happened).toEqual(["1 begun"]);
    hold(2);
    expect(await begun).toBe("EAR_SEND_IN_DOUBT");
    // It still believes in its lease.
    end({ messageIds: ["late"] });
    expect(await outbound.sendText(request("next"))).toEqual({ messageIds: ["next"] });
    await paused.stop();
    expect(happened).toEqual(["1 begun", "2 next"]);
  });

  test("a holder that stops in order ends what it has begun, and the next goes on", async () => {
    const { outbound, hold, request, happened } = rig();
    let end: (receipt: SendReceipt) => void = () => undefined;
    const first = hold(1, () => new Promise((resolve) => (end = resolve)));
    const begun = outbound.sendText(request("begun"));
    await expect.poll(() => happened).toEqual(["1 begun"]);
    const stopped = first.stop();
    end({ messageIds: ["p1"] });
    await stopped;
    expect(await begun).toEqual({ messageIds: ["p1"] });
    const next = outbound.sendText(request("next"));
    hold(2);
    await next;
    expect(happened).toEqual(["1 begun", "2 next"]);
  });

  test("what is too old is not made, and what no node takes is withdrawn", async () => {
    const { outbound, hold, request, happened } = rig();
    // In the full rounds it is waited for as it is.
    const reset = rounds(0, 1) === 0 ? setLimits({ outletWaitMs: 1_000 }) : () => undefined;
    onTestFinished(reset);
    expect(await codeOf(outbound.sendText(request("alone")))).toBe("EAR_CHANNEL_UNAVAILABLE");
    reset();
    hold(1);
    const old = request("old", { attempt: outbound.newAttempt(), expiresAt: Date.now() - 1 });
    expect(await codeOf(outbound.sendText(old))).toBe("EAR_CHANNEL_UNAVAILABLE");
    expect(happened).toEqual([]);
  });

  test("an account makes so many calls at a time, and none while the platform wants none", async () => {
    const { outbound, hold, request, happened } = rig();
    let under = 0;
    let most = 0;
    /** When each was made. */
    const madeAt = new Map<string, number>();
    const at = (text: string) => madeAt.get(text) ?? Number.NaN;
    hold(1, async (text) => {
      madeAt.set(text, performance.now());
      if (text === "slowly")
        throw new EarshotError("EAR_CHANNEL_RATE", "slowly", { retryAfterMs: 1_500 });
      under += 1;
      most = Math.max(most, under);
      await new Promise((resolve) => setTimeout(resolve, 20));
      under -= 1;
      return { messageIds: [text] };
    });
    const many = Array.from({ length: 30 }, (_, place) => outbound.sendText(request(`${place}`)));
    await Promise.all(many);
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(8);
    await codeOf(outbound.sendText(request("slowly")));
    await outbound.sendText(request("after"));
    expect(at("after") - at("slowly")).toBeGreaterThan(1_490);
    expect(happened.length).toBe(32);
  });

  test("typing is said once for as long as it lasts, and members are read where the connection is", async () => {
    const { outbound, asking, hold, happened, route: place } = rig();
    const { signal } = new AbortController();
    hold(1);
    // What the holder gets while it does not wait for it is lost.
    const until = (what: string, ask: () => unknown) =>
      expect
        .poll(async () => {
          await ask();
          await new Promise((resolve) => setTimeout(resolve, 50));
          return happened;
        })
        .toContain(what);
    await until("1 members", () => asking.refreshMembers(place));
    for (let times = 0; times < 20; times += 1) await outbound.sendTyping?.(place, true, signal);
    await until("1 types", () => outbound.sendTyping?.(place, true, signal));
    await until("1 types no more", () => outbound.sendTyping?.(place, false, signal));
    expect(happened.filter((what) => what === "1 types").length).toBeLessThan(20);
  });
});
