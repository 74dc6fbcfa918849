/**
 * The webchat hub
 * ===============
 * All open pages of the one chat, kept in step: what is taken or said reaches each of them once, in
 * journal order, whoever wrote it; what is of the moment (typing, acks, the running text) goes to
 * those who are here now. It follows the event stream and reads the journal when something of ours
 * happened.
 */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import type { Runtime } from "../actors/runtime.types.ts";
import { type WebchatListener, webChatId } from "../adapters/channels/webchat.ts";
import type { ServerFrame } from "../adapters/channels/webchat-protocol.ts";
import { EarshotError } from "../domain/errors.ts";
import { limits } from "../domain/limits.ts";
import { type Inbound, inboundSchema } from "../domain/message.ts";
import type { Clock, Log, OutboxRow, Store } from "../domain/ports.ts";
import type { AgentEndLine, AgentStartLine, DecisionLine, StreamLine } from "../domain/stream.ts";
import type { Bus } from "./bus.ts";
import type { TokenReader } from "./guard.ts";
import { tagged } from "./lines.ts";
import { createWebchatLog, entryId, type WebchatEntry, type WebchatLog } from "./webchat-log.ts";
import { type SessionPorts, serveSession, type WebchatSession } from "./webchat-session.ts";

export interface WebchatPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly bus: Bus;
  readonly store: Store;
  readonly runtime: Pick<Runtime, "ingest">;
  readonly readToken: TokenReader;
  /** The agent a page talks to, and the sessions its chat belongs to. */
  readonly agent: () => { readonly id: string; readonly name: string };
  readonly keys: () => readonly string[];
  /** Whether the config has the channel switched on. */
  readonly isOn: () => boolean;
}

export interface Webchat extends WebchatListener {
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  pages(): number;
  /** Tells the pages what is known already, and lets them go. */
  close(): Promise<void>;
}

const channel = "webchat";
const account = "default";
/** Decisions told again to a page that comes back. */
const decisionsTold = 50;
/** How long the pages are told what was said last when the daemon stops, ms. */
const closeMsMax = 2_000;
/** A part that was sent is in the journal very soon after; looked for in these steps, ms. */
const lookAgainMs = [0, 10, 30, 100, 300, 1_000, 3_000] as const;

export function createWebchat(ports: WebchatPorts): Webchat {
  const chat = createWebchatLog({
    store: ports.store,
    keys: ports.keys,
    isHere: (place) => place.channel === channel && place.chat.id === webChatId,
  });
  const pages = createPages(chat);
  const follower = createFollower(ports, chat, pages);
  const off = ports.bus.subscribe(follower.line);
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: limits.bodyBytesMax,
    perMessageDeflate: false,
  });
  const sessionPorts: SessionPorts = {
    clock: ports.clock,
    log: ports.log,
    readToken: ports.readToken,
    async opened(session, after) {
      await chat.refresh();
      session.sentTo = after;
      session.send({ type: "ready", agent: ports.agent(), n: chat.readTo() });
      pages.open(session);
    },
    async take(session, { id, text, replyTo }) {
      if (!ports.isOn())
        throw new EarshotError(
          "EAR_CHANNEL_UNAVAILABLE",
          "Cannot take this as the webchat is switched off: set channels.webchat.enabled to true",
        );
      const repliesToUs = replyTo !== null && chat.find("said", replyTo) !== null;
      const message = messageOf({ id, text, replyTo, repliesToUs });
      await ports.runtime.ingest(channel, account, [{ type: "message", message }]);
      const repeated = chat.find("taken", id);
      await pages.refresh();
      // A repeated message is an old entry: the page that repeated it has to hear so again.
      if (repeated !== null && repeated.n <= session.sentTo)
        for (const frame of framesOf(repeated)) session.send(frame);
    },
    closed: (session) => pages.close(session),
  };
  return {
    upgrade(request, socket, head) {
      sockets.handleUpgrade(request, socket, head, (page) =>
        serveSession(page, socket, sessionPorts),
      );
    },
    typing: (_route, on) => pages.typing(on),
    ack: (_route, message, emoji, on) => pages.tell({ type: "ack", message, emoji, on }),
    pages: () => sockets.clients.size,
    async close() {
      off();
      // What was said last is still on its way to the pages.
      await follower.done();
      for (const page of sockets.clients) page.close(1_001, "stopping");
      sockets.close();
    },
  };
}

/** The message a frame stands for. The sender of this channel is the owner. */
function messageOf(frame: {
  id: string;
  text: string;
  replyTo: string | null;
  repliesToUs: boolean;
}): Inbound {
  const { id, text, replyTo, repliesToUs } = frame;
  return inboundSchema.parse({
    channel,
    account,
    chat: { id: webChatId, kind: "direct" },
    id,
    author: { id: "owner", name: "owner" },
    text,
    replyTo: replyTo === null ? null : { id: replyTo, authorIsSelf: repliesToUs },
  });
}

type Pages = ReturnType<typeof createPages>;

