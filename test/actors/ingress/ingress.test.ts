/**
 * The intake: what is accepted, what is a copy, what is refused, and when the platform is
 * acknowledged.
 */
import { expect, test } from "vitest";
import { createRedeliveries } from "../../../src/actors/ingress/redelivery-log.ts";
import { SimulatedClock } from "../../../src/actors/simulation/simulated-clock.ts";
import { inboundSchema } from "../../../src/domain/message.ts";
import type { ChannelEvent } from "../../../src/domain/ports/index.ts";
import { createTestStore } from "../../support/runtime/test-store.ts";
import { World } from "../../support/runtime/world.ts";

const message = (id: string, more: Record<string, unknown> = {}): ChannelEvent => ({
  type: "message",
  message: inboundSchema.parse({
    channel: "telegram",
    chat: { id: "room", kind: "group" },
    id,
    author: { id: "ann", name: "Ann" },
    text: "hello there",
    ...more,
  }),
});
const cursor = (value: string) => ({ cursor: { identity: "42", value } });

/** Whose words the edits change. */
const author = { id: "ann", name: "Ann", isBot: false, isSelf: false };

test("a redelivery is a duplicate: told as one, applied once, also after a restart", async () => {
  const world = await new World().start();
  const deliver = () => world.runtime.ingest("telegram", "default", [message("m1"), message("m2")]);
  await deliver();
  const [copy] = await deliver();
  expect(copy?.receivers[0]?.verdict?.decision).toBe("duplicate");
  await world.pass(10);
  await world.restart();
  await deliver();
  await world.pass(10);
  const reported = world.decisions().map(({ id, decision }) => `${id} ${decision}`);
  expect(reported.filter((line) => line === "m1 observe")).toHaveLength(1);
  expect(reported.filter((line) => line === "m1 duplicate")).toHaveLength(2);
  expect(await world.store.lastSeq()).toBe(2);
});

test("a caller that waits gets the decision of each message, also beside copies", async () => {
  const world = await new World().start();
  const say = (...events: ChannelEvent[]) => {
    const answer = world.runtime.ingest("telegram", "default", events, { wait: "decision" });
    const of = answer.then((outcomes) =>
      outcomes.map(({ id, receivers }) => [id, receivers[0]?.verdict?.decision]),
    );
    return world.pass(10).then(() => of);
  };
  const elsewhere = (id: string) => message(id, { chat: { id: "ann", kind: "direct" } });
  expect(await say(message("m1"), elsewhere("d1"), message("m2"))).toEqual([
    ["m1", "observe"],
    ["d1", "engage"],
    ["m2", "observe"],
  ]);
  // Now only the journal knows them.
  await world.restart();
  expect(await say(elsewhere("d1"), message("m3"), message("m2"), message("m4"))).toEqual([
    ["d1", "duplicate"],
    ["m3", "observe"],
    ["m2", "duplicate"],
    ["m4", "observe"],
  ]);
  expect(await say(message("m1"))).toEqual([["m1", "duplicate"]]);
  await world.runtime.stop();
});

test("redeliveries are logged once a minute for each account", async () => {
  const world = await new World().start();
  const deliver = (account: string) =>
    world.runtime.ingest("telegram", account, [message("m1", { account })]);
  const lines = () => world.logged.filter(({ event }) => event === "message.redelivered").length;
  for (const account of ["default", "other"]) await deliver(account);
  expect(lines()).toBe(0);
  for (let copy = 0; copy < 5; copy += 1) await deliver("default");
  await deliver("other");
  expect(lines()).toBe(2);
  await world.pass(60_000);
  expect(lines()).toBe(3);
  for (let copy = 0; copy < 5; copy += 1) await deliver("default");
  expect(lines()).toBe(3);
  expect(world.runtime.status().ingress.redelivered).toBe(11);
  await world.runtime.stop();
  expect(lines()).toBe(4);
});

test("a burst is logged at the end of its minute, though no copy follows", () => {
  const clock = new SimulatedClock();
  const lines: unknown[] = [];
  const redeliveries = createRedeliveries(clock, (_level, _event, fields) =>
    lines.push([clock.now(), fields?.message, fields?.copies]),
  );
  const copy = (id: string) => ({ id, channel: "telegram", account: "default" });
  for (let n = 0; n < 400; n += 1) redeliveries.count(copy(`m${n}`));
  const begin = clock.now();
  expect(lines).toEqual([[begin, "m0", 1]]);
  clock.advanceTo(begin + 59_999);
  expect(lines).toHaveLength(1);
  clock.advanceTo(begin + 60_000);
  expect(lines.slice(1)).toEqual([[begin + 60_000, "m399", 399]]);
  clock.advanceTo(begin + 200_000);
  expect(lines).toHaveLength(2);
  redeliveries.count(copy("m1"));
  expect(lines.slice(2)).toEqual([[begin + 200_000, "m1", 1]]);
  expect(redeliveries.total()).toBe(401);
});

