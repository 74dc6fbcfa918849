/**
 * The webchat hub
 * ===============
 * All open pages of the one chat, kept in sync: each message and answer reaches each page once, in
 * journal order, also when another page wrote it; transient frames (typing, acks, running text) go to the
 * connected pages. It follows the event stream and reads the journal after events of its sessions, and where the store
 * is a copy of what several nodes store, whenever that has changed: lines of a node that died may never come.
 */

import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import { conversationOf } from "../../actors/protocol/event-codec.ts";
import type { Runtime } from "../../actors/protocol/runtime.ts";
import type { RuntimeEvents } from "../../actors/protocol/runtime-events.ts";
import { type WebchatListener, webChatId } from "../../adapters/channels/webchat/channel.ts";
import type { AttachedFile, ServerFrame } from "../../adapters/channels/webchat/protocol.ts";
import type { Upload } from "../../adapters/media/uploads.ts";
import { EarshotError } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import { type Attachment, type Inbound, inboundSchema } from "../../domain/message.ts";
import type { Clock, Log, OutboxRow, Store } from "../../domain/ports/index.ts";
import { within } from "../../domain/ports/within.ts";
import type {
  AgentEndLine,
  AgentStartLine,
  DecisionLine,
  StreamLine,
} from "../../domain/stream.ts";
import { causeText } from "../../domain/stream.ts";
import { tagged } from "../events/event-kinds.ts";
import type { TokenReader } from "../state/token.ts";
import {
  createWebchatHistory,
  entryId,
  type WebchatEntry,
  type WebchatHistory,
} from "./history.ts";
import { type SessionPorts, serveSession, type WebchatSession } from "./page-session.ts";
import type { WebchatUploads } from "./uploads.ts";

export interface WebchatPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly events: Pick<RuntimeEvents, "add">;
  readonly store: Store;
  readonly runtime: Pick<Runtime, "ingest">;
  readonly readToken: TokenReader;
  /** The agent of the chat, and its sessions. */
  readonly agent: () => { readonly id: string; readonly name: string };
  readonly keys: () => readonly string[];
  /** Whether the channel is enabled. */
  readonly isOn: () => boolean;
  /** Why answers could not be shown here; null: they are. */
  readonly noCopy: () => string | null;
  /** The store is a copy of what several nodes store. */
  readonly isCopy: boolean;
  readonly uploads: WebchatUploads;
}

export interface Webchat extends WebchatListener {
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  pages(): number;
  readonly uploads: WebchatUploads;
  /** Why messages are not accepted; null: they are. */
  problem(): string | null;
  /** Sends pending messages to the pages and closes them. */
  close(): Promise<void>;
}

const switchedOff =
  "Cannot accept this: the web chat is disabled. Set channels.webchat.enabled to true";
const channel = "webchat";
const account = "default";
/** Decisions sent again to a page that reconnects. */
const decisionsResentMax = 50;
/** How long the last messages may take to reach the pages when the daemon stops, ms. */
const closeMsMax = 2_000;
/** A sent part is in the journal very soon; it is polled at these intervals, ms. */
const lookAgainMs = [0, 10, 30, 100, 300, 1_000, 3_000] as const;

export function createWebchat(ports: WebchatPorts): Webchat {
  const { uploads } = ports;
  const problem = () => (ports.isOn() ? ports.noCopy() : switchedOff);
  const chat = createWebchatHistory({
    store: ports.store,
    keys: ports.keys,
    isHere: (place) => place.channel === channel && place.chat.id === webChatId,
    filesOf: async (part) => (await uploads.filesOf(part)).map(shown),
  });
  const pages = createPages(chat);
  const follower = createFollower(ports, chat, pages);
  const off = ports.events.add({
    line: follower.line,
    ...(ports.isCopy && { changed: follower.changed }),
  });
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
      const ready = { agent: ports.agent(), n: chat.readTo(), uploads: uploads.limits() };
      session.send({ type: "ready", ...ready });
      pages.open(session);
    },
    async take(session, { id, text, replyTo, attachments: ids }) {
      if (!ports.isOn()) throw new EarshotError("EAR_CHANNEL_UNAVAILABLE", switchedOff);
      const why = ports.noCopy();
      if (why !== null) throw new EarshotError("EAR_CHANNEL_REJECTED", why);
      const repliesToUs = replyTo !== null && chat.find("said", replyTo) !== null;
      // A repeated message is not accepted again, whatever happened to its files.
      const repeated = chat.find("taken", id);
      const attachments = repeated === null ? await uploads.send(ids, id) : [];
      const message = messageOf({ id, text, replyTo, repliesToUs, attachments });
      await ports.runtime.ingest(channel, account, [{ type: "message", message }]);
      await pages.refresh();
      // A repeated message is an old entry, which its page has to receive again.
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
    ack: (_route, message, emoji, on) => pages.broadcast({ type: "ack", message, emoji, on }),
    async file(id) {
      return (await uploads.find(id)) === null ? null : uploads.open(id);
    },
    async media(request) {
      const { part } = await uploads.say(request);
      const attachments = (await uploads.filesOf(part)).map(shown);
      chat.attached(part, attachments);
      pages.broadcast({ type: "attached", id: part, attachments });
    },
    uploads,
    problem,
    pages: () => sockets.clients.size,
    async close() {
      off();
      uploads.stop();
      // The last messages are not on the pages yet.
      await follower.done();
      for (const page of sockets.clients) page.close(1_001, "stopping");
      sockets.close();
    },
  };
}

