/**
 * How many decisions a second the pure ladder makes on one core, and what explaining costs over
 * deciding. Inputs are group rooms of five people and a bot, most lines falling through to the
 * bottom: the most expensive decision there is. Busy rooms of thirty people the same way. Then what mode "floor" adds to a decision on a line
 * of somebody we talk with, and to keeping up with what is said: at most 2 us together.
 */
import type { EngagementInput, Participant, StickinessMode } from "../src/domain/decision.ts";
import { emptyFloors } from "../src/domain/floor.ts";
import type { Inbound } from "../src/domain/message.ts";
import { decideEngagement, explainEngagement } from "../src/machines/engagement/engagement.ts";
import { hearLine, noteAnswer } from "../src/machines/engagement/floor.ts";
import { hashesOf } from "../src/machines/engagement/floor-words.ts";
import { signalsOf } from "../src/machines/engagement/signals.ts";
import {
  assertRatio,
  busyMix,
  messages,
  perSecond,
  randomFrom,
  report,
  round,
  short,
} from "./support.ts";

const now = 1_763_700_000_000;
const next = messages(50, busyMix);
const participants: Participant[] = ["u0", "u1", "u2", "u3", "u4", "relay"].map((id) => ({
  id,
  name: id,
  isBot: id === "relay",
  lastSeenAt: now - 1_000,
}));
const rules: EngagementInput["rules"] = {
  trigger: ["dm", "mention", "reply"],
  activation: "ladder",
  aliases: ["scout", "earshot"],
  stickiness: { enabled: true, windowMs: 900_000, mode: "one-shot", holdDuringTurn: true },
};
const inputs: EngagementInput[] = Array.from({ length: 4_096 }, (_, n) => {
  const message = next(n, now);
  const mentionsSelf = message.mentions.some(({ isSelf }) => isSelf);
  return {
    message: {
      text: message.text,
      authorId: message.author.id,
      authorIsBot: message.author.isBot,
      isDirect: false,
      inThread: false,
      mentionsSelf,
      mentionsOthers: message.mentions.length > 0 && !mentionsSelf,
      repliesToSelf: false,
      repliesToOther: message.replyTo !== null,
    },
    rules,
    room: { participants, membership: null, botInThread: false },
    credits: {},
    held: [],
    now,
  };
});
const calls = short ? 100_000 : 1_000_000;
const decide = perSecond((n) => decideEngagement(inputs[n & 4_095] as EngagementInput), calls);
const explain = perSecond(
  (n) => explainEngagement(inputs[n & 4_095] as EngagementInput),
  calls / 4,
);

/** The same lines, each by somebody who was answered a moment ago, in a room of five such. */
const authors = ["u0", "u1", "u2", "u3", "u4"];
const talks = noteAnswer(emptyFloors, {
  at: now - 20_000,
  authors,
  named: [],
  words: hashesOf(
    "the soup kitchen opens at noon and closes at four, ask anybody there about lunch",
  ),
  asked: false,
});
const credits = Object.fromEntries(authors.map((id) => [id, now + 600_000]));
const credited = (mode: StickinessMode) =>
  inputs.map((input) => ({
    ...input,
    rules: { ...rules, stickiness: { ...rules.stickiness, mode } },
    credits,
    ...(mode === "floor" ? { floors: talks } : {}),
  }));
const sliding = credited("sliding");
const floor = credited("floor");
/** Processor time of one call, us: the best of five, so that other work on the machine counts less. */
function microseconds(call: (n: number) => unknown): number {
  let best = Number.POSITIVE_INFINITY;
  for (let n = 0; n < calls / 10; n += 1) call(n);
  for (let turn = 0; turn < 5; turn += 1) {
    const before = process.cpuUsage();
    for (let n = 0; n < calls / 5; n += 1) call(n);
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / (calls / 5));
  }
  return best;
}
const onCredit = microseconds((n) => decideEngagement(sliding[n & 4_095] as EngagementInput));
const onFloor = microseconds((n) => decideEngagement(floor[n & 4_095] as EngagementInput));
const heard = microseconds((n) => {
  const author = authors[n % 5] as string;
  return hearLine(talks, { author, at: now, addresses: [], engaged: false, calls: false });
});
const added = onFloor - onCredit + heard;

/**
 * Busy rooms: 512 of them in turn, 30 people and two bots each, three aliases, lists of mentions, some
 * words beyond ASCII. From the message as a channel reports it, and of the decision alone.
 */
const random = randomFrom(7);
const busyRooms = Array.from({ length: 512 }, () =>
  Array.from({ length: 32 }, (_, n): Participant => {
    const isBot = n >= 30;
    const name = isBot ? `Relay ${n}` : `Person ${n}`;
    return { id: `u${n}`, name, isBot, lastSeenAt: now - 1_000 * n };
  }),
);
const busyRules = { ...rules, aliases: ["Scout", "earshot", "Späher"] };
const heardThere = Array.from({ length: 4_096 }, (_, n): Inbound => {
  const message = next(n, now);
  const mentioned = random() < 0.2 ? 1 + Math.floor(random() * 4) : 0;
  const others = Array.from({ length: mentioned }, (_, m) => ({ id: `u${m}`, isSelf: false }));
  const author = { ...message.author, id: `u${Math.floor(random() * 30)}` };
  const text = random() < 0.1 ? `naïve: ${message.text}` : message.text;
  return { ...message, author, text, mentions: [...message.mentions, ...others] };
});
const inBusyRoom = (message: Inbound, n: number): EngagementInput => ({
  message: signalsOf(message, { ownMessages: [], everyoneMentions: false }),
  rules: busyRules,
  room: { participants: busyRooms[n & 511] ?? [], membership: null, botInThread: false },
  credits: { u1: now + 1_000 },
  held: [],
  now,
});
const busyInputs = heardThere.map(inBusyRoom);
const busy = perSecond((n) => decideEngagement(busyInputs[n & 4_095] as EngagementInput), calls);
const busyWhole = perSecond(
  (n) => decideEngagement(inBusyRoom(heardThere[n & 4_095] as Inbound, n)),
  calls,
);

assertRatio("microseconds that the floor may add over those it adds", 2 / added, 1);
assertRatio("deciding over explaining", decide / explain, 1.2);

report({
  bench: "ladder",
  unit: "calls/s, one core",
  figures: {
    decideEngagement: decide,
    explainEngagement: explain,
    "busy rooms": busy,
    "busy rooms, from the message": busyWhole,
  },
  ratios: {
    "decide over explain": round(decide / explain),
    "us of a credited line, sliding": round(onCredit),
    "us of a credited line, floor": round(onFloor),
    "us of keeping up, floor": round(heard),
  },
});
