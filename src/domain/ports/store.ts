/**
 * One writer, one commit at a time. The runtime never issues single statements: it collects writes
 * and commits them together (actors/journal/journal.ts), so one fsync serves many messages. A
 * commit is atomic; `sync` makes it durable. SQLite implements it, in a file or as a
 * temporary database.
 */
import type { Millis } from "../message.ts";
import type {
  Session,
  SessionPatch,
  SessionSettings,
  SessionUsage,
  TranscriptLine,
} from "../session.ts";

/**
 * The number under which events are kept that no conversation hears: admission ended them. They are
 * recognised when they come again and `why` finds them, but they belong to no tail.
 */
export const noConversation = 0;

/**
 * One event of one conversation. `at` and `eid` (52-bit hash of `identity`) are the event's
 * identity: `at` is the platform's own time, that of a turn's id, or 0, never the time of receipt.
 */
export interface EventWrite {
  readonly kind: "event";
  readonly at: Millis;
  readonly eid: number;
  readonly identity: string;
  readonly conv: number;
  /** Session key; stored the first time the conversation is seen. */
  readonly key: string;
  /** Config version in force. */
  readonly cfg: number;
  /** JSON of the event. `seq` inside it, where the event has one, is filled in on reading. */
  readonly body: string;
  /** Platform message id, for `why`; null for internal events. */
  readonly messageId: string | null;
  /** Set when admission already decided (denied, claim, command): stored as applied. */
  readonly code?: number;
  /** Written with it; not where it is a duplicate. */
  readonly also?: readonly (AccessWrite | OutboxWrite)[];
}
/** The effects of `seq` were committed; `code` is the encoded verdict or 0. */
export interface AppliedWrite {
  readonly kind: "applied";
  readonly seq: number;
  readonly code: number;
}
/** Replaces a conversation's record. Refused (ignored, counted) when a newer epoch wrote before. */
export interface CheckpointWrite {
  readonly kind: "checkpoint";
  readonly conv: number;
  readonly recordSeq: number;
  readonly epoch: number;
  readonly record: string;
}
export type OutboxState =
  | "pending"
  | "sending"
  | "waiting"
  | "in-doubt"
  | "sent"
  | "expired"
  | "dead";
export interface OutboxRow {
  /** `turnId:index`, or `<turnId>:r:<message>` for reactions. */
  readonly id: string;
  readonly conv: number;
  readonly key: string;
  readonly turnId: string;
  readonly index: number;
  /** `edit`: a text that replaces the one another row has sent. */
  readonly kind: "reply" | "notice" | "edit" | "react" | "unreact";
  readonly state: OutboxState;
  readonly createdAt: Millis;
  /** Not before; ms since the epoch. */
  readonly dueAt: Millis;
  readonly attempts: number;
  /**
   * How often it was unknown whether a send took effect. More than 0: the row is marked in-doubt.
   */
  readonly doubts: number;
  /** JSON of what to send (route, text, replyTo, quote | message, emoji). */
  readonly body: string;
  /** JSON array of platform ids once sent; else null. */
  readonly messageIds: string | null;
  readonly error: string | null;
}
/** Inserts, or replaces the row of the same id. */
export interface OutboxWrite {
  readonly kind: "outbox";
  readonly row: OutboxRow;
}
export interface DeadlineWrite {
  readonly kind: "deadline";
  readonly conv: number;
  readonly id: string;
  /** null: clear. */
  readonly at: Millis | null;
  /** With `at: null`: clear it only if it is the one due at this moment, not a later one. */
  readonly onlyAt?: Millis;
}
/** A conversation that waits for a turn slot or runs a turn; removed when the slot is released. */
export interface RunRow {
  readonly conv: number;
  readonly key: string;
  readonly agentId: string;
  readonly turnId: string | null;
  readonly state: "waiting" | "running";
  readonly since: Millis;
}
export interface RunWrite {
  readonly kind: "run";
  readonly conv: number;
  /** null: remove. */
  readonly row: RunRow | null;
}
export interface TranscriptWrite {
  readonly kind: "transcript";
  readonly conv: number;
  readonly line: TranscriptLine;
}
/** What every write that makes a session says of it. */
interface NewSession {
  readonly kind: "session";
  readonly conv: number;
  readonly key: string;
  readonly agentId: string;
  readonly sessionId: string;
  readonly at: Millis;
}
/** Makes the conversation's first session; refused where it has one. */
export interface SessionOpen extends NewSession {
  readonly op: "open";
}
/**
 * Archives the session in use and makes the next, with its settings. It holds the turns that were
 * ordered by events after `fromSeq`.
 */
export interface SessionBegin extends NewSession {
  readonly op: "begin";
  readonly fromSeq: number;
}
/** Replaces the settings of the session in use. */
export interface SessionSettingsWrite {
  readonly kind: "session";
  readonly op: "settings";
  readonly conv: number;
  readonly at: Millis;
  readonly settings: SessionSettings;
}
/**
 * Changes some settings of the session in use, whatever they were. It is no sign of life of the
 * session.
 */
