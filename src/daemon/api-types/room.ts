/**
 * One room, as its page sees it
 * =============================
 * The forms that the Room page and the daemon share: what was heard and said, in journal order, and
 * how the conversation stands now. Entries never change once told; an edit, a deletion or a decision
 * is an entry of its own that names what it is about, so a page that has everything up to a number
 * has missed nothing.
 */
import type { Verdict } from "../../domain/decision.ts";
import type { Attachment, Millis } from "../../domain/message.ts";
import type { GuardState, TurnLock } from "../../machines/conversation/context.ts";

/** Somebody, as far as a page needs to know. */
export interface RoomPerson {
  readonly id: string;
  readonly name: string;
  readonly isBot: boolean;
}

interface Entry {
  /** Journal number: unique in the room, growing. */
  readonly seq: number;
  readonly at: Millis;
}
/** A file of a message: what is known of it, and nothing it could be fetched by. */
export interface RoomFile {
  readonly kind: Attachment["kind"];
  readonly mime?: string;
  readonly bytes?: number;
  readonly name?: string;
}
/** A message as it was heard. */
export interface HeardEntry extends Entry {
  readonly kind: "heard";
  readonly id: string;
  readonly author: RoomPerson;
  readonly text: string;
  /** Names it mentions, as platforms write them in a text: without the sign. */
  readonly mentions: readonly string[];
  /** What it replies to; null: nothing. */
  readonly quote: { readonly id: string; readonly name: string; readonly text: string } | null;
  /** What the chat was called then, where the platform said so. */
  readonly title?: string;
  /** What came with it, as the platform told of it. */
  readonly files: readonly RoomFile[];
  /** Null: not decided yet, or read from history, where nothing is decided. */
  readonly verdict: Verdict | null;
  /** Read from the platform when the agent came. */
  readonly history?: true;
  /** Another agent of this house said it: overheard, and nothing is decided about it. */
  readonly fellow?: true;
}
export interface EditedEntry extends Entry {
  readonly kind: "edited";
  readonly id: string;
  readonly text: string;
}
export interface DeletedEntry extends Entry {
  readonly kind: "deleted";
  readonly id: string;
}
/** An order to the runtime. Admission took it out of the room; no ladder was asked. */
export interface CommandEntry extends Entry {
  readonly kind: "command";
  readonly id: string;
  readonly author: RoomPerson;
  readonly command: string;
  readonly text: string;
}
/** A turn began: it got its lane. */
export interface TurnEntry extends Entry {
  readonly kind: "turn";
  readonly turnId: string;
}
/** A try of a turn's agent ended. The last one of a turn counts. */
export interface EndedEntry extends Entry {
  readonly kind: "ended";
  readonly turnId: string;
  readonly outcome: "replied" | "silent" | "failed" | "cancelled";
  readonly reason: string | null;
}
/** A part of an answer that was delivered, or will not be. */
export interface SaidEntry extends Entry {
  readonly kind: "said";
  /** `turnId:index`, as in the outbox. */
  readonly id: string;
  readonly turnId: string;
  readonly text: string;
  /** Platform id of the message it was sent as a reply to; null: a plain message. */
  readonly replyTo: string | null;
  readonly status: "sent" | "in-doubt" | "expired" | "dead";
  readonly error: string | null;
  /** The entry whose message has this text now. */
  readonly edits?: string;
  /** Beside the answer. */
  readonly aside?: "reasoning" | "status";
  /** Who got a credit by it, as far as the journal was folded. */
  readonly credited: readonly { readonly name: string; readonly ms: number }[];
}
export type RoomEntry =
  | HeardEntry
  | EditedEntry
  | DeletedEntry
  | CommandEntry
  | TurnEntry
  | EndedEntry
  | SaidEntry;

/** A page of the transcript, oldest entry first. */
export interface RoomHistory {
  readonly entries: readonly RoomEntry[];
  /** To ask for what came before; null: this is the beginning, as far as the journal goes. */
  readonly before: number | null;
  /** Nothing is missing between these entries and this number; what is newer comes after it. */
  readonly upTo: number;
}