/** The open pages, and what they are shown of the moment. */
function createPages(chat: WebchatLog) {
  const all = new Set<WebchatSession>();
  let typing = false;
  let turn: { readonly id: string; text: string } | null = null;

  const tell = (frame: ServerFrame) => {
    for (const session of all) session.send(frame);
  };
  const bring = (session: WebchatSession) => {
    for (const entry of chat.after(session.sentTo)) {
      session.sentTo = entry.n;
      for (const frame of framesOf(entry)) session.send(frame);
    }
  };
  return {
    tell,
    async refresh() {
      await chat.refresh();
      for (const session of all) bring(session);
    },
    open(session: WebchatSession) {
      // A decision has no number: the page may have gone between a message and what was decided of
      // it.
      for (const { n, id, verdict } of chat.taken().slice(-decisionsTold))
        if (n <= session.sentTo && verdict !== null)
          session.send({ type: "decided", id, decision: verdict.decision, rule: verdict.rule });
      bring(session);
      all.add(session);
      if (turn !== null) {
        session.send({ type: "turn", turnId: turn.id, state: "start" });
        if (turn.text !== "") session.send({ type: "delta", turnId: turn.id, text: turn.text });
      }
      if (typing) session.send({ type: "typing", on: true });
    },
    close: (session: WebchatSession) => void all.delete(session),
    typing(on: boolean) {
      typing = on;
      tell({ type: "typing", on });
    },
    running: () => turn?.id ?? null,
    turnStarted(id: string) {
      turn = { id, text: "" };
      tell({ type: "turn", turnId: id, state: "start" });
    },
    delta(turnId: string, text: string) {
      if (turn?.id !== turnId) return;
      turn.text = text;
      tell({ type: "delta", turnId, text });
    },
    turnEnded(outcome: string) {
      if (turn === null) return;
      tell({ type: "turn", turnId: turn.id, state: "end", outcome });
      turn = null;
    },
  };
}

/**
 * Follows the event stream; lines are handled one after the other, as each may read the journal.
 */
function createFollower(
  { clock, log, keys, store }: WebchatPorts,
  chat: WebchatLog,
  pages: Pages,
): { readonly line: (line: StreamLine) => void; readonly done: () => Promise<void> } {
  let work: Promise<void> = Promise.resolve();
  const then = (next: () => Promise<void>) => {
    work = work
      .then(next)
      .catch((error: unknown) => log("error", "webchat.read-failed", { error }));
  };
  const isHere = (line: { channel?: string; chat?: string }) =>
    line.channel === channel && line.chat === webChatId;

  /** Of the session, whatever channel it came through. */
  const isOurs = (line: { key: string | null; channel?: string; chat?: string }) =>
    isHere(line) || (line.key !== null && keys().includes(line.key));
  /** A command is of no session until its message was found. */
  const isAsked = ({ key, decision }: DecisionLine) => key === null && decision === "command";

  /** A reply part that is leaving, or has left and was not read yet. */
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
  async function started({ batch }: AgentStartLine): Promise<void> {
    await pages.refresh();
    const id = chat.lastTurn();
    if (id !== null && batch.some((message) => chat.holds(message))) pages.turnStarted(id);
  }
  /**
   * The agent is done before its last words are delivered; the turn ends for a page when they are.
   */
  async function ended({ outcome }: AgentEndLine): Promise<void> {
    const turn = pages.running();
    for (const wait of lookAgainMs) {
      if (wait > 0) await new Promise<void>((go) => clock.setTimer(clock.now() + wait, go));
      await pages.refresh();
      const rows = turn === null ? [] : await store.outboxByTurn(turn);
      if (!rows.some(isUnshown)) break;
    }
    pages.turnEnded(outcome);
  }

  const follow = (told: StreamLine) => {
    const { kind, line } = tagged(told);
    if (kind === "decision" && (isOurs(line) || isAsked(line))) {
      if (line.decision === "duplicate") return;
      const { decision, rule, credit, channel: through = channel, chat: place = "" } = line;
      const id = entryId({ id: line.id, channel: through, chat: place }, isHere(line));
      then(async () => {
        await pages.refresh();
        if (chat.find("taken", id) === null) return;
        chat.decided(id, { decision, rule, credit });
        pages.tell({ type: "decided", id, decision, rule });
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
  async function done(): Promise<void> {
    const late = new Promise<void>((go) => {
      const timer = clock.setTimer(clock.now() + closeMsMax, go);
      void work.then(() => clock.clearTimer(timer));
    });
    await Promise.race([work, late]);
  }
  return { line: follow, done };
}

function framesOf(entry: WebchatEntry): ServerFrame[] {
  if (entry.kind === "said") {
    const { kind: _, via, ...said } = entry;
    return [{ type: "said", ...said, ...(via === null ? {} : { via: via.channel }) }];
  }
  const { id, n, at, text, verdict, via, message } = entry;
  const through = via === null ? {} : { via: via.channel, by: via.by, message };
  const taken: ServerFrame = { type: "taken", id, n, at, text, ...through };
  if (verdict === null) return [taken];
  return [taken, { type: "decided", id, decision: verdict.decision, rule: verdict.rule }];
}
