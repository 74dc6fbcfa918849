/**
 * Accounts of which several nodes know, and whose connection may exist once only: a node connects while it has the
 * lease, and neither sends nor delivers without it.
 */
import { describe, expect, test } from "vitest";
import type { SimulatedClock } from "../../../src/actors/simulation/simulated-clock.ts";
import { platformChannels } from "../../../src/adapters/channels/index.ts";
import { limits } from "../../../src/domain/limits.ts";
import type { ChannelContext } from "../../../src/domain/ports/index.ts";
import { rig, room } from "../../support/restate/leased-account.ts";

const settle = () => new Promise((resolve) => setImmediate(resolve));

async function pass(clock: SimulatedClock, ms: number): Promise<void> {
  clock.advanceTo(clock.now() + ms);
  await settle();
}

/** Has had the lease, and was refused by the platform. */
async function refusedAccount(): Promise<ReturnType<typeof rig>> {
  const account = rig(true);
  await settle();
  account.hold(4);
  await settle();
  account.contexts[0]?.reportState("halted", "Cannot log in: token refused");
  await settle();
  return account;
}

describe("an account whose connection may exist once only", () => {
  test("connects while this node has its lease; one that is posted to connects on every node", async () => {
    const { connections, happened, hold, listener, status, wanted } = rig();
    await settle();
    expect(wanted()).toEqual(["socket:default"]);
    expect(happened).toEqual(["posted starts as 2"]);
    expect(status()).toMatchObject({ state: "elsewhere", detail: "no node has it yet" });
    listener().onHolder({ node: "there", epoch: 3, since: 4 }, "");
    expect(status()).toMatchObject({
      state: "elsewhere",
      detail: "there has it",
      holder: { node: "there", epoch: 3, since: 4 },
    });
    hold(4);
    await settle();
    expect(status()).toMatchObject({
      state: "live",
      detail: null,
      holder: { node: "here", epoch: 4 },
    });
    expect(connections.directory.ready("socket", "default")).toBe(true);
    listener().onLost("Restate does not answer");
    await settle();
    expect(status()).toMatchObject({
      state: "elsewhere",
      detail: "Restate does not answer",
      holder: null,
    });
    expect(happened.slice(1)).toEqual(["socket starts as 1", "socket ends"]);
  });

  test("that gets its lease back while it still ends begins after that, as a new one", async () => {
    const { endsLate, happened, hold, listener, status } = rig();
    hold(1);
    await settle();
    endsLate(true);
    listener().onLost("late");
    hold(1);
    await settle();
    expect(happened.at(-1)).toBe("socket starts as 1");
    endsLate(false);
    await settle();
    expect(happened.slice(-2)).toEqual(["socket ends", "socket starts as 3"]);
    expect(status()?.state).toBe("live");
  });

  test("sends nothing and delivers nothing once its lease is not valid, also if it knows of nothing yet", async () => {
    const { connections, contexts, happened, hold, ingested, lease, send } = rig();
    const [context] = contexts as [ChannelContext<unknown>];
    await expect(send()).rejects.toMatchObject({ code: "EAR_LEASE_LOST" });
    // A hook delivers on any node.
    await context.deliver([]);
    hold(1);
    await settle();
    expect(await send()).toEqual({ messageIds: ["1"] });
    await context.deliver([]);
    expect(ingested.length).toBe(2);
    lease.isValid = false;
    expect(connections.directory.ready("socket", "default")).toBe(false);
    await expect(send()).rejects.toMatchObject({ code: "EAR_LEASE_LOST" });
    await expect(context.deliver([])).rejects.toMatchObject({ code: "EAR_LEASE_LOST" });
    expect(happened.filter((what) => what === "sent").length).toBe(1);
    expect(ingested.length).toBe(2);
  });

  test("ends before its lease is given back, and does not begin again", async () => {
    const { connections, happened, hold } = rig();
    hold(1);
    await settle();
    const stopped = connections.stop();
    hold(2);
    await stopped;
    const ofSocket = happened.filter((what) => !what.startsWith("posted"));
    expect(ofSocket.slice(-2)).toEqual(["socket ends", "given back"]);
    expect(happened.filter((what) => what.startsWith("socket starts")).length).toBe(1);
  });
});

