/**
 * A stop, a new session, /steer, a deletion or an edit at any moment of a turn, in any mode of the queue and of the
 * stream, of messages with and without a picture, by an agent with and without tags that say what it replies to,
 * with a platform that takes its time or refuses for now, and with an end of the process right after: each message
 * has one end, each turn one outcome, and nothing is said after it was stopped, nor of what was removed.
 */
import fc from "fast-check";
import { expect } from "vitest";
import { deletionSchema, editSchema } from "../../../src/domain/message.ts";
import type { ScriptedRun } from "../../../src/domain/scenario/script.ts";
import { property } from "../../support/property.ts";
import { prompts } from "../../support/replay/replay.ts";
import { replayJournal } from "../../support/replayed-journal.ts";
import { rounds } from "../../support/rounds.ts";
import { type Fate, World } from "../../support/runtime/world.ts";

const place = { channel: "telegram", chat: { id: "room", kind: "group" } } as const;
const ann = { id: "ann", name: "Ann" };
/** When each message is said: two make a batch, the others come while the agent works, in two voices. */
const story = [
  { at: 0, id: "m1", author: ann },
  { at: 300, id: "m2", author: ann },
  { at: 1_400, id: "m3", author: ann },
  { at: 1_500, id: "m4", author: { id: "bob", name: "Bob" } },
  { at: 2_300, id: "m5", author: ann },
] as const;
const ids = story.map(({ id }) => id);
const textOf = (id: string) => `words-of-${id}.`;

/** Four parts, the first after a while, each taking its time. */
const runWith = (tag: string): ScriptedRun => ({
  afterMs: 300,
  steps: ["a", "b", "c", "d"].flatMap((name) => [
    { text: `${tag}part ${name} of an answer that is long enough to be shown. ` },
    { steer: true as const },
    { messageEnd: true as const },
    { waitMs: 400 },
  ]),
});

const cases = fc.record({
  does: fc.constantFrom("/stop", "/new", "/new go on", "/steer and this", "delete", "edit"),
  id: fc.constantFrom(...ids),
  at: fc.oneof(
    fc.integer({ min: 0, max: 8_000 }),
    fc.constantFrom(299, 300, 799, 800, 801, 1_100, 1_101, 1_350, 1_500, 1_900, 2_300, 2_700),
  ),
  ends: fc.constantFrom("none", "none", "restart", "kill"),
  mode: fc.constantFrom("collect", "followup", "queue", "steer", "steer-backlog", "interrupt"),
  stream: fc.constantFrom("off", "block", "draft"),
  /** The message that has a picture. */
  picture: fc.option(fc.constantFrom(...ids), { nil: null }),
  tag: fc.constantFrom("", "[[reply_to_current]] ", "[[reply_to:m1]] "),
  fates: fc.array(fc.constantFrom<Fate>("ok", "429", "fail", "slow"), { maxLength: 6 }),
});
type Case = typeof cases extends fc.Arbitrary<infer One> ? One : never;

function act(world: World, { does, id }: Case) {
  if (does.startsWith("/")) return world.say(does, { ...place, id: "act", author: ann });
  const { author } = story.find((one) => one.id === id) ?? story[0];
  const event =
    does === "delete"
      ? ({ type: "delete", deletion: deletionSchema.parse({ ...place, id }) } as const)
      : ({ type: "edit", edit: editSchema.parse({ ...place, id, text: "new", author }) } as const);
  return world.runtime.ingest("telegram", "default", [event]);
}

async function end(world: World, how: string): Promise<void> {
  if (how === "restart") await world.restart();
  if (how === "kill") await world.kill();
  await world.runtime.settled();
}

/** Plays the story; returns when the act was over. */
async function played(world: World, one: Case): Promise<number> {
  const start = world.clock.now();
  const until = (at: number) => world.pass(Math.max(0, start + at - world.clock.now()));
  let done = 0;
  const steps = [
    ...story.map(({ at, id, author }) => {
      const attachments = one.picture === id ? [{ id: "p1", kind: "image" as const }] : [];
      return { at, go: () => world.say(textOf(id), { ...place, id, author, attachments }) };
    }),
    {
      at: one.at,
      go: async () => {
        await act(world, one);
        await end(world, one.ends);
        done = world.clock.now();
      },
    },
  ];
  for (const { at, go } of steps.toSorted((a, b) => a.at - b.at)) {
    await until(at);
    await go();
  }
  await world.pass(300_000);
  return done;
}

property([cases], { numRuns: rounds(25, 1_000) })(
  "what is stopped, begun anew, removed or changed at any moment leaves no message and no turn without one end",
  async (one) => {
    const config = {
      engagement: { activation: "always" },
      commands: { ownerAllowFrom: ["telegram:ann"] },
      messages: { queue: { mode: one.mode } },
      stream: { mode: one.stream, break: "message_end", coalesceIdleMs: 0 },
    };
    const world = await new World({ config, prompts: true }).start();
    try {
      world.fates.push(...one.fates);
      world.runs.push(...Array.from({ length: 12 }, () => runWith(one.tag)));
      const done = await played(world, one);
      const { begun, outcomes, fates, left } = await replayJournal(world.store, config);

      for (const turnId of begun.keys()) {
        expect(begun.get(turnId)).toBe(1);
        expect(outcomes.get(turnId)).toHaveLength(1);
      }
      for (const [id, ends] of fates)
        expect({ id, ends: ends[0] === "stopped" ? 1 : ends.length }).toEqual({ id, ends: 1 });
      expect([...fates.keys()].filter((id) => id.startsWith("m"))).toEqual(
        expect.arrayContaining([...ids]),
      );
      expect(left).toEqual([]);
      expect(await world.store.runs()).toEqual([]);
      // What the platform was taking, of a turn that is over by then, waits for an operator.
      const isCut = one.fates.includes("slow") && one.ends !== "none";
      const open = (await world.store.outboxOpen()).filter(({ turnId, state }) => {
        const isOver = outcomes.get(turnId ?? "")?.[0] === "cancelled";
        return !(isCut && isOver && state === "in-doubt");
      });
      expect(open).toEqual([]);

      expect(world.shown().filter((text) => text.includes("[["))).toEqual([]);

      // One that is on its way when the process ends is in doubt, and may come twice.
      const shown = world.sent.map(({ id }) => id);
      if (!one.fates.includes("slow")) expect(new Set(shown).size).toBe(shown.length);
      const late = world.sent.filter(({ id, at }) => {
        const [outcome] = outcomes.get(id.split(":")[0] ?? "") ?? [];
        const isStopped = one.does === "/stop" && one.mode !== "interrupt";
        return isStopped && outcome === "cancelled" && at > done;
      });
      // What the platform was taking when the stop came arrives.
      expect(late.length).toBeLessThanOrEqual(one.fates.includes("slow") ? 1 : 0);

      const saidAt = story.find(({ id }) => id === one.id)?.at ?? 0;
      if (one.does !== "delete" || one.at < saidAt) return;
      const asked = prompts(world.lines).map(({ t, text }) => ({
        t,
        has: text.includes(textOf(one.id)),
      }));
      expect(asked.filter(({ t, has }) => has && t > done)).toEqual([]);
    } finally {
      await world.runtime.stop();
    }
  },
);
