/** The first message of a room waits for what its platform knows of the room, and for no longer. */
import { describe, expect, test } from "vitest";
import { type Inbound, inboundSchema } from "../../../src/domain/message.ts";
import type { ChannelEvent } from "../../../src/domain/ports/index.ts";
import { World } from "../../support/runtime/world.ts";

const inbound = (id: string, more: Record<string, unknown> = {}): Inbound =>
  inboundSchema.parse({
    channel: "telegram",
    chat: { id: "room", kind: "group" },
    id,
    author: { id: "ann", name: "Ann" },
    text: `words of ${id}`,
    ...more,
  });
const message = (id: string, more?: Record<string, unknown>): ChannelEvent => ({
  type: "message",
  message: inbound(id, more),
});

/** A platform that answers when the test says so. */
function held<Answer>() {
  let release: (answer: Answer) => void = () => undefined;
  const answer = new Promise<Answer>((resolve) => {
    release = resolve;
  });
  return { answer, release: (value: Answer) => release(value) };
}

const rules = (world: World) => world.decisions().map(({ id, rule }) => `${id} ${rule}`);

describe("members", () => {
  /** The room's member list is unknown until it was read. */
  async function counted(humans: number, config: Record<string, unknown> = {}) {
    const world = new World({ config });
    const read = held<void>();
    let reads = 0;
    world.humans = 1;
    world.firstReads = {
      members: () => {
        reads += 1;
        return read.answer.then(() => {
          world.humans = humans;
        });
      },
    };
    await world.start();
    const say = (...events: ChannelEvent[]) => world.runtime.ingest("telegram", "default", events);
    return { world, say, release: () => read.release(), reads: () => reads };
  }

  test("the first message of a group waits for the first member list", async () => {
    const { world, say, release, reads } = await counted(24);
    const first = say(message("m1"));
    await world.pass(1_500);
    expect(await world.store.lastSeq()).toBe(0);
    release();
    await first;
    await say(message("m2"));
    await world.pass(10);
    expect(rules(world)).toEqual(["m1 default", "m2 default"]);
    expect(reads()).toBe(1);
  });

  test("it waits for `engagement.firstReadMs` at most", async () => {
    const { world, say } = await counted(24);
    const first = say(message("m1"));
    await world.pass(1_999);
    expect(await world.store.lastSeq()).toBe(0);
    await world.pass(1);
    await first;
    await world.pass(10);
    expect(rules(world)).toEqual(["m1 solo-human"]);
  });

  test("with 0 it does not wait", async () => {
    const { world, say } = await counted(24, { engagement: { firstReadMs: 0 } });
    await say(message("m1"));
    await world.pass(10);
    expect(rules(world)).toEqual(["m1 solo-human"]);
  });

  test("what arrives for the room meanwhile stays behind it, other rooms do not wait", async () => {
    const { world, say, release } = await counted(24);
    const direct = { chat: { id: "dm", kind: "direct" } };
    const first = say(message("m1"));
    const chat = { id: "room", kind: "group" } as const;
    const place = { channel: "telegram", account: "default", chat, thread: null };
    const second = say(
      { type: "edit", edit: { ...place, id: "m1", text: "edited" } },
      message("m2"),
    );
    const other = { ...message("n1", { chat: { id: "other", kind: "group" } }) };
    const both = say(message("m3"), other);
    const last = say(message("m4"));
    await say(message("d1", direct));
    await world.pass(10);
    expect(rules(world)).toEqual(["d1 dm"]);
    release();
    await Promise.all([first, second, both, last]);
    await world.pass(10);
    const ids = rules(world).map((line) => line.split(" ")[0]);
    expect(ids.filter((id) => id?.startsWith("m"))).toEqual(["m1", "m2", "m3", "m4"]);
    expect(ids).toContain("n1");
  });

  test("a room that a conversation knows is no new one after a restart", async () => {
    const { world, say, release } = await counted(24);
    release();
    await say(message("m1"));
    await world.pass(10);
    world.firstReads = { members: () => new Promise<void>(() => undefined) };
    await world.restart();
    await say(message("m2"));
    await world.pass(10);
    expect(rules(world)).toEqual(["m1 default", "m2 default"]);
  });

  test("an edit in a room that nobody has spoken in does not make it a known one", async () => {
    const { say, release, reads } = await counted(24);
    const chat = { id: "other", kind: "group" } as const;
    const place = { channel: "telegram", account: "default", chat, thread: null };
    const both = say(message("m1"), { type: "edit", edit: { ...place, id: "n0", text: "edited" } });
    const meanwhile = say(message("n1", { chat }));
    release();
    await Promise.all([both, meanwhile]);
    await say(message("m2"), message("n2", { chat }));
    expect(reads()).toBe(2);
    const third = { id: "third", kind: "group" } as const;
    const read = say(message("m3"), {
      type: "edit",
      edit: { ...place, chat: third, id: "t0", text: "x" },
    });
    await read;
    await say(message("t1", { chat: third }));
    expect(reads()).toBe(3);
  });

  test("a first message that was not stored is a first message again", async () => {
    const { world, say, release, reads } = await counted(24);
    release();
    world.disk.fail({ at: 1 });
    await expect(say(message("m1"))).rejects.toMatchObject({ disposition: "retry" });
    await world.pass(2_000);
    await say(message("m1"));
    expect(reads()).toBe(2);
  });
});