export interface SessionPatchWrite {
  readonly kind: "session";
  readonly op: "patch";
  readonly conv: number;
  readonly patch: SessionPatch;
}
/** Adds to what a session has used. Counted once for each time it is committed. */
export interface SessionUsed {
  readonly kind: "session";
  readonly op: "used";
  readonly sessionId: string;
  readonly at: Millis;
  readonly used: SessionUsage;
  /** Whether the last run was cut short; null: as it was. */
  readonly aborted: boolean | null;
}
export type SessionWrite =
  | SessionOpen
  | SessionBegin
  | SessionSettingsWrite
  | SessionPatchWrite
  | SessionUsed;

/** A session with the place it has in its conversation. */
export interface SessionRow extends Session {
  readonly conv: number;
}
export interface SessionQuery {
  readonly agentId?: string;
  readonly conv?: number;
  /** Archived ones, too. @default false */
  readonly all?: boolean;
  /** Only those made after this one. */
  readonly after?: string;
  readonly limit: number;
}
export interface TranscriptQuery {
  readonly sessionId: string;
  /** Only lines with a greater number. @default 0 */
  readonly after?: number;
  readonly limit: number;
  /** The newest of them, still in order. @default false */
  readonly newest?: boolean;
}
export interface CursorWrite {
  readonly kind: "cursor";
  readonly channel: string;
  readonly account: string;
  readonly identity: string;
  readonly value: string;
}
/** A config version that journalled events refer to. */
export interface ConfigWrite {
  readonly kind: "config";
  readonly version: number;
  readonly json: string;
}
export interface MetaWrite {
  readonly kind: "meta";
  readonly name: string;
  readonly value: string;
}
/**
 * A start of the runtime owns the database from here on: what stores that were opened before still want
 * to write is refused, and this too where there was a later start.
 */
export interface StartWrite {
  readonly kind: "start";
  /** Counts the starts. Read back as the meta row `boot`. */
  readonly boot: number;
}
/** A row of the access store: who may speak, which codes are open. `name` is its key. */
export interface AccessRow {
  readonly name: string;
  /** JSON; only the access store reads it. */
  readonly body: string;
}
/** Sets a row of the access store, or deletes it (`body: null`). */
export interface AccessWrite {
  readonly kind: "access";
  readonly name: string;
  readonly body: string | null;
}
export type StoreWrite =
  | EventWrite
  | AccessWrite
  | AppliedWrite
  | CheckpointWrite
  | OutboxWrite
  | DeadlineWrite
  | RunWrite
  | TranscriptWrite
  | SessionWrite
  | CursorWrite
  | ConfigWrite
  | StartWrite
  | MetaWrite;

/** A journalled event as read back. */
export interface EventRow {
  readonly seq: number;
  readonly at: Millis;
  readonly conv: number;
  readonly cfg: number;
  readonly body: string;
  /** null: not applied yet. */
  readonly code: number | null;
}
export interface ConversationRow {
  readonly conv: number;
  readonly key: string;
  readonly recordSeq: number;
  readonly epoch: number;
  /** null: never checkpointed. */
  readonly record: string | null;
}
/** A conversation as lists show it. */
export interface ListedConversation extends ConversationRow {
  /** Its newest event that is known without a search: in its tail, or the one its record covers. */
  readonly lastSeq: number;
}

export interface Store {
  /**
   * Commits all writes or none. The answer has one number per write: for an event its `seq` (> 0),
   * or 0 when its identity is already there (a duplicate; nothing was written); for the rest 1, or
   * 0 if refused.
   * `ordered`: resolves when it is written, which a loss of power may undo until the next sync; what
   * is left then is always a beginning of what was written.
   * @default durable
   * @throws EarshotError EAR_STORE_FAILED | EAR_STORE_FULL: nothing was written, except where `answersTo`
   * says otherwise. EAR_STATE_LOCKED: nothing was written, as another start owns the database.
   */
  commit(writes: readonly StoreWrite[], until?: "durable" | "ordered"): Promise<number[]>;
  /**
   * The answers to a commit of this very array by this store, if it was made: what a caller asks when the
   * call threw, because an error may come after the rows are written. Null: nothing was written.
   */
  answersTo(writes: readonly StoreWrite[]): Promise<readonly number[] | null>;
  /**
   * Resolves when everything committed before the call survives a loss of power. After an error nothing
   * is committed before the store has repaired itself, which it tries with each further call.
   * @throws EarshotError EAR_STORE_FAILED | EAR_STORE_FULL
   */
  sync(): Promise<void>;
  /**
   * Returns when no other start owns the database at this moment: reads one row, and writes nothing.
   * @throws EarshotError EAR_STATE_LOCKED; EAR_STORE_FAILED | EAR_STORE_DAMAGED when it cannot be read.
   */
  checkOwner(): void;
  /** Nothing needs to be synced: it ends with the process. */
  readonly syncsItself: boolean;