test("each line says how many copies came since the one before", () => {
  const clock = new SimulatedClock();
  const copies: unknown[] = [];
  const redeliveries = createRedeliveries(clock, (_level, _event, fields) =>
    copies.push(fields?.copies),
  );
  for (let second = 0; second < 150; second += 1) {
    redeliveries.count({ id: "m1", channel: "telegram", account: "default" });
    clock.advanceTo(clock.now() + 1_000);
  }
  redeliveries.stop();
  expect(copies).toEqual([1, 59, 60, 30]);
});

test("a copy that comes while the first is being stored waits for it", async () => {
  const world = await new World().start();
  world.disk.fail({ at: 1 });
  const first = world.runtime.ingest("telegram", "default", [message("m1")]);
  const second = world.runtime.ingest("telegram", "default", [message("m1")]);
  const results = await Promise.allSettled([first, second]);
  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  await world.pass(1_000);
  await world.runtime.ingest("telegram", "default", [message("m1")]);
  expect(await world.store.lastSeq()).toBe(1);
});

test("an old entry is not made younger by its copies", async () => {
  const world = await new World().start();
  await world.runtime.ingest("telegram", "default", [message("m1")]);
  for (let minute = 0; minute < 25; minute += 5) {
    await world.pass(300_000);
    const [copy] = await world.runtime.ingest("telegram", "default", [message("m1")]);
    expect(copy?.receivers[0]?.verdict?.decision).toBe("duplicate");
  }
});

test("the cursor is stored in the commit of the events, and alone when there are none", async () => {
  const world = await new World().start();
  const before = world.disk.commits();
  await world.runtime.ingest("telegram", "default", [message("m1")], cursor("7"));
  expect(await world.store.cursor("telegram", "default", "42")).toBe("7");
  expect(world.disk.commits() - before).toBe(1);
  await world.runtime.ingest("telegram", "default", [], cursor("8"));
  expect(await world.store.cursor("telegram", "default", "42")).toBe("8");
});

test("a store that fails keeps the cursor and the message from being acknowledged", async () => {
  const world = await new World().start();
  await world.runtime.ingest("telegram", "default", [message("m1")], cursor("7"));
  await world.pass(10);
  world.disk.fail({ at: 1, forever: true, code: "EAR_STORE_FULL" });
  const refused = world.runtime.ingest("telegram", "default", [message("m2")], cursor("8"));
  await expect(refused).rejects.toMatchObject({ code: "EAR_STORE_FULL", disposition: "retry" });
  expect(world.runtime.status()).toMatchObject({ ready: false, ingress: { refused: 1 } });
  expect(await world.store.cursor("telegram", "default", "42")).toBe("7");
  world.disk.heal();
  await world.pass(10_000);
  expect(world.runtime.status()).toMatchObject({ ready: true, problem: null });
  await world.runtime.ingest("telegram", "default", [message("m2")], cursor("8"));
  await world.pass(10);
  expect(world.decisions().map(({ id }) => id)).toEqual(["m1", "m2"]);
});

test("our own words are dropped without a decision", async () => {
  const world = await new World().start();
  const own = message("m1", { author: { id: "bot", isSelf: true } });
  expect(await world.runtime.ingest("telegram", "default", [own])).toEqual([]);
  await world.pass(10);
  expect(world.decisions()).toEqual([]);
  expect(await world.store.lastSeq()).toBe(0);
});

test("a stranger is denied once, recorded, and reaches no conversation", async () => {
  const config = { access: { dmPolicy: "allowlist", groupPolicy: "allowlist" } };
  const world = await new World({ config }).start();
  const [outcome] = await world.runtime.ingest("telegram", "default", [message("m1")]);
  expect(outcome?.receivers).toMatchObject([{ key: null, verdict: { decision: "denied" } }]);
  await world.runtime.ingest("telegram", "default", [message("m1")]);
  await world.pass(10);
  expect(world.decisions().map(({ decision }) => decision)).toEqual(["denied", "duplicate"]);
  expect(await world.store.conversations({ limit: 5 })).toEqual([]);
  await world.restart();
  expect(world.decisions()).toHaveLength(2);
  const [why] = await world.runtime.why("m1");
  expect(why).toMatchObject({ recorded: { rule: "group-policy" }, explanation: null });
  expect(why?.admission).toContain("access.groups");
});

test("who asks for the decision gets it, also for a copy", async () => {
  const world = await new World().start();
  const ask = (event: ChannelEvent) =>
    world.runtime.ingest("telegram", "default", [event], { wait: "decision" });
  const [heard] = await ask(message("m1"));
  expect(heard?.receivers[0]?.verdict).toMatchObject({ decision: "observe" });
  const [engaged] = await ask(message("m2", { mentions: [{ id: "bot", isSelf: true }] }));
  expect(engaged?.receivers[0]?.verdict).toMatchObject({ decision: "engage", rule: "mention" });
  const [copy] = await ask(message("m1"));
  expect(copy?.receivers[0]?.verdict?.decision).toBe("duplicate");
});

