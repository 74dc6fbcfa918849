/**
 * Generated rooms: people and bots who talk, mention, answer, edit and delete, agents that take
 * their time, fail, step back or hang a little, platforms that refuse or stall. Times meet the
 * edges on purpose: one before, at, and one after the windows of the default config.
 */
import fc from "fast-check";

type Line = Record<string, unknown>;

const waits = fc.constantFrom(0, 1, 100, 499, 500, 501, 2_000, 30_000, 900_000, 899_999, 60_001);
const people = ["ann", "bo", "rex"] as const;
const chats = ["g1", "g2", "d1"] as const;
const place = (chat: string) => ({
  channel: "irc",
  chat: { id: chat, kind: chat.startsWith("d") ? "direct" : "group" },
});

const speech = fc.record({
  chat: fc.constantFrom(...chats),
  who: fc.constantFrom(...people),
  text: fc.constantFrom("hello", "scout, look", "ok", "what about lunch?", "rex did it"),
  aim: fc.constantFrom("none", "none", "none", "us", "bo", "reply-us", "reply-bo"),
  thread: fc.constantFrom(null, null, null, "t1"),
});
type Speech = typeof speech extends fc.Arbitrary<infer Said> ? Said : never;

function message(id: string, { chat, who, text, aim, thread }: Speech): Line {
  return {
    ...place(chat),
    id,
    author: { id: who, name: who, isBot: who === "rex" },
    text,
    ...(thread === null || chat === "d1" ? {} : { thread: { id: thread } }),
    ...(aim === "us" ? { mentions: [{ id: "self", isSelf: true }] } : {}),
    ...(aim === "bo" ? { mentions: [{ id: "bo", name: "bo" }] } : {}),
    ...(aim === "reply-us"
      ? { replyTo: { id: "sent-1", authorId: "self", authorIsSelf: true } }
      : {}),
    ...(aim === "reply-bo" ? { replyTo: { id: "m0", authorId: "bo", authorIsSelf: false } } : {}),
  };
}

const steps = fc.constantFrom<readonly Line[]>(
  [{ text: "Fine." }],
  [{ waitMs: 3_000 }, { text: "Later." }],
  [{ text: "One." }, { messageEnd: true }, { waitMs: 700 }, { text: "Two." }],
  [{ text: "NO_REPLY" }],
  [{ tool: "channel_disengage" }, { text: "Backing off." }],
  [{ tool: "skip_response" }, { text: "unseen" }],
  [{ error: "boom" }],
);

const happening = fc.oneof(
  { weight: 12, arbitrary: fc.record({ kind: fc.constant("in" as const), said: speech }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("edit" as const), chat: fc.constantFrom(...chats) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("delete" as const), chat: fc.constantFrom(...chats) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("agent" as const), steps }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("platform" as const),
      send: fc.constantFrom("fail", "429", "hang"),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("membership" as const),
      humans: fc.constantFrom(1, 2, 9),
      truncated: fc.boolean(),
    }),
  },
);
type Happening = typeof happening extends fc.Arbitrary<infer Event> ? Event : never;

function lineOf(t: number, index: number, event: Happening): Line {
  switch (event.kind) {
    case "in":
      return { t, in: message(`m${index}`, event.said) };
    case "edit":
      return { t, edit: { ...place(event.chat), id: `m${index - 1}`, text: `edited ${index}` } };
    case "delete":
      return { t, delete: { ...place(event.chat), id: `m${index - 2}` } };
    case "agent":
      return { t, agent: { runs: [{ steps: event.steps }] } };
    case "platform":
      return { t, platform: { channel: "irc", send: event.send, retryAfterMs: 1_500 } };
    case "membership":
      return {
        t,
        membership: { ...place("g1"), humans: event.humans, truncated: event.truncated },
      };
  }
}

const config = { agents: { list: [{ id: "main", name: "Scout" }] } };

/** A room as scenario lines, header first. */
export const rooms: fc.Arbitrary<Line[]> = fc
  .array(fc.tuple(waits, happening), { minLength: 1, maxLength: 40, size: "max" })
  .map((events) => {
    let t = 0;
    return [
      { earshot: 1, config },
      ...events.map(([wait, event], index) => {
        t += wait;
        return lineOf(t, index, event);
      }),
    ];
  });

/** The same room with `extra` before the line at `index` (the header stays first). */
export function withLine(room: readonly Line[], index: number, extra: Line): Line[] {
  const at = 1 + (index % room.length);
  const t = (room[at] ?? room.at(-1))?.t ?? 0;
  return [...room.slice(0, at), { t, ...extra }, ...room.slice(at)];
}