test("accounts that a platform posts to connect on every node, the others on one", () => {
  const once = (id: string, config: object) =>
    platformChannels.find((one) => one.id === id)?.connectsOnce?.(config) ?? true;
  expect(once("telegram", {})).toBe(true);
  expect(once("telegram", { webhook: { url: "https://example.org" } })).toBe(false);
  expect(once("slack", { appToken: "xapp-1", signingSecret: "s" })).toBe(true);
  expect(once("slack", { signingSecret: "s" })).toBe(false);
  expect(once("whatsapp", {})).toBe(false);
  for (const id of ["discord", "irc", "xmpp", "matrix", "signal", "whatsapp-linked", "imessage"])
    expect(once(id, {})).toBe(true);
});

describe("an account that another node is connected with", () => {
  const there = { node: "there", epoch: 3, since: 4 };

  test("is ready once that node is, and its calls are carried; what is asked for elsewhere is, too", async () => {
    const { connections, happened, listener, status, send } = rig(true);
    await settle();
    const { directory } = connections;
    listener().onHolder(there, null);
    expect(status()?.detail).toBe("there has it, and is not connected");
    expect(directory.ready("socket", "default")).toBe(false);
    listener().onHolder(there, "our-bot");
    expect(directory.ready("socket", "default")).toBe(true);
    expect(await send()).toEqual({ messageIds: ["2"] });
    directory.refreshMembership({ channel: "socket", account: "default", ...room });
    expect(happened.slice(1)).toEqual(["carried for default", "members of tea there"]);
    expect(directory.isOurs?.("socket", "our-bot")).toBe(true);
    expect(directory.isOurs?.("socket", "ann")).toBe(false);
    const signal = AbortSignal.timeout(1_000);
    const file = await connections.download("socket", "default", "f1", signal);
    expect(await new Response(file).text()).toBe("the file f1");
  });

  test("this one serves while it is connected, and says who it is", async () => {
    const { contexts, happened, hold, listener, said, connections } = rig(true);
    await settle();
    hold(4);
    await settle();
    expect(happened.slice(1)).toEqual(["socket starts as 1", "serves 4"]);
    expect(said.at(-1)).toBe("");
    expect(connections.directory.carrier?.("socket", "default")?.newAttempt()).toBe("attempt");
    contexts[0]?.reportState("backing-off");
    await settle();
    expect(happened.at(-1)).toBe("stops to serve 4");
    expect(said.at(-1)).toBeNull();
    contexts[0]?.reportState("live");
    await settle();
    expect(happened.at(-1)).toBe("serves 4");
    listener().onLost("Restate does not answer");
    await settle();
    expect(happened).toContain("stops to serve 4");
    expect(connections.directory.ready("socket", "default")).toBe(false);
  });

  test("serves again only when the calls of the time before have ended", async () => {
    const { contexts, happened, hold, busy } = rig(true);
    await settle();
    let end: () => void = () => undefined;
    busy(new Promise((resolve) => (end = resolve)));
    hold(4);
    await settle();
    contexts[0]?.reportState("backing-off");
    contexts[0]?.reportState("live");
    await settle();
    expect(happened.filter((what) => what === "serves 4")).toHaveLength(1);
    busy(null);
    end();
    await settle();
    expect(happened.filter((what) => what === "serves 4")).toHaveLength(2);
  });

  test("a node that is halted gives its lease back, so that another one may try, and says why it was", async () => {
    const { connections, contexts, happened, listener, send, status } = await refusedAccount();
    expect(happened.slice(-3)).toEqual(["stops to serve 4", "socket ends", "given back"]);
    const halted = { state: "halted", detail: "Cannot log in: token refused" };
    expect(status()).toMatchObject({ ...halted, holder: null });
    await expect(contexts[0]?.deliver([])).rejects.toMatchObject({ code: "EAR_LEASE_LOST" });
    // It tries, and may be refused as well.
    listener().onHolder(there, null);
    expect(status()).toMatchObject({ ...halted, holder: there });
    listener().onHolder(there, "");
    expect(status()).toMatchObject({
      state: "elsewhere",
      detail: "there has it; this node was halted: Cannot log in: token refused",
    });
    expect(connections.directory.ready("socket", "default")).toBe(true);
    expect(await send()).toEqual({ messageIds: ["2"] });
    listener().onHolder(null, null);
    expect(status()).toMatchObject({ ...halted, holder: null });
    expect(connections.directory.ready("socket", "default")).toBe(false);
  });

  test("a halted node wants its lease again when somebody retries, and connects once it has it", async () => {
    const { connections, happened, hold, status } = await refusedAccount();
    const before = happened.length;
    expect(await connections.retry("socket", "default")).toBe(true);
    await settle();
    expect(status()).toMatchObject({ state: "elsewhere", detail: "no node has it yet" });
    expect(happened.slice(before)).toEqual([]);
    hold(5);
    await settle();
    expect(status()).toMatchObject({ state: "live", holder: { epoch: 5 } });
    expect(happened.slice(before)).toEqual(["socket starts as 3", "serves 5"]);
  });

  test("a halted node waits for its turn again once another one has been connected for a minute", async () => {
    const { clock, contexts, happened, hold, listener, status } = await refusedAccount();
    const given = listener();
    // Refused as well: nobody knows whether the account works at all.
    given.onHolder(there, null);
    await pass(clock, 600_000);
    expect(listener()).toBe(given);
    given.onHolder(there, "");
    await pass(clock, 59_999);
    given.onHolder(there, null);
    given.onHolder(there, "");
    await pass(clock, 59_999);
    expect(listener()).toBe(given);
    await pass(clock, 1);
    expect(listener()).not.toBe(given);
    listener().onHolder(there, "");
    expect(status()).toMatchObject({
      state: "elsewhere",
      detail: "there has it; this node was halted: Cannot log in: token refused",
    });
    const before = happened.length;
    hold(5);
    await settle();
    expect(status()).toMatchObject({ state: "live", detail: null });
    expect(happened.slice(before)).toEqual(["socket starts as 3", "serves 5"]);
    // Refused again: it gives it back again.
    contexts.at(-1)?.reportState("halted", "Cannot log in: token refused");
    await settle();
    expect(happened.at(-1)).toBe("given back");
    expect(status()).toMatchObject({ state: "halted", holder: null });
  });

  test("a node that cannot connect passes its lease on after some failures, and takes another turn", async () => {
    const { clock, contexts, happened, hold, listener, status } = rig(true);
    await settle();
    hold(4);
    await settle();
    const given = listener();
    // The second is of the other account.
    const own = () => (contexts.length > 2 ? contexts.at(-1) : contexts[0]);
    const fail = async (times: number) => {
      for (let time = 0; time < times; time += 1) {
        own()?.reportState("backing-off", "no route to host");
        own()?.reportState("connecting");
      }
      await settle();
    };
    // Once it is connected, failures count from zero again.
    await fail(limits.leaseFailuresMax - 1);
    own()?.reportState("live");
    await fail(limits.leaseFailuresMax - 1);
    expect(happened).not.toContain("given back");
    await fail(1);
    expect(happened.at(-1)).toBe("given back");
    expect(status()).toMatchObject({ state: "elsewhere", holder: null });
    given.onHolder(there, null);
    expect(status()?.detail).toBe(
      "there has it, and is not connected; this node could not connect: no route to host",
    );
    await pass(clock, limits.leasePassedOnMs);
    expect(listener()).not.toBe(given);
    // Its failures of the last time do not count.
    hold(5);
    await settle();
    expect(status()).toMatchObject({ state: "live", detail: null });
    await fail(limits.leaseFailuresMax - 1);
    expect(happened.filter((what) => what === "given back")).toHaveLength(1);
    await fail(1);
    expect(happened.filter((what) => what === "given back")).toHaveLength(2);
  });

  test("a node that stops waits for no turn", async () => {
    const { clock, connections, listener } = await refusedAccount();
    const given = listener();
    given.onHolder(there, "");
    await connections.handOver();
    await pass(clock, 60_000);
    expect(listener()).toBe(given);
  });

  test("a node that hands over still takes what the platform said until its connection has ended, and nothing afterwards", async () => {
    const { connections, contexts, endsLate, happened, hold, ingested } = rig(true);
    await settle();
    hold(4);
    await settle();
    endsLate(true);
    const handedOver = connections.handOver();
    await settle();
    await contexts[0]?.deliver([]);
    expect(ingested).toHaveLength(1);
    endsLate(false);
    await handedOver;
    expect(happened.at(-1)).toBe("given back");
    await expect(contexts[0]?.deliver([])).rejects.toMatchObject({ code: "EAR_LEASE_LOST" });
    expect(ingested).toHaveLength(1);
  });

  test("a node that hands over ends its calls first, and sends through the next one", async () => {
    const { connections, happened, hold, listener, send, status } = rig(true);
    await settle();
    hold(4);
    await settle();
    await connections.handOver();
    expect(happened.slice(-3)).toEqual(["stops to serve 4", "socket ends", "given back"]);
    expect(status()).toMatchObject({ state: "elsewhere" });
    listener().onHolder(there, "");
    expect(connections.directory.ready("socket", "default")).toBe(true);
    expect(await send()).toEqual({ messageIds: ["2"] });
  });
});
