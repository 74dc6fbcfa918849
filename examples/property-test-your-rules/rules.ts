/**
 * The rules of the library: what Ann and Bo can rely on in any room. Each is a function from the run
 * of a room to what breaks the rule, with the kind of rooms that it needs.
 */
import {
  type CheckRoomsOptions,
  checkRooms,
  type Heard,
  type RoomRule,
  type RoomRun,
} from "earshot/testing";
import { test } from "vitest";

const answersToBotsMax = 3;
const conversationMs = 300_000;
const weekMs = 7 * 24 * 3_600_000;

const byBot = ({ message }: Heard) => message.author.isBot;
const mentionsUs = ({ message }: Heard) => message.mentions.some(({ isSelf }) => isSelf);
const callsUs = (heard: Heard) =>
  mentionsUs(heard) ||
  heard.message.replyTo?.authorIsSelf === true ||
  ["scout", "help desk"].some((name) => heard.message.text.toLowerCase().includes(name));

/** The messages of this conversation in the week before. */
const before = (run: RoomRun, heard: Heard) =>
  run.heard
    .slice(0, run.heard.indexOf(heard))
    .filter(({ key, t }) => key === heard.key && heard.t - t <= weekMs);
const sameAuthor = (one: Heard, other: Heard) => one.message.author.id === other.message.author.id;

/** Nobody else has spoken here this week. */
const isAlone = (run: RoomRun, heard: Heard) =>
  before(run, heard).every((other) => byBot(other) || sameAuthor(other, heard));

/** The author is being answered, or was in the last five minutes. */
const isInConversation = (run: RoomRun, heard: Heard) =>
  before(run, heard).some(
    (other) =>
      sameAuthor(other, heard) &&
      other.turn !== null &&
      heard.t < (other.turn.endedAt ?? heard.t) + conversationMs,
  );

interface LibraryRule {
  readonly name: string;
  readonly rule: RoomRule;
  /** What its rooms need besides the defaults. */
  readonly rooms?: CheckRoomsOptions;
}

const libraryRules: readonly LibraryRule[] = [
  {
    name: "a person who mentions the desk is answered",
    rule: ({ heard }) =>
      heard.filter((one) => mentionsUs(one) && !byBot(one) && one.turn?.outcome !== "replied"),
    // A message that was deleted in time needs no answer.
    rooms: { happenings: ["members"] },
  },
  {
    name: "people who talk to each other are not interrupted",
    rule: (run) =>
      run
        .engaged()
        .filter((one) => !byBot(one) && !callsUs(one))
        .filter((one) => !isAlone(run, one) && !isInConversation(run, one)),
    // A member list with one person would mean that they are alone.
    rooms: { happenings: ["edits"] },
  },
  {
    name: "a bot that has never called the desk is not answered",
    rule: (run) =>
      run
        .engaged()
        .filter((one) => byBot(one) && !callsUs(one))
        .filter(
          (one) => !before(run, one).some((other) => sameAuthor(other, one) && callsUs(other)),
        ),
  },
  {
    name: "bots get at most three answers in a row",
    rule: ({ heard }) => {
      const answers = new Map<string | null, Set<unknown>>();
      return heard.flatMap((one) => {
        const inARow = (byBot(one) && answers.get(one.key)) || new Set();
        answers.set(one.key, inARow);
        if (byBot(one) && one.turn !== null) inARow.add(one.turn);
        return inARow.size > answersToBotsMax ? [one] : [];
      });
    },
  },
  {
    name: "after somebody's /stop nothing more is sent of the answer to them",
    rule: ({ heard }) =>
      heard
        .filter(({ decision, message }) => decision === "command" && message.text === "/stop")
        .flatMap((stop) =>
          heard
            .filter((one) => sameAuthor(one, stop) && one.turn !== null && one.turn.t < stop.t)
            // A turn may answer several people: then it is not this person's to end.
            .filter(({ turn }) => heard.every((one) => one.turn !== turn || sameAuthor(one, stop)))
            .flatMap(({ turn }) => turn?.answers.filter((answer) => answer.t > stop.t) ?? []),
        ),
    rooms: {
      texts: ["/stop"],
      // One conversation: a stop in a thread applies to that thread.
      threads: [],
      agents: [{ steps: [{ waitMs: 5_000 }, { text: "It is on the second shelf." }] }],
    },
  },
];

/** `ROOMS=2000 npm test` runs more rooms; `SEED=7 npm test` runs the same rooms again. */
const { ROOMS = "100", SEED } = process.env;
export const effort: CheckRoomsOptions = {
  numRuns: Number(ROOMS),
  ...(SEED === undefined ? {} : { seed: Number(SEED) }),
};

/** Declares a test for each rule. */
export function testRules(config: unknown): void {
  for (const { name, rule, rooms } of libraryRules)
    test(name, () => checkRooms(config, rule, { ...effort, ...rooms }));
}
