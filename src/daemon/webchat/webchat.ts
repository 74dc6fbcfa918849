/**
 * The webchat hub
 * ===============
 * All open pages of the one chat, kept in sync: each message and answer reaches each page once, in
 * journal order, also when another page wrote it; transient frames (typing, acks, running text) go to the
 * connected pages, and to those of other nodes. It follows the event stream and reads the journal after events of its
 * sessions, and where the store is a copy of what several nodes store, whenever that has changed.
 */

import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import { conversationOf } from "../../actors/protocol/event-codec.ts";
import type { Runtime } from "../../actors/protocol/runtime.ts";
import type { RuntimeEvents } from "../../actors/protocol/runtime-events.ts";
import { type WebchatListener, webChatId } from "../../adapters/channels/webchat/channel.ts";
import type { AttachedFile } from "../../adapters/channels/webchat/protocol.ts";
import type { Upload } from "../../adapters/media/uploads.ts";
import { EarshotError } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import { type Attachment, type Inbound, inboundSchema } from "../../domain/message.ts";
import type { Clock, Log, Store } from "../../domain/ports/index.ts";
import type { TokenReader } from "../state/token.ts";
import { createFollower, type FollowerPorts } from "./follower.ts";
import { createWebchatHistory } from "./history.ts";
import { type SessionPorts, serveSession } from "./page-session.ts";
import { createPages, type FramesElsewhere, framesOf, type MomentFrame } from "./pages.ts";
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
  /** Pages of the other nodes; null: there are none. */
  readonly others: FramesElsewhere | null;
  readonly uploads: WebchatUploads;
}

export interface Webchat extends WebchatListener {
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  pages(): number;
  /** Numbers of the conversations that open pages show. */
  watched(): readonly number[];
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

export function createWebchat(ports: WebchatPorts): Webchat {
  const { uploads } = ports;
  const problem = () => (ports.isOn() ? ports.noCopy() : switchedOff);
  const chat = createWebchatHistory({
    store: ports.store,
    keys: ports.keys,
    isHere: (place) => place.channel === channel && place.chat.id === webChatId,
    filesOf: async (...part) => (await uploads.filesOf(...part)).map(shown),
  });
  const { clock, log, keys, store, isCopy, others } = ports;
  const pages = createPages({ clock, chat });
  const isHere: FollowerPorts["isHere"] = (line) =>
    line.channel === channel && line.chat === webChatId;
  const follower = createFollower({ clock, log, keys, store, isCopy, isHere, chat, pages });
  others?.hear(follower.heard);
  const show = (frame: MomentFrame) => {
    pages.show(frame);
    others?.report(frame);
  };
  const off = ports.events.add({
    line: follower.line,
    ...(isCopy && { changed: follower.changed }),
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
    typing: (_route, on) => show({ type: "typing", on }),
    ack: (_route, message, emoji, on) => show({ type: "ack", message, emoji, on }),
    async file(id) {
      return (await uploads.find(id)) === null ? null : uploads.open(id);
    },
    async media(request) {
      const { part, upload } = await uploads.say(request);
      const attachments = [shown(upload)];
      chat.attached(part, attachments);
      show({ type: "attached", id: part, attachments });
    },
    uploads,
    problem,
    pages: () => sockets.clients.size,
    watched: () => (pages.count() === 0 ? [] : keys().map((key) => conversationOf(key).conv)),
    async close() {
      off();
      uploads.stop();
      // The last messages are not on the pages yet.
      await follower.done();
      pages.stop();
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

/** A stored file, for pages. */
function shown({ id, kind, mime, bytes, name }: Upload): AttachedFile {
  return { id, kind, mime, bytes, ...(name === null ? {} : { name }) };
}