test("every agent of a broadcast group hears the message and decides for itself", async () => {
  const config = {
    agents: {
      defaults: { driver: { kind: "scripted" } },
      list: [{ id: "main" }, { id: "scout" }],
    },
    broadcast: { "telegram:room": ["main", "scout"] },
  };
  const world = await new World({ config }).start();
  await world.runtime.ingest("telegram", "default", [message("m1", { text: "scout, look" })]);
  await world.pass(10);
  expect(world.decisions().map(({ key }) => key)).toEqual([
    "agent:main:telegram:group:room",
    "agent:scout:telegram:group:room",
  ]);
  expect(world.decisions().map(({ decision }) => decision)).toContain("engage");
});

test("an intake that is full refuses with a word on when to come back", async () => {
  const world = await new World().start();
  const many = Array.from({ length: 10_001 }, (_, index) => message(`m${index}`));
  await expect(world.runtime.ingest("telegram", "default", many)).rejects.toMatchObject({
    code: "EAR_INGRESS_FULL",
    retryAfterMs: 1_000,
  });
  expect(await world.store.lastSeq()).toBe(0);
});

test("an event for another account than the one that delivers it is refused", async () => {
  const world = await new World().start();
  await expect(world.runtime.ingest("telegram", "second", [message("m1")])).rejects.toMatchObject({
    code: "EAR_INBOUND_INVALID",
  });
});

test("edits, deletions, members and history reach the conversation; nothing is decided on them", async () => {
  const world = await new World({ prompts: true }).start();
  const place = { channel: "telegram", account: "default", thread: null } as const;
  const chat = { id: "room", kind: "group" } as const;
  const old = inboundSchema.parse({
    ...place,
    chat,
    id: "h1",
    author: { id: "cy", name: "Cy" },
    text: "from before",
  });
  await world.runtime.ingest("telegram", "default", [
    { type: "history", history: { ...place, chat, messages: [old] } },
    { type: "membership", membership: { ...place, chat, humans: 5, bots: 1, truncated: false } },
    message("m1", { text: "first words" }),
    message("m2", { text: "to be deleted" }),
    { type: "edit", edit: { ...place, chat, id: "m1", text: "better words", author } },
    { type: "delete", deletion: { ...place, chat, id: "m2" } },
    message("m3", { mentions: [{ id: "bot", isSelf: true }], text: "now you" }),
  ]);
  await world.pass(5_000);
  expect(world.decisions().map(({ id }) => id)).toEqual(["m1", "m2", "m3"]);
  const [prompt] = world.events("prompt") as { text: string }[];
  expect(prompt?.text).toContain("from before");
  expect(prompt?.text).toContain("better words");
  expect(prompt?.text).not.toContain("first words");
  expect(prompt?.text).not.toContain("to be deleted");
});

test("an edit or a deletion that is delivered again is taken once, and undoes no later edit", async () => {
  const world = await new World({ prompts: true }).start();
  const place = { channel: "telegram", account: "default", thread: null } as const;
  const chat = { id: "room", kind: "group" } as const;
  const edit = (text: string, editedAt: number, editId?: string) => ({
    type: "edit" as const,
    edit: {
      ...place,
      chat,
      id: "m1",
      text,
      editedAt,
      author,
      ...(editId === undefined ? {} : { editId }),
    },
  });
  const deletion = { type: "delete" as const, deletion: { ...place, chat, id: "m2" } };
  const ingest = (...events: ChannelEvent[]) => world.runtime.ingest("telegram", "default", events);
  const edits = async () => {
    const rows = await world.store.scan(0, 1_000);
    return rows.filter(({ body }) => body.includes("message.edited")).length;
  };
  await ingest(message("m1", { text: "first" }), message("m2", { text: "gone" }));
  await ingest(edit("second", 1_000), edit("third", 2_000), deletion);
  await ingest(edit("second", 1_000), edit("third", 2_000), deletion);
  await ingest(edit("second", 1_000));
  expect(await edits()).toBe(2);
  expect(
    (await world.store.scan(0, 1_000)).filter(({ body }) => body.includes("deleted")),
  ).toHaveLength(1);
  await ingest(message("m3", { mentions: [{ id: "bot", isSelf: true }], text: "now you" }));
  await world.pass(5_000);
  const [prompt] = world.events("prompt") as { text: string }[];
  expect(prompt?.text).toContain("third");
  expect(prompt?.text).not.toContain("second");
  // Back to the same words is an edit of its own, also within one second of the platform's clock.
  await ingest(edit("a", 3_000, "u1"), edit("b", 3_000, "u2"), edit("a", 3_000, "u3"));
  await ingest(edit("b", 3_000, "u2"));
  expect(await edits()).toBe(5);
});

test("an edit without any mark of its own is taken each time", async () => {
  const world = await new World().start();
  const place = { channel: "telegram", account: "default", thread: null } as const;
  const chat = { id: "room", kind: "group" } as const;
  const edit = { ...place, chat, id: "m1", text: "same", author };
  for (let n = 0; n < 2; n += 1)
    await world.runtime.ingest("telegram", "default", [{ type: "edit", edit }]);
  expect(await world.store.scan(0, 10)).toHaveLength(2);
});

test("nothing is taken any more once it stops", async () => {
  const world = await new World({ store: createTestStore() }).start();
  await world.runtime.stop();
  await expect(world.say("late")).rejects.toMatchObject({ code: "EAR_INGRESS_FULL" });
});
