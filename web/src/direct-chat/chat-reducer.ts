/**
 * State of the direct chat
 * ========================
 * What the direct chat shows, reduced from frames. Pure: the same frames over any number of
 * connections give the same state. A repeated frame (after a reconnect everything since the last
 * `n` is sent again) changes nothing, and a line of the user stays pending until the daemon has it
 * on disk.
 */
import type { Decision, Rule } from "../../../src/domain/decision.ts";
import { type AttachedFile, filesIn } from "../lib/file-facts.ts";
import type { Choices, ServerFrame } from "./frames.ts";

/** A line that the daemon has: mine, or one of the same session that came through elsewhere. */
export interface Mine {
  readonly kind: "mine";
  readonly id: string;
  /** What the daemon knows the message by. */
  readonly message: string;
  readonly n: number;
  readonly at: number;
  readonly text: string;
  /** On which other channel it was written, and its author there; null: on a page. */
  readonly via: { readonly channel: string; readonly by: string } | null;
  readonly files: readonly AttachedFile[];
}
/** A block of the agent's answer. */
export interface AgentMessage {
  readonly kind: "said";
  readonly id: string;
  readonly n: number;
  readonly at: number;
  readonly text: string;
  readonly replyTo: string | null;
  readonly turnId: string;
  /** The other channel it went to; null: the pages. */
  readonly via: string | null;
  readonly files: readonly AttachedFile[];
  readonly choices: Choices | null;
}
/** A turn that ended without saying anything. */
export interface Quiet {
  readonly kind: "quiet";
  readonly id: string;
  readonly n: number;
  readonly outcome: string;
  /** Why the agent failed; null: it did not, or nobody knows. */
  readonly cause: string | null;
}
/** A turn that was cut off, with what it had said that was not sent. */
export interface Cut {
  readonly kind: "cut";
  readonly id: string;
  readonly n: number;
  readonly at: number;
  readonly turnId: string;
  readonly outcome: string;
  readonly text: string;
}
/** A session began: the agent remembers nothing of what is above. */
export interface Began {
  readonly kind: "session";
  readonly id: string;
  readonly n: number;
  readonly at: number;
  readonly why: string;
  readonly by: string | undefined;
}
export type Entry = Mine | AgentMessage | Quiet | Cut | Began;
/** A line of mine on its way; a refused one waits to be given up. */
export interface Pending {
  readonly id: string;
  readonly text: string;
  readonly replyTo: string | null;
  readonly files: readonly (AttachedFile & { readonly id: string })[];
  /** Why the daemon will never take it; absent: it may. */
  readonly refused?: string;
}
/** A line of mine as the talk shows it before the daemon has it. */
export interface Unsent extends Pending {
  readonly kind: "unsent";
}
/** The turn that runs: what it wrote so far, and its blocks that were delivered. */
export interface Writing {
  readonly turnId: string;
  /** The session key, by which it can be stopped; null: the daemon has not said. */
  readonly key: string | null;
  readonly soFar: string;
  readonly delivered: readonly string[];
}

export interface Talk {
  readonly agent: { readonly id: string; readonly name: string } | null;
  /** The newest `n` seen: a reconnect asks for what came after. */
  readonly n: number;
  /** In order of `n`. */
  readonly entries: readonly Entry[];
  readonly pending: readonly Pending[];
  readonly verdicts: Readonly<Record<string, { readonly decision: Decision; readonly rule: Rule }>>;
  /** Reactions of the agent by message id. */
  readonly acks: Readonly<Record<string, readonly string[]>>;
  readonly writing: Writing | null;
  readonly typing: boolean;
  /** What may be attached; null: the daemon has not said. */
  readonly uploads: { readonly bytesMax: number; readonly countMax: number } | null;
  readonly error: string | null;
}

export const emptyTalk: Talk = {
  agent: null,
  n: 0,
  entries: [],
  pending: [],
  verdicts: {},
  acks: {},
  writing: null,
  typing: false,
  uploads: null,
  error: null,
};

/** How far back an undecided line is asked for again. */
const undecidedLookBack = 20;
/** The most lines kept on the page; older ones stay in the daemon's journal. */
const entriesCountMax = 2_000;

/** I wrote a line; it is pending until `taken`. */
export function write(talk: Talk, line: Pending): Talk {
  return { ...talk, pending: [...talk.pending, line], error: null };
}

/** The talk after one frame. */
export function hear(talk: Talk, frame: ServerFrame): Talk {
  switch (frame.type) {
    case "ready":
      return { ...talk, agent: frame.agent, uploads: frame.uploads ?? null, error: null };
    case "taken": {
      const pending = talk.pending.filter((line) => line.id !== frame.id);
      const { id, n, at, text, message = id, via: channel, by = "" } = frame;
      const via = channel === undefined ? null : { channel, by };
      const files = filesIn(frame.attachments);
      const line: Mine = { kind: "mine", id, message, n, at, text, via, files };
      return insert({ ...talk, pending, error: null }, line);
    }
    case "said": {
      const { id, n, at, text, turnId } = frame;
      const { replyTo = null, via = null, choices = null } = frame;
      const files = filesIn(frame.attachments);
      const words = { id, n, at, text, turnId, replyTo };
      const entry: AgentMessage = { kind: "said", ...words, via, files, choices };
      const writing = deliver(talk.writing, turnId, text);
      return { ...insert(talk, entry), writing };
    }
    case "decided": {
      const { decision, rule } = frame;
      return { ...talk, verdicts: { ...talk.verdicts, [frame.id]: { decision, rule } } };
    }
    case "ack": {
      const others = (talk.acks[frame.message] ?? []).filter((emoji) => emoji !== frame.emoji);
      const now = frame.on ? [...others, frame.emoji] : others;
      return { ...talk, acks: { ...talk.acks, [frame.message]: now } };
    }
    case "typing":
      return { ...talk, typing: frame.on };
    case "delta":
      return { ...talk, writing: grow(talk.writing, frame.turnId, frame.text) };
    case "turn":
      return frame.state === "start" ? { ...talk, writing: begun(frame) } : end(talk, frame);
    case "cut":
      return insert(talk, { ...frame, kind: "cut", id: `${frame.turnId} ${frame.n}` });
    case "session": {
      const { n, at, why, by } = frame;
      return insert(talk, { kind: "session", id: `session ${n}`, n, at, why, by });
    }
    case "attached":
      return attach(talk, frame.id, filesIn(frame.attachments));
    case "error":
      return refuse(talk, frame);
  }
}

