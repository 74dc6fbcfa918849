/**
 * What happens in real rooms, and which test of a channel shows it with a fixture in the platform's form.
 * One file a channel; `cases.test.ts` checks that each test exists, and that what has none says why.
 */
export const cases = {
  edits: "a message is edited, also while a turn runs",
  deletions: "a message is deleted, also while a turn runs",
  albums: "several files at once",
  captions: "a file with words",
  forwards: "what somebody else has said elsewhere",
  quotes: "a reply to a message of somebody, with its words",
  threads: "replies across threads, topics and forums",
  anonymous: "an author without a name of their own, or a channel as the author",
  bots: "bots and webhooks as authors",
  system: "joins, pins and other notices",
  moved: "the room or the person gets another id, and the conversation goes with it",
  gone: "a message of somebody who is blocked or has left",
  rich: "rich text and code",
  short: "one character, right to left, combining marks, emoji of several parts",
  longest: "the longest message of the platform",
  own: "our own messages come back",
} as const;
export type Case = keyof typeof cases;

/** `file > name of a test`, in the folder of the channel or, with a slash, from the folder `test`. */
interface Tested {
  readonly tests: readonly string[];
}
/** A test of the channel contract by its ability, `always` for those of every channel. */
interface InContract {
  readonly contract: "always" | "longest" | "echo" | "edit" | "pings";
}
/** The platform has no such thing; the page that says so, or lists what there is. */
export interface Absent {
  readonly absent: string;
  readonly page: string;
}
export type Cell = Tested | InContract | Absent;
export type Column = Readonly<Record<Case, Cell>>;

export const tested = (...tests: readonly [string, ...string[]]): Tested => ({ tests });
export const contract = (ability: InContract["contract"]): InContract => ({ contract: ability });
export const absent = (why: string, page: string): Absent => ({ absent: why, page });
