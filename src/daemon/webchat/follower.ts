/**
 * What happens in the web chat, as its pages are shown it
 * =======================================================
 * Follows the event stream; lines are handled one after the other, as each may read the journal. Where the store is a copy
 * of what several nodes store, lines of other nodes come before their rows or after them, and those of a node that died
 * never: what is in the copy decides then.
 */
import { conversationOf } from "../../actors/protocol/event-codec.ts";
import type { Millis } from "../../domain/message.ts";
import type { Clock, Log, OutboxRow, Store, TimerHandle } from "../../domain/ports/index.ts";
import { within } from "../../domain/ports/within.ts";
import type {
  AgentEndLine,
  AgentStartLine,
  DecisionLine,
  StreamLine,
} from "../../domain/stream.ts";
import { tagged } from "../events/event-kinds.ts";
import { entryId, type WebchatHistory } from "./history.ts";
import { momentOf, type Pages } from "./pages.ts";

/** How long the last messages may take to reach the pages when the daemon stops, ms. */
const closeMsMax = 2_000;
/** A sent part is in the journal very soon; it is polled at these intervals, ms. */
const lookAgainMs = [0, 10, 30, 100, 300, 1_000, 3_000] as const;
/** How often it is looked whether a turn still runs. */
const turnLookMs: Millis = 10_000;

export interface FollowerPorts {
  readonly clock: Clock;
  readonly log: Log;
  /** The sessions of the chat. */
  readonly keys: () => readonly string[];
  readonly store: Pick<Store, "outboxRow" | "outboxByTurn" | "runs">;
  /** The store is a copy of what several nodes store: its rows may come after the lines, and lines may never come. */
  readonly isCopy: boolean;
  /** Whether the message is one of the chat itself. */
  readonly isHere: (line: { readonly channel?: string; readonly chat?: string }) => boolean;
  readonly chat: WebchatHistory;
  readonly pages: Pages;
}

export interface Follower {
  readonly line: (line: StreamLine) => void;
  /** The store has other rows of this conversation. */
  readonly changed: (conv: number) => void;
  /** Pages of another node were shown this. */
  readonly heard: (frame: unknown) => void;
  /** Resolves when what has happened is shown, or soon without. */
  readonly done: () => Promise<void>;
}

export function createFollower(ports: FollowerPorts): Follower {
  const { clock, log, keys, store, isCopy, isHere, chat, pages } = ports;
  let work: Promise<void> = Promise.resolve();
  let isDone = false;
  const then = (next: () => Promise<void>) => {
    work = work
      .then(next)
      .catch((error: unknown) => log("error", "webchat.read-failed", { error }));
  };
  /** Whether a line belongs to the session, on any channel. */
  const isOurs = (line: { key: string | null; channel?: string; chat?: string }) =>
    isHere(line) || (line.key !== null && keys().includes(line.key));
  /** A command belongs to no session until its message was found. */
  const isAsked = ({ key, decision }: DecisionLine) => key === null && decision === "command";

  /** A reply part that is being sent, or was sent and not read yet. */
  const isUnshown = (row: OutboxRow) =>
    chat.shows(row) &&
    (row.state === "pending" ||
      row.state === "sending" ||
      (row.state === "sent" && chat.find("said", row.id) === null));

  async function delivered(id: string): Promise<void> {
    const row = await store.outboxRow(id);
    if (row === null || !chat.shows(row)) return;
    for (const wait of lookAgainMs) {
      if (wait > 0) await new Promise<void>((go) => clock.setTimer(clock.now() + wait, go));
      await pages.refresh();
      if (chat.find("said", id) !== null) return;
    }
  }
  /** A turn has started, and the message that it answers was not read yet. */
  let early: AgentStartLine | null = null;

  async function started(line: AgentStartLine): Promise<void> {
    await pages.refresh();
    const { batch, key, turnId } = line;
    // A node of an older version has not said which turn it is.
    if (turnId === undefined) return;
    early = null;
    if (batch.some((message) => chat.holds(message))) {
      pages.turnStarted(turnId, key);
      if (isCopy) look(turnId, false);
    } else if (isCopy && batch.length > 0) early = line;
  }

  /** Nothing of the turn is under way any more, as far as the store knows. */
  async function isOver(turn: string): Promise<boolean> {
    if (isCopy && (await store.runs()).some(({ turnId }) => turnId === turn)) return false;
    return !(await store.outboxByTurn(turn)).some(isUnshown);
  }

  /**
   * The agent ends before its last parts are delivered; for a page, the turn ends with them.
   */
  async function ended(line: AgentEndLine): Promise<void> {
    for (const wait of lookAgainMs) {
      if (wait > 0) await new Promise<void>((go) => clock.setTimer(clock.now() + wait, go));
      await pages.refresh();
      if (early !== null) await started(early);
      const turn = pages.running();
      if (early === null && (turn === null || (await isOver(turn)))) break;
    }
    early = null;
    pages.turnEnded(line);
  }

  /** A node that died may never say that a turn has ended: it has, where that was so at two looks. */
  let looking: TimerHandle | null = null;
  function look(turn: string, wasOver: boolean): void {
    if (looking !== null) clock.clearTimer(looking);
    looking = clock.setLimit(turnLookMs, () =>
      then(async () => {
        if (isDone || pages.running() !== turn) return;
        await pages.refresh();
        const over = await isOver(turn);
        if (over && wasOver) pages.turnEnded(null);
        else look(turn, over);
      }),
    );
  }

  const follow = (item: StreamLine) => {
    const { kind, line } = tagged(item);
    if (kind === "decision" && (isOurs(line) || isAsked(line))) {
      if (line.decision === "duplicate") return;
      const { decision, rule, credit, channel: through = "", chat: place = "" } = line;
      const id = entryId({ id: line.id, channel: through, chat: place }, isHere(line));
      then(async () => {
        await pages.refresh();
        if (chat.find("taken", id) === null) return;
        chat.decided(id, { decision, rule, credit });
        pages.broadcast({ type: "decided", id, decision, rule });
      });
    } else if (kind === "send" && isOurs(line) && line.status === "sent" && !line.draft) {
      then(() => delivered(line.id));
    } else if (kind === "agent_start" && keys().includes(line.key)) {
      then(() => started(line));
    } else if (kind === "delta") {
      then(async () => pages.delta(line.turnId, line.text));
    } else if (kind === "agent_end" && keys().includes(line.key)) {
      then(() => ended(line));
    }
  };
  function changed(conv: number): void {
    if (!keys().some((key) => conversationOf(key).conv === conv)) return;
    then(() => (early === null ? pages.refresh() : started(early)));
  }
  function heard(frame: unknown): void {
    const moment = momentOf(frame);
    // At once, as on its own node: before the answer that comes in the same batch.
    if (moment?.type === "typing") pages.show(moment);
    // It is of a message that a page has to have.
    else if (moment !== null)
      then(async () => {
        await pages.refresh();
        if (moment.type === "attached") chat.attached(moment.id, moment.attachments);
        pages.show(moment);
      });
  }
  async function done(): Promise<void> {
    isDone = true;
    if (looking !== null) clock.clearTimer(looking);
    await within(clock, closeMsMax, work);
  }
  return { line: follow, changed, heard, done };
}
