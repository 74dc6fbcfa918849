/**
 * One outcome, whatever goes wrong. Agents that throw, hang, continue after their end or end twice,
 * hosts and processes that die in the middle of turns, a store that fails at each commit in turn:
 * in rooms of every queue mode, with conversations on this thread and in a real one. Judged by
 * replaying the journal: every started turn ended once, every engaged message has one outcome, and
 * no indicator remains.
 */
import { describe, expect, test } from "vitest";
import { inboundSchema } from "../../../src/domain/message.ts";
import type { AgentDriver } from "../../../src/domain/ports/index.ts";
import { faults, faulty } from "../../support/agents/faulty-agent.ts";
import { replayJournal } from "../../support/replayed-journal.ts";
import { rounds } from "../../support/rounds.ts";
import { createTestStore } from "../../support/runtime/test-store.ts";
import { World } from "../../support/runtime/world.ts";

/** Each mode has a channel of its name. */
const modes: readonly string[] = [
  "collect",
  "followup",
  "queue",
  "steer",
  "steer-backlog",
  "interrupt",
];
const kinds = Object.keys(faults);
const some = ["throws-later", "hangs", "streams-on", "fine"];

const config = {
  agents: { defaults: { driver: { kind: "faulty" }, maxConcurrent: 8 } },
  messages: { queue: { byChannel: Object.fromEntries(modes.map((mode) => [mode, mode])) } },
  turn: { idleMs: 3_000, maxMs: 9_000, maxConcurrentTurns: 8 },
};

async function rooms() {
  const store = createTestStore();
  const drivers = [faulty as AgentDriver];
  const world = new World({ store, config, drivers });
  return { world: await world.start(), store };
}

async function say(world: World, channel: string, room: string, text: string, id: string) {
  const message = inboundSchema.parse({
    channel,
    id: `${channel} ${room} ${id}`,
    text,
    author: { id: "ann", name: "Ann" },
    chat: { id: room, kind: "group" },
    mentions: [{ id: "bot", isSelf: true }],
  });
  await world.runtime.ingest(channel, "default", [{ type: "message", message }]);
}
/** The same in every mode's room of that name. */
async function everywhere(
  world: World,
  room: string,
  text: string,
  id: string,
  where: readonly string[],
) {
  for (const mode of where) await say(world, mode, room, text, id);
}
/** Each of many in rooms of each third mode, the next in those of others; in the full rounds all in all. */
const modesAt = (at: number) => modes.filter((_, n) => rounds(0, 1) > 0 || n % 3 === at % 3);

/** Every promise that was broken, in words. */
async function broken({ world, store }: Awaited<ReturnType<typeof rooms>>) {
  await world.pass(600_000);
  const { begun, outcomes, fates, left } = await replayJournal(store, config);
  const found = [...left];
  for (const [turnId, times] of begun) if (times !== 1) found.push(`${turnId} began ${times}×`);
  for (const turnId of new Set([...begun.keys(), ...outcomes.keys()])) {
    const ends = outcomes.get(turnId) ?? [];
    if (ends.length !== 1) found.push(`${turnId} ended ${ends.length}×: ${ends}`);
  }
  for (const [id, ends] of fates) if (ends.length !== 1) found.push(`${id}: ${ends}`);
  const status = world.runtime.status();
  if (status.turns.running + status.turns.waiting > 0) found.push("a slot is taken");
  for (const { turnId } of await store.runs()) found.push(`${turnId} is left in the store`);
  for (const { id } of await store.deadlines()) found.push(`deadline ${id} is left`);
  const ids = world.sent.map(({ id }) => id);
  const twice = ids.filter((id, at) => ids.indexOf(id) !== at);
  return { found: [...found, ...twice.map((id) => `${id} was sent twice`)], fates, outcomes };
}

