/**
 * Generators
 * ==========
 * Weighted fast-check arbitraries for messages and ladder inputs. Uniform ones never reach the
 * lower rungs (every other input has a mention), so signals are rare here, credits are often live
 * or about to end, and texts contain the names that matter. Times are at edges: one before, at, and
 * one after.
 */
import fc from "fast-check";
import type { EngagementInput, Participant } from "../domain/decision.ts";
import { stickinessModes } from "../domain/decision.ts";
import { type Inbound, type InboundInput, inboundSchema } from "../domain/message.ts";

/** Names that aliases, bots and texts share, so that they match. */
export const sampleNames = ["Scout", "straße", "ＦＵＬＬ", "토토", "Ro", "Botty", "İda"] as const;
/** Authors of generated rooms; the last three are bots. */
export const authorIds = ["u1", "u2", "u3", "constructor", "__proto__", "b1", "b2", "b3"] as const;

const rarely = (weight: number) =>
  fc.oneof(
    { weight, arbitrary: fc.constant(true) },
    { weight: 10 - weight, arbitrary: fc.constant(false) },
  );

/** Texts, some of which name an agent or a bot, in any case and width. */
export const texts: fc.Arbitrary<string> = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom("", "hello", "what about lunch?", "ok", "🙂") },
  {
    weight: 3,
    arbitrary: fc
      .tuple(
        fc.string({ maxLength: 6 }),
        fc.constantFrom(...sampleNames),
        fc.constantFrom<(word: string) => string>(
          (word) => word,
          (word) => word.toUpperCase(),
          (word) => word.toLowerCase(),
          (word) => ` ${word} `,
          (word) => `${word}아`,
        ),
        fc.string({ maxLength: 6 }),
      )
      .map(([before, word, shape, after]) => `${before}${shape(word)}${after}`),
  },
  { weight: 1, arbitrary: fc.string({ unit: "grapheme", maxLength: 40 }) },
);

/** Times around `now` at which something ends: past, just past, just ahead, ahead. */
const around = (now: number) =>
  fc.constantFrom(-900_000, -1, 0, 1, 900_000).map((distance) => Math.max(0, now + distance));

const dayMs = 86_400_000;

function participantsAt(now: number): fc.Arbitrary<Participant[]> {
  const participant = (id: string) =>
    fc.record({
      id: fc.constant(id),
      name: id.startsWith("b")
        ? fc.constantFrom(...sampleNames, "x", "")
        : fc.constantFrom("Ann", "Bo"),
      isBot: fc.constant(id.startsWith("b")),
      lastSeenAt: fc
        .constantFrom(0, 999, 1_000, 7 * dayMs - 1, 7 * dayMs, 7 * dayMs + 1)
        .map((age) => now - age),
    });
  return fc
    .subarray([...authorIds])
    .chain((ids) => fc.tuple(...ids.map(participant)).map((rows) => rows as Participant[]));
}

const memberships = (now: number): fc.Arbitrary<EngagementInput["room"]["membership"]> =>
  fc.option(
    fc.record({
      humans: fc.constantFrom(0, 1, 2, 50),
      bots: fc.constantFrom(0, 1, 2),
      truncated: rarely(2),
      fetchedAt: fc.constantFrom(0, 1_000, 59_999, 60_000, 60_001).map((age) => now - age),
    }),
    { freq: 2 },
  );

const messageSignals = fc.record(
  {
    text: texts,
    authorId: fc.constantFrom(...authorIds),
    isDirect: rarely(2),
    inThread: rarely(3),
    inBroadcast: rarely(1),
    mentionsSelf: rarely(1),
    mentionsOthers: rarely(2),
    repliesToSelf: rarely(1),
    repliesToOther: rarely(2),
    explicitOnly: rarely(1),
  },
  {
    requiredKeys: [
      "text",
      "authorId",
      "isDirect",
      "inThread",
      "mentionsSelf",
      "mentionsOthers",
      "repliesToSelf",
      "repliesToOther",
    ],
  },
);

const rules: fc.Arbitrary<EngagementInput["rules"]> = fc.record({
  trigger: fc.oneof(
    { weight: 3, arbitrary: fc.constant(["dm", "mention", "reply"] as const) },
    { weight: 2, arbitrary: fc.subarray(["dm", "mention", "reply"] as const) },
  ),
  activation: fc.oneof(
    { weight: 6, arbitrary: fc.constant("ladder" as const) },
    { weight: 1, arbitrary: fc.constant("mention" as const) },
    { weight: 2, arbitrary: fc.constant("always" as const) },
  ),
  aliases: fc.subarray([...sampleNames], { maxLength: 2 }),
  broadcasts: fc.constantFrom("called" as const, "ladder" as const),
  stickiness: fc.record({
    enabled: rarely(8),
    windowMs: fc.constantFrom(1, 900_000),
    mode: fc.constantFrom(...stickinessModes),
    holdDuringTurn: rarely(8),
  }),
});

/** Inputs of the ladder, weighted so that every rule of it is reached within some hundred runs. */
export const engagementInputs: fc.Arbitrary<EngagementInput> = fc
  .constantFrom(20 * dayMs, 20_000 * dayMs + 1)
  .chain((now) =>
    fc
      .record({
        message: messageSignals,
        rules,
        participants: participantsAt(now),
        membership: memberships(now),
        botInThread: rarely(3),
        credits: fc
          .subarray([...authorIds], { maxLength: 4 })
          .chain((ids) => fc.tuple(...ids.map((id) => fc.tuple(fc.constant(id), around(now)))))
          .map((rows) => Object.fromEntries(rows)),
        held: fc.subarray([...authorIds], { maxLength: 2 }),
      })
      .map(({ message, participants, membership, botInThread, ...rest }) => ({
        message: { ...message, authorIsBot: message.authorId.startsWith("b") },
        room: {
          participants: withAuthor(participants, message.authorId, now),
          membership,
          botInThread,
        },
        ...rest,
        now,
      })),
  );

/** The author counts as a participant before the decision. */
function withAuthor(participants: Participant[], id: string, now: number): Participant[] {
  const isBot = id.startsWith("b");
  const others = participants.filter((participant) => participant.id !== id);
  return [...others, { id, name: isBot ? "Botty" : "Ann", isBot, lastSeenAt: now }];
}

/** Inbound messages in the short form that `POST /api/inbound` and scenarios accept. */
export const inboundInputs: fc.Arbitrary<InboundInput> = fc.record(
  {
    channel: fc.constantFrom("telegram", "webhook"),
    chat: fc.record({
      id: fc.constantFrom("g1", "g2"),
      kind: fc.constantFrom("direct" as const, "group" as const, "channel" as const),
    }),
    id: fc.integer({ min: 1, max: 1_000_000 }).map((n) => `m${n}`),
    author: fc.constantFrom(...authorIds).map((id) => ({ id, isBot: id.startsWith("b") })),
    text: texts,
    mentions: fc.array(fc.record({ id: fc.constantFrom("self", "u2"), isSelf: fc.boolean() }), {
      maxLength: 2,
    }),
    mentionsEveryone: rarely(1),
    sentAt: fc.integer({ min: 0, max: 2_000_000_000_000 }),
  },
  { requiredKeys: ["channel", "chat", "id", "author", "text"] },
);

/** The same, parsed: with all defaults. */
export const inbounds: fc.Arbitrary<Inbound> = inboundInputs.map((input) =>
  inboundSchema.parse(input),
);