/** The message of a frame. The sender of this channel is the owner. */
function messageOf(frame: {
  id: string;
  text: string;
  replyTo: string | null;
  repliesToUs: boolean;
  attachments: readonly Attachment[];
}): Inbound {
  const { id, text, replyTo, repliesToUs, attachments } = frame;
  return inboundSchema.parse({
    channel,
    account,
    chat: { id: webChatId, kind: "direct" },
    id,
    author: { id: "owner", name: "owner" },
    text,
    attachments,
    replyTo: replyTo === null ? null : { id: replyTo, authorIsSelf: repliesToUs },
  });
}

type Pages = ReturnType<typeof createPages>;

/** The open pages, and the transient state shown there. */
function createPages(chat: WebchatHistory) {
  const all = new Set<WebchatSession>();
  let typing = false;
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
  return {
    broadcast,
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
      if (typing) session.send({ type: "typing", on: true });
    },
    close: (session: WebchatSession) => void all.delete(session),
    typing(on: boolean) {
      typing = on;
      broadcast({ type: "typing", on });
    },
    running: () => turn?.id ?? null,
    turnStarted(id: string, key: string) {
      turn = { id, key, text: "" };
      broadcast({ type: "turn", turnId: id, state: "start", key });
    },
    delta(turnId: string, text: string) {
      if (turn?.id !== turnId) return;
      turn.text = text;
      broadcast({ type: "delta", turnId, text });
    },
    turnEnded({ outcome, cause }: AgentEndLine) {
      if (turn === null) return;
      const why = cause === undefined ? {} : { cause: causeText(cause) };
      broadcast({ type: "turn", turnId: turn.id, state: "end", outcome, ...why });
      turn = null;
    },
  };
}

/**
 * Follows the event stream; lines are handled one after the other, as each may read the journal.
 */
function createFollower(
  { clock, log, keys, store }: WebchatPorts,
  chat: WebchatHistory,
  pages: Pages,
): {
  readonly line: (line: StreamLine) => void;
  readonly changed: (conv: number) => void;
  readonly done: () => Promise<void>;
} {
  let work: Promise<void> = Promise.resolve();
  const then = (next: () => Promise<void>) => {
    work = work
      .then(next)
      .catch((error: unknown) => log("error", "webchat.read-failed", { error }));
  };
  const isHere = (line: { channel?: string; chat?: string }) =>
    line.channel === channel && line.chat === webChatId;

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
  async function started({ batch, key }: AgentStartLine): Promise<void> {
    await pages.refresh();
    const id = chat.lastTurn();
    if (id !== null && batch.some((message) => chat.holds(message))) pages.turnStarted(id, key);
  }
  /**
   * The agent ends before its last parts are delivered; for a page, the turn ends with them.
   */
  async function ended(line: AgentEndLine): Promise<void> {
    const turn = pages.running();
    for (const wait of lookAgainMs) {
      if (wait > 0) await new Promise<void>((go) => clock.setTimer(clock.now() + wait, go));
      await pages.refresh();
      const rows = turn === null ? [] : await store.outboxByTurn(turn);
      if (!rows.some(isUnshown)) break;
    }
    pages.turnEnded(line);
  }

  const follow = (item: StreamLine) => {
    const { kind, line } = tagged(item);
    if (kind === "decision" && (isOurs(line) || isAsked(line))) {
      if (line.decision === "duplicate") return;
      const { decision, rule, credit, channel: through = channel, chat: place = "" } = line;
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
    if (keys().some((key) => conversationOf(key).conv === conv)) then(() => pages.refresh());
  }
  async function done(): Promise<void> {
    await within(clock, closeMsMax, work);
  }
  return { line: follow, changed, done };
}

/** Omits the field if there are no files. */
const filesIn = (attachments: readonly AttachedFile[]) =>
  attachments.length === 0 ? {} : { attachments: [...attachments] };

/** A stored file, for pages. */
function shown({ id, kind, mime, bytes, name }: Upload): AttachedFile {
  return { id, kind, mime, bytes, ...(name === null ? {} : { name }) };
}

function framesOf(entry: WebchatEntry): ServerFrame[] {
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
