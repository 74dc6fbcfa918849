/**
 * Generated scenarios of several rooms, threads and direct chats at once, in which much happens at
 * the same moment, agents take their time, and slots are sometimes few. What is for one room only
 * names it; now and then something is for all of them.
 */
import fc from "fast-check";

type Line = Record<string, unknown>;
export type ManyRooms = readonly Line[];

const waits = fc.constantFrom(0, 0, 0, 1, 100, 499, 500, 501, 1_000, 2_000, 30_000, 60_000);
const rooms = ["g1", "g2", "g3", "g4", "c1", "d1", "d2"] as const;
const room = fc.constantFrom(...rooms);
const kindOf = (id: string) =>
  id.startsWith("d") ? "direct" : id.startsWith("c") ? "channel" : "group";
const keyOf = (id: string) =>
  kindOf(id) === "direct" ? "agent:main:main" : `agent:main:irc:${kindOf(id)}:${id}`;
const place = (id: string) => ({ channel: "irc", chat: { id, kind: kindOf(id) } });

const said = fc.record({
  who: fc.constantFrom("ann", "bo", "rex"),
  text: fc.constantFrom("hello", "scout, look", "ok", "lunch?", "/think high", "/model", "stop"),
  aim: fc.constantFrom("none", "us", "us", "bo", "reply-us"),
  thread: fc.constantFrom(null, null, null, "t1"),
});
const steps = fc.constantFrom<readonly Line[]>(
  [{ text: "Fine." }],
  [{ waitMs: 500 }, { text: "Later." }],
  [{ waitMs: 3_000 }, { text: "Much later." }],
  [{ text: "One." }, { messageEnd: true }, { waitMs: 700 }, { text: "Two." }],
  [{ text: "NO_REPLY" }],
  [{ tool: "channel_react", input: { emoji: "👍" } }, { text: "Yes." }],
  [{ error: "boom" }],
);

const happening = fc.oneof(
  { weight: 24, arbitrary: fc.record({ in: said, room }) },
  { weight: 2, arbitrary: fc.record({ edit: fc.nat(5), room }) },
  { weight: 2, arbitrary: fc.record({ delete: fc.nat(5), room }) },
  {
    weight: 5,
    arbitrary: fc.record({ runs: fc.array(steps, { minLength: 1, maxLength: 3 }), room }),
  },
  { weight: 2, arbitrary: fc.record({ fate: fc.constantFrom("fail", "ok"), room }) },
  { weight: 2, arbitrary: fc.record({ humans: fc.constantFrom(1, 2, 9), room }) },
  { weight: 1, arbitrary: fc.record({ history: fc.constant("long ago"), room }) },
);
type Happening = typeof happening extends fc.Arbitrary<infer Event> ? Event : never;

/** What is for all rooms. */
const common = fc.constantFrom<Line>(
  { passivate: true },
  { passivate: true },
  { approve: { channel: "irc", id: "ann", as: "owner" } },
  { config: { messages: { inbound: { debounceMs: 0 } } } },
  { agent: { runs: [{ steps: [{ text: "whoever" }] }] } },
  { platform: { channel: "irc", send: "429", retryAfterMs: 1_500 } },
  { in: { ...place("g1"), id: "asks", author: { id: "ann" }, text: "/status" } },
  { in: { ...place("g2"), id: "uses", author: { id: "bo" }, text: "/usage" } },
);

function lineOf(t: number, index: number, event: Happening): Line {
  const here = place(event.room);
  if ("in" in event) {
    const { who, text, aim, thread } = event.in;
    const hasThread = thread !== null && kindOf(event.room) === "group";
    const message = {
      ...here,
      id: `m${index}`,
      text,
      author: { id: who, isBot: who === "rex" },
      ...(hasThread ? { thread: { id: thread } } : {}),
      ...(aim === "us" ? { mentions: [{ id: "self", isSelf: true }] } : {}),
      ...(aim === "bo" ? { mentions: [{ id: "bo", name: "bo" }] } : {}),
      ...(aim === "reply-us" ? { replyTo: { id: "sent-1", authorId: "self" } } : {}),
    };
    return { t, in: message };
  }
  const chat = event.room;
  const near = { channel: "irc", chat };
  if ("edit" in event)
    return { t, edit: { ...near, id: `m${index - event.edit}`, text: `edited ${index}` } };
  if ("delete" in event) return { t, delete: { ...near, id: `m${index - event.delete}` } };
  if ("runs" in event) {
    const runs = event.runs.map((one) => ({ steps: one }));
    return { t, agent: { key: keyOf(chat), runs } };
  }
  if ("fate" in event) return { t, platform: { ...near, send: event.fate, count: 1 } };
  if ("humans" in event) return { t, membership: { ...near, humans: event.humans, bots: 1 } };
  const older = { ...here, id: `h${index}`, author: { id: "cy" }, text: event.history };
  return { t, history: { ...near, messages: [older] } };
}

const plenty = {
  agents: { defaults: { maxConcurrent: 100 } },
  turn: { maxConcurrentTurns: 100 },
};
const configs = fc.constantFrom<Line>(
  {},
  { ...plenty, commands: { allowFrom: { irc: ["ann", "bo"] } }, stream: { humanDelay: "natural" } },
  { ...plenty, commands: { allowFrom: { irc: ["ann", "bo"] } } },
  {
    turn: { maxConcurrentTurns: 100 },
    agents: {
      list: [
        { id: "main", name: "Scout" },
        { id: "rover", name: "Rover" },
      ],
    },
    broadcast: { g1: ["main", "rover"], g2: ["rover", "main"] },
  },
  plenty,
  plenty,
  { messages: { inbound: { debounceMs: 0 } }, turn: { maxConcurrentTurns: 100 } },
  { turn: { maxConcurrentTurns: 1 } },
  { session: { dmScope: "per-channel-peer" } },
  { session: { scope: "global" } },
);

/** Scenario lines, header first. */
export const manyRooms: fc.Arbitrary<ManyRooms> = fc
  .tuple(
    configs,
    fc.array(fc.tuple(waits, happening), { minLength: 10, maxLength: 60, size: "max" }),
    fc.option(fc.tuple(fc.nat(60), common), { nil: null, freq: 3 }),
  )
  .map(([config, events, extra]) => {
    let t = 0;
    const lines = events.map(([wait, event], index) => {
      t += wait;
      return lineOf(t, index, event);
    });
    const at = extra === null ? 0 : extra[0] % lines.length;
    if (extra !== null) lines.splice(at, 0, { t: lines[at]?.t, ...extra[1] });
    return [{ earshot: 1, config }, ...lines];
  });