/** Missing or repeated lines of the event stream, if no process died while writing one. */
function misreported(world: World): string[] {
  const of = (event: string) =>
    world.events(event).map((line) => ("turn" in line ? `${line.key} ${line.turn}` : ""));
  const [starts, ends] = [of("agent_start"), of("agent_end")];
  const isOnce = (list: string[]) => new Set(list).size === list.length;
  return [
    ...(isOnce(starts) ? [] : ["a start was told twice"]),
    ...(isOnce(ends) ? [] : ["an end was told twice"]),
    ...starts
      .filter((one) => !ends.includes(one))
      .map((one) => `${one} was reported to start only`),
  ];
}

describe("every turn begun and every message taken has one outcome, whatever fails:", () => {
  test("agents that misbehave", async () => {
    const one = await rooms();
    const { world } = one;
    for (const [n, kind] of kinds.entries()) await everywhere(world, kind, kind, "1", modesAt(n));
    await world.pass(1_100);
    for (const [n, kind] of kinds.entries())
      await everywhere(world, kind, "too late", "2", modesAt(n));
    await world.pass(700);
    for (const [n, kind] of kinds.entries())
      await everywhere(world, kind, "refuse", "3", modesAt(n));
    const { found, fates, outcomes } = await broken(one);
    expect(found).toEqual([]);
    expect(misreported(world)).toEqual([]);
    expect(fates.size).toBe(kinds.length * modesAt(0).length * 3);
    // The faults were met, and each room went on.
    const ends = [...outcomes.values()].flat();
    expect([...new Set(ends)].sort()).toEqual(["cancelled", "failed", "replied", "silent"]);
    for (const [id, [fate]] of fates) if (id.endsWith("3")) expect(fate, id).toBe("replied");
    await world.runtime.stop();
  });

  /** Deaths at every stage of a turn: gathering, composing, running, between two turns. */
  async function deaths(world: World, die: () => Promise<void>): Promise<number> {
    const whens = [300, 501, 900, 1_800, 3_300].filter((_, n) => rounds(0, 1) > 0 || n % 2 === 0);
    for (const [nth, when] of whens.entries()) {
      for (const [n, kind] of some.entries())
        await everywhere(world, `${kind} ${when}`, kind, "1", modesAt(n + nth));
      await world.pass(when / 2);
      for (const [n, kind] of some.entries())
        await everywhere(world, `${kind} ${when}`, "more", "2", modesAt(n + nth));
      await world.pass(when / 2);
      await die();
    }
    return whens.length * some.length * modesAt(0).length * 2;
  }

  test("a host that dies in the middle, again and again", async () => {
    const one = await rooms();
    const said = await deaths(one.world, () => one.world.runtime.crashHost());
    const { found, fates } = await broken(one);
    expect(found).toEqual([]);
    expect(misreported(one.world)).toEqual([]);
    expect(fates.size).toBe(said);
    await one.world.runtime.stop();
  });

  test("a process that is killed in the middle, again and again", async () => {
    const one = await rooms();
    const said = await deaths(one.world, () => one.world.kill());
    const { found, fates } = await broken(one);
    expect(found).toEqual([]);
    expect(fates.size).toBe(said);
    await one.world.runtime.stop();
  });

  test("a store that fails at each commit in turn", async () => {
    const one = await rooms();
    const { world, store } = one;
    const commits = 16;
    for (let at = 1; at <= commits; at += 1) {
      for (const mode of modesAt(at)) {
        const insist = async (text: string, id: string) => {
          // A platform that was not acknowledged delivers again.
          for (let taken = false; !taken; await world.pass(taken ? 0 : 500))
            taken = await say(world, mode, `room ${at}`, text, id).then(
              () => true,
              () => false,
            );
        };
        store.fail({ at });
        await insist(kinds[at % kinds.length] ?? "", "1");
        await world.pass(1_100);
        await insist("more", "2");
        await world.pass(5_000);
        store.heal();
      }
    }
    const { found, fates } = await broken(one);
    expect(found).toEqual([]);
    expect(misreported(world)).toEqual([]);
    expect(fates.size).toBe(commits * modesAt(1).length * 2);
    await world.runtime.stop();
  });
});
