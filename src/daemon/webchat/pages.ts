/**
 * The open pages of the web chat
 * ==============================
 * Each gets every entry once, in journal order, and what is shown for the moment: who writes, the turn that runs with its text
 * so far, and acks. A page that is opened later gets the moment as it is. Pages of other nodes are sent the same frames;
 * theirs come back here. Nothing durable depends on a frame, so one that is lost is made good by the next, or by a limit.
 */
import {
  type AttachedFile,
  type ServerFrame,
  serverFrameSchema,
} from "../../adapters/channels/webchat/protocol.ts";
import type { Millis } from "../../domain/message.ts";
import type { Clock, TimerHandle } from "../../domain/ports/index.ts";
import type { AgentEndLine } from "../../domain/stream.ts";
import { causeText } from "../../domain/stream.ts";
import type { WebchatEntry, WebchatHistory } from "./history.ts";
import type { WebchatSession } from "./page-session.ts";

/** Pages of the other nodes. */
export interface FramesElsewhere {
  /** Sends it to them; one that cannot be sent is lost. */
  report(frame: MomentFrame): void;
  /** Calls `listener` with what comes from there, which may be of another version. */
  hear(listener: (frame: unknown) => void): void;
}

/** What only the node knows on which the conversation is active: the rest is in the event stream and the copy. */
export type MomentFrame = Extract<ServerFrame, { type: "typing" | "ack" | "attached" }>;

/** Decisions sent again to a page that reconnects. */
const decisionsResentMax = 50;
/** Typing is renewed every 6 s at least; where it was not for so long, its node has died or its time is over. */
const typingMsMax: Millis = 20_000;

export interface PagesPorts {
  readonly clock: Pick<Clock, "setLimit" | "clearTimer">;
  readonly chat: Pick<WebchatHistory, "after" | "refresh" | "taken">;
}

export type Pages = ReturnType<typeof createPages>;

export function createPages({ clock, chat }: PagesPorts) {
  const all = new Set<WebchatSession>();
  /** Set while typing is shown: its limit. */
  let typing: TimerHandle | null = null;
  let isStopped = false;
  let turn: { readonly id: string; readonly key: string; text: string } | null = null;

  const broadcast = (frame: ServerFrame) => {
    for (const session of all) session.send(frame);
  };
  const bring = (session: WebchatSession) => {
    for (const entry of chat.after(session.sentTo)) {
      session.sentTo = entry.n;
      for (const frame of framesOf(entry)) session.send(frame);
    }
  };
  const show = (frame: MomentFrame) => {
    if (frame.type === "typing") {
      if (typing !== null) clock.clearTimer(typing);
      typing =
        frame.on && !isStopped
          ? clock.setLimit(typingMsMax, () => show({ type: "typing", on: false }))
          : null;
    }
    broadcast(frame);
  };
  return {
    broadcast,
    show,
    count: () => all.size,
    async refresh() {
      await chat.refresh();
      for (const session of all) bring(session);
    },
    open(session: WebchatSession) {
      // A decision has no number: the page may have disconnected between a message and its decision.
      for (const { n, id, verdict } of chat.taken().slice(-decisionsResentMax))
        if (n <= session.sentTo && verdict !== null)
          session.send({ type: "decided", id, decision: verdict.decision, rule: verdict.rule });
      bring(session);
      all.add(session);
      if (turn !== null) {
        session.send({ type: "turn", turnId: turn.id, state: "start", key: turn.key });
        if (turn.text !== "") session.send({ type: "delta", turnId: turn.id, text: turn.text });
      }
      if (typing !== null) session.send({ type: "typing", on: true });
    },
    close: (session: WebchatSession) => void all.delete(session),
    /** The id of the turn that is shown; null: none is. */
    running: () => turn?.id ?? null,
    turnStarted(id: string, key: string) {
      if (turn?.id === id) return;
      turn = { id, key, text: "" };
      broadcast({ type: "turn", turnId: id, state: "start", key });
    },
    delta(turnId: string, text: string) {
      if (turn?.id !== turnId) return;
      turn.text = text;
      broadcast({ type: "delta", turnId, text });
    },
    /** @param end null: it is not known how */
    turnEnded(end: Pick<AgentEndLine, "outcome" | "cause"> | null) {
      if (turn === null) return;
      const how = end === null ? {} : { outcome: end.outcome };
      const why = end?.cause === undefined ? {} : { cause: causeText(end.cause) };
      broadcast({ type: "turn", turnId: turn.id, state: "end", ...how, ...why });
      turn = null;
    },
    stop() {
      isStopped = true;
      if (typing !== null) clock.clearTimer(typing);
    },
  };
}

/** What a page of another node was shown; null: a newer version may send more. */
export function momentOf(frame: unknown): MomentFrame | null {
  const { data } = serverFrameSchema.safeParse(frame);
  const isOne = data?.type === "typing" || data?.type === "ack" || data?.type === "attached";
  return isOne ? data : null;
}

/** Omits the field if there are no files. */
const filesIn = (attachments: readonly AttachedFile[]) =>
  attachments.length === 0 ? {} : { attachments: [...attachments] };

export function framesOf(entry: WebchatEntry): ServerFrame[] {
  if (entry.kind === "cut") {
    const { kind: type, id: _, ...rest } = entry;
    return [{ type, ...rest }];
  }
  if (entry.kind === "session") {
    const { n, at, why, by } = entry;
    return [{ type: "session", n, at, why, ...(by === null ? {} : { by }) }];
  }
  if (entry.kind === "said") {
    const { kind: _, via, attachments, choices, ...rest } = entry;
    const through = via === null ? {} : { via: via.channel };
    const buttons = choices === null ? {} : { choices };
    return [{ type: "said", ...rest, ...through, ...filesIn(attachments), ...buttons }];
  }
  const { id, n, at, text, verdict, via, message, attachments } = entry;
  const through = via === null ? {} : { via: via.channel, by: via.by, message };
  const taken: ServerFrame = {
    type: "taken",
    id,
    n,
    at,
    text,
    ...through,
    ...filesIn(attachments),
  };
  if (verdict === null) return [taken];
  return [taken, { type: "decided", id, decision: verdict.decision, rule: verdict.rule }];
}
