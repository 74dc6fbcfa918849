/**
 * The k-th flush is the k-th turn's. What is said, and when, settles which messages are a batch,
 * and in which order the batches stand; how long agents take, how they end, what platforms refuse
 * and which hosts and processes die in between must not change a thing about it.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { property } from "../support/property.ts";
import { drops, ends, play, sends, starts } from "../support/replay/replay.ts";
import { rounds } from "../support/rounds.ts";

type Line = Record<string, unknown>;
const runs = { numRuns: rounds(4, 50) };

const config = {
  agents: { defaults: { maxConcurrent: 1 } },
  // Two people's direct chats are one session: one line for two places.
  session: { dmScope: "main" },
  messages: { queue: { mode: "queue", cap: 1_000 } },
  turn: { replyAgeMsMax: 86_400_000 },
  errors: { notifyRoom: "never" },
};

const speech = fc.record({
  gap: fc.constantFrom(0, 1, 100, 250, 499, 500, 501, 1_999, 2_000, 2_001),
  who: fc.constantFrom("ann", "bob"),
  kind: fc.constantFrom("text", "text", "text", "photo", "album"),
});
/** What people say, each with the moment of it. */
const speeches = fc.array(speech, { minLength: 2, maxLength: 25, size: "max" }).map((list) => {
  let t = 0;
  return list.map(({ gap, who, kind }, index): Line & { t: number } => {
    t += gap;
    return {
      t,
      in: {
        channel: "irc",
        chat: { id: who, kind: "direct" },
        id: `m${index}`,
        author: { id: who, name: who },
        text: `line ${index}`,
        ...(kind === "text" ? {} : { attachments: [{ id: `a${index}`, kind: "image" }] }),
        ...(kind === "album" ? { groupId: "album" } : {}),
      },
    };
  });
});

const waitMs = fc.constantFrom(1, 499, 500, 1_000, 2_000, 7_000);
const run = fc.oneof(
  waitMs.map((wait) => ({ steps: [{ waitMs: wait }, { text: "late" }] })),
  waitMs.map((wait) => ({ steps: [{ text: "early" }, { messageEnd: true }, { waitMs: wait }] })),
  fc.constantFrom(
    { steps: [{ text: "NO_REPLY" }] },
    { steps: [{ error: "boom" }] },
    { steps: [{ hang: true }] },
    { steps: [{ tool: "skip_response" }, { text: "unseen" }] },
  ),
);
/** What happens beside it; each at a moment of its own. */
const trouble = fc.oneof(
  fc.constant<Line>({ crash: "host" }),
  fc.constant<Line>({ crash: "process" }),
  fc.constant<Line>({ passivate: true }),
  fc
    .constantFrom("fail", "hang", "429")
    .map((send): Line => ({ platform: { channel: "irc", send, retryAfterMs: 3_000 } })),
);
const troubles = fc.array(fc.tuple(fc.nat(30_000), trouble), { maxLength: 6 });

const byTime = (a: Line, b: Line) => Number(a.t) - Number(b.t);
const header = { earshot: 1, config };

describe("pairing", () => {
  property([speeches, fc.array(run, { maxLength: 25 }), troubles], runs)(
    "the k-th flush is answered by the k-th turn, where it was said",
    async (said, agents, beside) => {
      const flushes = starts(await play([header, ...said])).map(({ batch }) => batch);
      expect(flushes.flat().toSorted()).toEqual(said.map((_, n) => `m${n}`).toSorted());
      const events = beside.map(([t, what]): Line => ({ t, ...what }));
      const scripts = agents.length === 0 ? [] : [{ t: 0, agent: { runs: agents } }];
      const lines = await play([header, ...scripts, ...[...said, ...events].sort(byTime)]);
      const turns = starts(lines);
      expect(turns.map(({ batch }) => batch)).toEqual(flushes);
      expect(turns.map(({ turn }) => turn)).toEqual(flushes.map((_, n) => n + 1));
      expect(ends(lines).map(({ turn }) => turn)).toEqual(flushes.map((_, n) => n + 1));
      expect(drops(lines)).toEqual([]);
      const chatOf = new Map(
        said.map(({ in: one }, n) => [`m${n}`, (one as { chat: { id: string } }).chat.id]),
      );
      for (const { batch, replyTo } of turns) {
        expect(replyTo).toBe(batch.at(-1));
        expect(new Set(batch.map((id) => chatOf.get(id))).size).toBe(1);
      }
      // Every word goes to the chat of the turn that was running when it was said.
      const order = turns.map(({ batch }) => chatOf.get(batch[0] ?? ""));
      const chats = sends(lines)
        .filter(({ status }) => status === "sent")
        .map(({ chat }) => chat);
      let turn = 0;
      for (const chat of chats) {
        while (turn < order.length && order[turn] !== chat) turn += 1;
        expect(turn, `${chats} against ${order}`).toBeLessThan(order.length);
      }
    },
  );

  test("the troubles above do get in the way: without them the turns end at other moments", async () => {
    const [said] = fc.sample(speeches, { numRuns: 1, seed: 5 });
    const calm = await play([header, ...(said ?? [])]);
    const slow = { t: 0, agent: { runs: [{ steps: [{ waitMs: 7_000 }, { text: "late" }] }] } };
    const rough = await play([header, slow, ...(said ?? []), { t: 60_000, crash: "process" }]);
    expect(ends(rough).map(({ t }) => t)).not.toEqual(ends(calm).map(({ t }) => t));
    expect(starts(rough).map(({ batch }) => batch)).toEqual(starts(calm).map(({ batch }) => batch));
  });
});