  conversation(conv: number): Promise<ConversationRow | null>;
  conversations(options: {
    readonly after?: number;
    readonly limit: number;
  }): Promise<ListedConversation[]>;
  /** How many conversations there are. The first answer may take a while. */
  conversationCount(): Promise<number>;
  /** Events of one conversation with `after < seq < before`, in order. @default all after it */
  tail(conv: number, after: number, before?: number): Promise<EventRow[]>;
  /** Events by number, in the order asked; missing ones left out. */
  events(seqs: readonly number[]): Promise<EventRow[]>;
  /** Events of all conversations with `seq > after`, at most `limit`, in order. */
  scan(after: number, limit: number): Promise<EventRow[]>;
  /** Events of conversations with `after < seq <= upTo` that are not applied, in order. */
  unapplied(after: number, upTo: number): Promise<EventRow[]>;
  /** Events about one message, with `seq > after`. @default from the beginning */
  eventsByMessage(messageId: string, after?: number): Promise<EventRow[]>;
  /** How many conversations have events after their record, as far as it is known by now. */
  dirtySize(): number;
  /** Conversations that have events after their record, the longest-dirty first. */
  dirty(limit: number): Promise<{ conv: number; first: number; last: number }[]>;
  /** Every event up to this number is covered by the record of its conversation. */
  lowWater(): Promise<number>;
  lastSeq(): Promise<number>;
  /** A number that every later event of the conversation is above, and none of those so far. */
  lastSeqOf(conv: number): Promise<number>;
  /** A number with about `rows` events between itself and `seq`, or 0. */
  numberBefore(seq: number, rows: number): Promise<number>;

  /** Rows not yet sent, expired or dead, oldest first. */
  outboxOpen(): Promise<OutboxRow[]>;
  /** How many rows there are in each state that has any. */
  outboxCounts(): Promise<Partial<Record<OutboxState, number>>>;
  outboxRow(id: string): Promise<OutboxRow | null>;
  outboxByState(states: readonly OutboxState[], limit: number): Promise<OutboxRow[]>;
  outboxByTurn(turnId: string): Promise<OutboxRow[]>;
  deadlines(): Promise<{ conv: number; id: string; at: Millis }[]>;
  runs(): Promise<RunRow[]>;
  /** Lines of one session, in order. */
  transcript(query: TranscriptQuery): Promise<TranscriptLine[]>;
  /** The lines that one turn has left, in order. */
  transcriptOfTurn(turnId: string): Promise<TranscriptLine[]>;
  /** The newest line that stands for those before it. */
  transcriptMark(sessionId: string): Promise<TranscriptLine | null>;
  /** The highest line number ever given; 0 before the first. */
  lastLine(): Promise<number>;
  /** Sessions that have a line among the last `lines` of all. */
  lately(lines: number): Promise<SessionRow[]>;
  session(sessionId: string): Promise<SessionRow | null>;
  /** The session that turns ordered by this event belong to. @default the one in use */
  sessionOf(conv: number, seq?: number): Promise<SessionRow | null>;
  /** The session in which a turn has left a line. */
  sessionOfTurn(turnId: string): Promise<SessionRow | null>;
  /** In the order they were made. */
  sessions(query: SessionQuery): Promise<SessionRow[]>;
  /** Each agent's session that was made last. */
  newestSessions(): Promise<{ readonly agentId: string; readonly sessionId: string }[]>;
  usageByAgent(): Promise<(SessionUsage & { readonly agentId: string })[]>;
  /** All rows of the access store, by name. */
  access(): Promise<AccessRow[]>;
  cursor(channel: string, account: string, identity: string): Promise<string | null>;
  config(version: number): Promise<string | null>;
  latestConfig(): Promise<{ version: number; json: string } | null>;
  meta(name: string): Promise<string | null>;

  /**
   * Deletes at most `limit` journal rows older than `before` (ms) that every record already covers.
   */
  prune(before: Millis, limit: number): Promise<number>;
  close(): Promise<void>;
}

/** The part of a store that reads sessions and their transcripts. */
export type SessionReads = Pick<
  Store,
  | "transcript"
  | "transcriptOfTurn"
  | "transcriptMark"
  | "lastLine"
  | "lately"
  | "session"
  | "sessionOf"
  | "sessionOfTurn"
  | "sessions"
  | "newestSessions"
  | "usageByAgent"
>;

/** A row of a table of a store whose rows something else keeps, under the names of its columns. */
export interface KeptRow {
  readonly table: string;
  /** Its name in its table: a JSON array. */
  readonly id: string;
  /** Null: it is deleted. */
  readonly row: Readonly<Record<string, string | number | null>> | null;
}

export interface KeptStore extends Store {
  /** The rows that have changed since the last call, as they are now. */
  changes(): readonly KeptRow[];
}