describe("history", () => {
  const past = [
    inbound("h1", { author: { id: "bo", name: "Bo" }, sentAt: 1_700_000_000_000 - 60_000 }),
    inbound("m1"),
  ];
  const called = { mentions: [{ id: "self", isSelf: true }] };

  async function withHistory(config: Record<string, unknown> = {}) {
    const world = new World({ prompts: true, config });
    const read = held<Inbound[] | null>();
    const limits: number[] = [];
    const history = (_: unknown, limit: number) => {
      limits.push(limit);
      return read.answer;
    };
    world.firstReads = { history: history as () => Promise<Inbound[] | null> };
    await world.start();
    const say = (...events: ChannelEvent[]) => world.runtime.ingest("telegram", "default", events);
    return { world, say, limits, release: read.release };
  }
  const prompts = (world: World) =>
    world.lines.flatMap((line) =>
      "event" in line && line.event === "prompt" ? String(line.text) : [],
    );

  test("a room's first turn is shown what was said before earshot came", async () => {
    const { world, say, limits, release } = await withHistory();
    const first = say(message("m1", called));
    await world.pass(100);
    release(past);
    await first;
    await world.pass(3_000);
    expect(limits).toEqual([50]);
    expect(rules(world)).toEqual(["m1 mention"]);
    expect(prompts(world)).toHaveLength(1);
    const [context, current] = prompts(world)[0]?.split("## Current") ?? [];
    expect(context).toContain("words of h1");
    expect(context).not.toContain("words of m1");
    expect(current).toContain("words of m1");
  });

  test("a history that comes late is remembered without what was heard meanwhile", async () => {
    const { world, say, release } = await withHistory();
    const first = say(message("m1"));
    await world.pass(2_000);
    await first;
    release(past);
    await world.pass(10);
    await say(message("m2", called));
    await world.pass(3_000);
    const shown = prompts(world)[0] ?? "";
    expect(shown.match(/words of (\w+)/gu)).toEqual(["words of h1", "words of m1", "words of m2"]);
  });

  test.each([
    ["context.historyLimit is 0", { context: { historyLimit: 0 } }],
    ["nothing is remembered", { context: { size: 0 } }],
  ])("it is not read where %s", async (_, config) => {
    const { say, limits } = await withHistory(config);
    await say(message("m1"));
    expect(limits).toEqual([]);
  });
});
