/**
 * What costs: names that look like patterns, texts made for slow matching, floods of people and of
 * rooms, bots that answer each other, and people who keep an agent busy (A27, A29, A30, A31). Limits
 * are counted in messages, turns and simulated time, never in how fast this machine is.
 */
import { describe, expect, test } from "vitest";
import { limits } from "../../src/domain/limits.ts";
import { inboundSchema } from "../../src/domain/message.ts";
import type { ChannelEvent } from "../../src/domain/ports/index.ts";
import { rounds } from "../support/rounds.ts";
import { World } from "../support/runtime/world.ts";

const minute = 60_000;
const verdicts = (world: World) =>
  world.decisions().map(({ id, decision, rule }) => `${id} ${decision} ${rule}`);
const turnsOf = (world: World) => world.events("agent_start").length;

const line = inboundSchema.parse({
  channel: "telegram",
  chat: { id: "room", kind: "group" },
  id: "m",
  author: { id: "u", name: "U" },
  text: "just talk",
});
function event(id: string, chat: string, author: string) {
  const by = { ...line.author, id: author, name: author };
  const message = { ...line, id, chat: { ...line.chat, id: chat }, author: by };
  return { type: "message", message } satisfies ChannelEvent;
}

describe("A27 names that look like patterns", () => {
  const evil = ["(a+)+$", ".*", "[", "a{1,99999}", "\\", "(?=a*)*b", "$&"];
  const config = { agents: { list: [{ id: "main", name: "Scout", aliases: evil }] } };

  test("A27 an alias is letters, whatever it looks like: only they call the agent", async () => {
    const world = await new World({ config }).start();
    const say = (text: string, id: string) => world.say(text, { id });
    await say("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", "m1");
    await say("anything at all", "m2");
    await say("what about (a+)+$ then", "m3");
    await world.pass(minute);
    expect(verdicts(world)[0]).toMatch(/^m1 observe/);
    expect(verdicts(world)[1]).toMatch(/^m2 observe/);
    expect(verdicts(world)[2]).toBe("m3 engage alias");
  });

  test("A27 of a long text so much is matched and no more, decided all the same", async () => {
    const world = await new World({ config }).start();
    const longest = "a".repeat(limits.textUnitsMax);
    const pad = (count: number) => "b ".repeat(count / 2);
    await world.say(longest, { id: "m1" });
    await world.say(`${pad(limits.matchUnitsMax - 10)}scout`, { id: "m2" });
    await world.pass(minute);
    await world.say(`${pad(limits.matchUnitsMax)}scout`, { id: "m3", author: { id: "bob" } });
    await world.pass(minute);
    expect(verdicts(world)[0]).toMatch(/^m1 observe/);
    expect(verdicts(world)[1]).toBe("m2 engage alias");
    expect(verdicts(world)[2]).toMatch(/^m3 observe/);
  });
});

describe("A29 floods", () => {
  const from = (count: number, make: (n: number) => ChannelEvent) =>
    Array.from({ length: count }, (_, n) => make(n));

  test("A29 one person's 10,000 messages at once: each is decided or refused, and another room is answered", async () => {
    const world = await new World().start();
    const count = limits.ingressPendingMax + 2_000;
    const offers = from(count, (n) => event(`f${n}`, "flooded", "mallory")).map((one) =>
      world.runtime.ingest("telegram", "default", [one]).then(
        () => "taken",
        (error: { code: string }) => error.code,
      ),
    );
    const outcomes = await Promise.all(offers);
    await world.say("hello?", { id: "calm", direct: true });
    await world.pass(minute);
    const taken = outcomes.filter((one) => one === "taken").length;
    const full = outcomes.filter((one) => one === "EAR_INGRESS_FULL").length;
    expect(taken + full).toBe(count);
    expect(taken).toBe(limits.ingressPendingMax);
    expect(world.decisions()).toHaveLength(taken + 1);
    expect(world.runtime.status().ingress).toMatchObject({ pending: 0, refused: full });
    expect(world.sent.map(({ chat }) => chat)).toContain("ann");
  });

  const people = rounds(1_000, 10_000);
  test(`A29 ${people} people in one room leave of each other only so many behind`, async () => {
    const world = await new World().start();
    for (let at = 0; at < people; at += 1_000)
      await world.runtime.ingest(
        "telegram",
        "default",
        from(1_000, (n) => event(`p${at + n}`, "room", `person${at + n}`)),
      );
    await world.pass(minute);
    expect(world.decisions()).toHaveLength(people);
    await world.runtime.passivateAll();
    const [room] = await world.store.conversations({ limit: 1 });
    const seen = room?.record ?? "";
    expect(seen).toContain(`person${people - 1}`);
    expect(new Set(seen.match(/person\d+/g)).size).toBeLessThanOrEqual(
      limits.participantsCountMax + limits.heardMessagesCountMax,
    );
  });

  test("A29 a stranger's rooms without number hold no memory beyond what is kept open", async () => {
    const liveConversations = 20;
    const world = await new World({ config: { workers: { liveConversations } } }).start();
    for (let at = 0; at < 2_000; at += 200) {
      await world.runtime.ingest(
        "telegram",
        "default",
        from(200, (n) => event(`k${at + n}`, `made-up-${at + n}`, "mallory")),
      );
      await world.pass(1_000);
      expect(world.runtime.status().conversations.live).toBeLessThanOrEqual(
        liveConversations + 200,
      );
    }
    await world.pass(minute);
    expect(world.decisions()).toHaveLength(2_000);
    expect(world.runtime.status().conversations.live).toBeLessThanOrEqual(liveConversations);
  });
});