/** The turn under way. */
export interface RoomTurn {
  readonly turn: number;
  readonly turnId: string;
  readonly since: Millis;
  readonly attempt: number;
  readonly lock: TurnLock;
  /** Messages it answers, and by whom; empty: nobody asked (a heartbeat). */
  readonly batch: readonly { readonly id: string; readonly author: RoomPerson }[];
  /** Overheard lines it was shown. */
  readonly context: number;
  readonly place: string;
  readonly replyTo: string | null;
  /** Messages of the batch that carry the reaction, and the reaction; null: none is configured. */
  readonly ack: { readonly emoji: string; readonly on: number } | null;
  /** Parts handed to delivery, and those without an answer. */
  readonly parts: { readonly made: number; readonly open: number };
  /** The agent is done; only deliveries are open. */
  readonly ended: boolean;
  readonly abortedBy: string | null;
}

/** A batch that no turn has taken yet. */
export interface RoomBatch {
  readonly authors: readonly RoomPerson[];
  readonly messages: number;
  /** When its window closes; null: it has, and waits in line. */
  readonly closesAt: Millis | null;
}

export interface RoomCredit {
  readonly who: RoomPerson;
  /** Null: it has no credit of its own, only the turn or the line holds it. */
  readonly endsAt: Millis | null;
  readonly held: boolean;
}

/** An overheard line that the next turn is shown. */
export interface RoomOverheard {
  readonly seq: number;
  readonly id: string;
  readonly at: Millis;
  readonly author: RoomPerson;
  readonly text: string;
}

/** How the conversation stands, folded from the journal up to `seq`. */
export interface RoomState {
  /** The daemon's clock, for countdowns. */
  readonly now: Millis;
  readonly seq: number;
  /** For example "engaged.running.open". */
  readonly attention: string;
  /** Since when; null: since before what is known here. */
  readonly since: Millis | null;
  /** States that attention was in lately, oldest first, for what went by between two looks. */
  readonly trail: readonly { readonly attention: string; readonly until: Millis }[];
  readonly guard: { readonly state: GuardState; readonly consecutive: number };
  readonly typing: boolean;
  readonly turns: number;
  readonly turn: RoomTurn | null;
  readonly batches: readonly RoomBatch[];
  readonly credits: readonly RoomCredit[];
  readonly stickiness: { readonly windowMs: number; readonly mode: string };
  readonly buffer: {
    readonly size: number;
    readonly used: number;
    /** Fell off or aged out since it was last shown to a turn. */
    readonly dropped: number;
    /** The newest, newest first. */
    readonly newest: readonly RoomOverheard[];
  };
  readonly humans: { readonly count: number; readonly source: string };
  /** Who has spoken lately, the latest speaker first; at most 12. */
  readonly people: readonly RoomPerson[];
  readonly bots: number;
  readonly activation: string;
}

/** What the page opens with. */
export interface RoomView {
  readonly key: string;
  readonly title: string;
  readonly channel: string;
  readonly account: string;
  readonly kind: string;
  readonly agent: { readonly id: string; readonly name: string };
  /** The page has everything up to this number: what it asks with when it comes back. */
  readonly upTo: number;
  readonly state: RoomState;
  readonly history: RoomHistory;
}

/** The running turn's text so far. */
export interface RoomWriting {
  readonly turnId: string;
  readonly text: string;
}

/** A frame of the live stream. */
export type RoomFrame =
  /** First, and again where more was missed than is kept: everything from here. */
  | { readonly type: "open"; readonly view: RoomView; readonly writing: RoomWriting | null }
  /** What is new since. */
  | {
      readonly type: "more";
      readonly upTo: number;
      readonly entries: readonly RoomEntry[];
      readonly state: RoomState;
      readonly writing: RoomWriting | null;
    };