/** I give up a line that was refused. */
export function discard(talk: Talk, id: string): Talk {
  return { ...talk, pending: talk.pending.filter((line) => line.id !== id) };
}

/**
 * After which `n` a reconnect asks: the newest seen, or just before the oldest of the last lines
 * that still waits for its decision, since decisions have no `n` of their own and come again with
 * their line.
 */
export function resumeAfter({ n, entries, verdicts }: Talk): number {
  const open = entries
    .slice(-undecidedLookBack)
    .find((entry) => entry.kind === "mine" && verdicts[entry.id] === undefined);
  return open === undefined ? n : Math.max(0, open.n - 1);
}

/** The connection went: what only lives while connected is gone. */
export function hangUp(talk: Talk): Talk {
  return { ...talk, writing: null, typing: false, acks: {} };
}

/** A line that will never be taken says so itself; anything else is said once for all. */
function refuse(talk: Talk, frame: Extract<ServerFrame, { type: "error" }>): Talk {
  const { id, message, final = false } = frame;
  if (!final || !talk.pending.some((line) => line.id === id)) return { ...talk, error: message };
  const pending = talk.pending.map((line) =>
    line.id === id ? { ...line, refused: message } : line,
  );
  return { ...talk, pending };
}

function attach(talk: Talk, id: string, files: readonly AttachedFile[]): Talk {
  const entries = talk.entries.map((entry) =>
    entry.kind === "said" && entry.id === id ? { ...entry, files } : entry,
  );
  return { ...talk, entries };
}

function insert(talk: Talk, entry: Entry): Talk {
  const n = Math.max(talk.n, entry.n);
  if (talk.entries.some((known) => known.id === entry.id && known.kind === entry.kind))
    return { ...talk, n };
  let at = talk.entries.length;
  while (at > 0 && (talk.entries[at - 1]?.n ?? 0) > entry.n) at -= 1;
  const entries = [...talk.entries.slice(0, at), entry, ...talk.entries.slice(at)];
  return { ...talk, n, entries: entries.slice(-entriesCountMax) };
}

const begun = ({ turnId, key }: { turnId: string; key?: string }): Writing => ({
  turnId,
  key: key ?? null,
  soFar: "",
  delivered: [],
});

/** A delta carries the whole visible text so far, so a lost one is made good by the next. */
function grow(writing: Writing | null, turnId: string, soFar: string): Writing {
  const { delivered, key } = writing?.turnId === turnId ? writing : { delivered: [], key: null };
  return { turnId, key, soFar, delivered };
}

function deliver(writing: Writing | null, turnId: string, text: string): Writing | null {
  if (writing === null || writing.turnId !== turnId) return writing;
  return { ...writing, delivered: [...writing.delivered, text.trim()] };
}

function end(talk: Talk, frame: Extract<ServerFrame, { type: "turn" }>): Talk {
  const { turnId, outcome = "replied", cause = null } = frame;
  const writing = talk.writing?.turnId === turnId ? null : talk.writing;
  const rest = { ...talk, writing };
  // One that was stopped has its own line already.
  const isCut = ({ kind, id }: Entry) => kind === "cut" && id.startsWith(`${turnId} `);
  if (outcome === "replied" || (outcome === "cancelled" && talk.entries.some(isCut))) return rest;
  return insert(rest, { kind: "quiet", id: turnId, n: talk.n, outcome, cause });
}

/**
 * What the talk shows, in order: what the daemon has, what is on its way, and last what it refused,
 * so that no line passes another when one is taken.
 */
export function linesOf({ entries, pending }: Talk): readonly (Entry | Unsent)[] {
  const unsent = pending.map((line): Unsent => ({ ...line, kind: "unsent" }));
  const waiting = unsent.filter(({ refused }) => refused === undefined);
  const refused = unsent.filter((line) => line.refused !== undefined);
  return [...entries, ...waiting, ...refused];
}

/** Which line it is: a line of mine is the same one before and after it was taken. */
export const lineKey = ({ kind, id }: Entry | Unsent): string =>
  `${kind === "unsent" ? "mine" : kind} ${id}`;

/** What the running turn has written beyond its delivered blocks. */
export function draftOf({ writing }: Talk): string {
  if (writing === null) return "";
  let from = 0;
  for (const block of writing.delivered) {
    const found = writing.soFar.indexOf(block, from);
    if (found >= 0) from = found + block.length;
    // The end of a text may be delivered before its last delta arrives.
    else if (block.startsWith(writing.soFar.slice(from).trim())) return "";
  }
  return writing.soFar.slice(from).trimStart();
}