describe("A30 bots that answer each other", () => {
  const bot = (id: string) => ({ id, name: id, isBot: true });

  /** More than the guard lets pass. */
  const exchanges = rounds(26, 40);

  /** Two runtimes in one room: what one says, the other hears as a call by a bot. */
  async function twins(waitMs: number, times: number) {
    const [left, right] = [await new World().start(), await new World().start()];
    let heard = 0;
    const carry = async (from: World, to: World, name: string, seen: number) => {
      for (const { text } of from.sent.slice(seen)) {
        heard += 1;
        const mentions = [{ id: "self", isSelf: true }];
        await to.say(text, { id: `${name}${heard}`, author: bot(name), mentions });
      }
      return from.sent.length;
    };
    await left.say("hello", { id: "start", mentions: [{ id: "self", isSelf: true }] });
    let [a, b] = [0, 0];
    for (let round = 0; round < times; round += 1) {
      await left.pass(waitMs);
      a = await carry(left, right, "left", a);
      await right.pass(waitMs);
      b = await carry(right, left, "right", b);
    }
    return { left, right };
  }

  test.each([
    ["at once", 5_000],
    ["once a minute", minute],
    ["once an hour", 60 * minute],
  ])("A30 two of ours in one room stop by themselves, answering %s", async (_, waitMs) => {
    const { left, right } = await twins(waitMs, exchanges);
    const hardLimit = 20;
    expect(turnsOf(left)).toBeGreaterThan(3);
    // The person's first message, and then the bot's up to the limit.
    expect(turnsOf(left)).toBeLessThanOrEqual(hardLimit + 1);
    expect(turnsOf(right)).toBeLessThanOrEqual(hardLimit);
    const before = left.sent.length;
    await left.say("again", { id: "p2", mentions: [{ id: "self", isSelf: true }] });
    await left.pass(minute);
    expect(left.sent.length).toBeGreaterThan(before);
  });

  test("A30 what we said comes back as ours, under any id: nobody answers it", async () => {
    const world = await new World().start();
    await world.say("hello", { id: "m1", direct: true });
    await world.pass(minute);
    const said = world.sent[0]?.text ?? "";
    const before = turnsOf(world);
    for (let n = 0; n < 10; n += 1)
      await world.say(said, { id: `echo${n}`, author: { id: "us", isSelf: true } });
    world.ours.add("under-our-account");
    await world.say(said, { id: "echo-x", author: { id: "under-our-account", isBot: true } });
    await world.pass(minute);
    expect(turnsOf(world)).toBe(before);
    expect(world.decisions().filter(({ id }) => String(id).startsWith("echo"))).toEqual([]);
  });

  test("A30 a bot that repeats every answer, calling us, is muted until a person speaks", async () => {
    const world = await new World().start();
    let seen = 0;
    const echo = async () => {
      for (const { text } of world.sent.slice(seen)) {
        seen += 1;
        const mentions = [{ id: "self", isSelf: true }];
        await world.say(text, { id: `e${seen}`, author: bot("parrot"), mentions });
      }
    };
    await world.say("hello", { id: "m1", mentions: [{ id: "self", isSelf: true }] });
    for (let n = 0; n < 50; n += 1) {
      await world.pass(10_000);
      await echo();
    }
    expect(turnsOf(world)).toBeLessThanOrEqual(21);
    expect(verdicts(world).at(-1)).toMatch(/^e\d+ observe loop-guard/);
  });
});

describe("A31 people who keep an agent busy", () => {
  test("A31 short messages in a row are batches: turns follow one another, none beside another", async () => {
    const world = await new World().start();
    for (let n = 0; n < 100; n += 1) world.runs.push({ afterMs: 10_000, steps: [{ text: "ok" }] });
    const lines = rounds(250, 1_000);
    let most = 0;
    for (let n = 0; n < lines; n += 1) {
      await world.say("and?", { id: `m${n}`, direct: true });
      await world.pass(100);
      most = Math.max(most, world.runtime.status().turns.running);
    }
    // Ten a second, by turns of 10 s.
    expect(most).toBe(1);
    expect(turnsOf(world)).toBeGreaterThan(lines / 200);
    expect(turnsOf(world)).toBeLessThanOrEqual(lines / 100 + 2);
  });
});
