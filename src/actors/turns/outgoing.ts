/**
 * Files and deliveries for running turns
 * ======================================
 * What a turn's host asks for while its agent sends a file or choices: the file, copied once its path
 * or address has passed the checks, and how the delivery of a part ended. Both are answered only for
 * a running turn. Failures are answers that begin with `Refused: `.
 */
import { z } from "zod";
import { agentOf, type EarshotConfig, resolveMedia } from "../../domain/config/index.ts";
import { EarshotError } from "../../domain/errors.ts";
import { parseSessionKey } from "../../domain/key.ts";
import { limits } from "../../domain/limits.ts";
import {
  type MediaAsked,
  mediaRequestSchema,
  type OutgoingKind,
  type OutgoingMedia,
} from "../../domain/outgoing.ts";
import type { Clock, Log, OutboxRow, OutgoingFiles, Store } from "../../domain/ports/index.ts";
import { late, within } from "../../domain/ports/within.ts";
import { oneLine } from "../../domain/sanitize.ts";
import { deliveryOf, isText } from "../outbox/row-body.ts";
import {
  answerFileRequest,
  deliveryRequest,
  fileRequest,
  reactionRequest,
} from "../protocol/context-tool-schemas.ts";
import type { ContextAnswer, ContextQuestion } from "../protocol/host-protocol.ts";
import type { OutboundDirectory } from "../protocol/runtime.ts";
import type { ReactionEnded, RuntimeEvents } from "../protocol/runtime-events.ts";

export interface OutgoingPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: Pick<Store, "outboxRow">;
  readonly events: Pick<RuntimeEvents, "add">;
  readonly directory: Pick<OutboundDirectory, "outbound">;
  readonly config: () => EarshotConfig;
  readonly agentOf: (key: string) => string;
  /** Null: files cannot be sent (a replay). */
  readonly files: OutgoingFiles | null;
  /** Whether the turn that asks is running. */
  readonly isRunning: (question: ContextQuestion) => boolean;
}

export interface Outgoing {
  /** Whether the question is for this. */
  takes(question: ContextQuestion): boolean;
  answer(question: ContextQuestion): Promise<ContextAnswer>;
}

const deliverySchema = z.strictObject({ index: z.number().int().min(0) });
const reactionSchema = z.strictObject({ message: z.string(), emoji: z.string() });
const answerSchema = z.strictObject({ text: z.string().min(1).max(limits.answerFileUnitsMax) });
const requests: ReadonlySet<string> = new Set([
  fileRequest,
  answerFileRequest,
  deliveryRequest,
  reactionRequest,
]);
const refused = (why: string) => `Refused: ${why}`;
const errorUnitsMax = 300;
/** Under the beginning of an answer that was sent. */
const answerNote = "[This answer is longer than is allowed here. This file has all of it.]";

export function createOutgoing(ports: OutgoingPorts): Outgoing {
  return {
    takes: ({ tool }) => requests.has(tool),
    async answer(question) {
      if (!ports.isRunning(question)) return refused("no such turn is running.");
      if (question.tool === deliveryRequest) {
        const { index } = deliverySchema.parse(question.input);
        return deliveryOfPart(ports, `${question.turnId}:${index}`);
      }
      if (question.tool === reactionRequest)
        return reactionOf(ports, question.key, reactionSchema.parse(question.input));
      if (question.tool === answerFileRequest) {
        const { text } = answerSchema.parse(question.input);
        return orRefusal(ports, question, answerFile(ports, question.key, text));
      }
      const asked = mediaRequestSchema.safeParse(question.input);
      if (!asked.success) return refused(z.prettifyError(asked.error).slice(0, errorUnitsMax));
      return orRefusal(ports, question, prepare(ports, question.key, asked.data));
    },
  };
}

/** A file that cannot be stored costs a warning. */
function orRefusal(
  ports: OutgoingPorts,
  { key }: ContextQuestion,
  file: Promise<ContextAnswer>,
): Promise<ContextAnswer> {
  return file.catch((error: unknown) => {
    ports.log("warn", "media.unsendable", { key, error: String(error) });
    const isOurs = error instanceof EarshotError;
    return refused(isOurs ? `${oneLine(error.message, errorUnitsMax)}.` : "it cannot be read.");
  });
}

/** The limits of files of a conversation, and of its agent. */
function limitsOf(ports: OutgoingPorts, key: string) {
  const agentId = ports.agentOf(key);
  const config = ports.config();
  // A session that several channels share has the limits of none of them.
  const { channel, account } = { channel: "", account: "", ...parseSessionKey(key) };
  const { maxBytes, storeBytesMax, timeoutMs } = resolveMedia(config, {
    agentId,
    key,
    channel,
    account,
  });
  const { workspace } = agentOf(config, agentId);
  return { workspace, bytesMax: maxBytes, totalMax: storeBytesMax, msMax: timeoutMs };
}

/** Stores a whole answer. */
async function answerFile(ports: OutgoingPorts, key: string, text: string): Promise<ContextAnswer> {
  if (ports.files === null) return refused("files cannot be sent here.");
  const stored = ports.files.keep(text, limitsOf(ports, key));
  const kept = await within(ports.clock, limits.askMsMax, stored);
  if (kept === late) return refused("it took too long.");
  const { id: file, ...about } = kept;
  return { media: { kind: "file", file, ...about, caption: answerNote } };
}

/** Copies the file and says what it is. */
async function prepare(ports: OutgoingPorts, key: string, asked: MediaAsked) {
  if (ports.files === null) return refused("files cannot be sent here.");
  const { source } = asked;
  const order = { source, ...limitsOf(ports, key) };
  const { files } = ports;
  const found = await within(ports.clock, limits.askMsMax, (signal) => files.take(order, signal));
  if (found === late) return refused("it took too long.");
  const { id: file, mime, bytes } = found;
  const fitting = kindFor(asked.kind, mime);
  if (fitting === null) return refused(`it is no ${asked.kind}: its content is ${mime}.`);
  const media: OutgoingMedia = {
    kind: fitting,
    file,
    name: asked.name ?? found.name,
    mime,
    bytes,
    caption: asked.caption ?? "",
    ...(/^https?:/iu.test(source) ? { url: source } : {}),
  };
  return { media };
}

/** The kind to show it as, by its content; null: it is not what was asked for. */
function kindFor(asked: OutgoingKind | undefined, mime: string): OutgoingKind | null {
  const [major = ""] = mime.split("/");
  const own = major === "image" || major === "audio" || major === "video" ? major : "file";
  if (asked === undefined || asked === "file" || asked === own) return asked ?? own;
  if (asked === "voice") return mime === "audio/ogg" ? "voice" : own === "audio" ? "audio" : null;
  // Ogg, MP4 and WebM hold audio or video, and a GIF may be a video.
  if (asked === "audio") return own === "video" ? "audio" : null;
  return asked === "video" && (mime === "audio/ogg" || mime === "image/gif") ? "video" : null;
}

const isOver = ({ state }: OutboxRow) =>
  state === "sent" || state === "dead" || state === "expired" || state === "in-doubt";

/** Waits for the end of a part, and says it in words for the agent. */
async function deliveryOfPart(ports: OutgoingPorts, id: string): Promise<string> {
  let ended: () => void = () => undefined;
  const end = new Promise<void>((resolve) => {
    ended = resolve;
  });
  const off = ports.events.add({
    line: (line) => {
      if ("out" in line && line.out === "send" && line.id === id) ended();
    },
  });
  try {
    const before = await ports.store.outboxRow(id);
    if (before === null || !isOver(before))
      await within(ports.clock, limits.deliveryWaitMsMax, end);
    const row = await ports.store.outboxRow(id);
    return row === null ? "Not sent yet: it waits." : described(row, ports.directory);
  } finally {
    off();
  }
}

/**
 * Waits for the end of a reaction, and says it in words for the agent. Asked before the reaction is
 * reported, so the end cannot have been missed.
 */
async function reactionOf(
  ports: OutgoingPorts,
  key: string,
  { message, emoji }: z.infer<typeof reactionSchema>,
): Promise<string> {
  let ended: (reaction: ReactionEnded) => void = () => undefined;
  const end = new Promise<ReactionEnded>((resolve) => {
    ended = resolve;
  });
  const off = ports.events.add({
    reacted: (reaction) => {
      if (reaction.key === key && reaction.message === message && reaction.emoji === emoji)
        ended(reaction);
    },
  });
  try {
    const found = await within(ports.clock, limits.deliveryWaitMsMax, () => end);
    if (found === late) return "Not put yet: it waits.";
    if (found.error === null) return "Reacted.";
    return `Not put: ${oneLine(found.error, errorUnitsMax)}.`;
  } finally {
    off();
  }
}

function described(row: OutboxRow, directory: OutgoingPorts["directory"]): string {
  const why = oneLine(row.error ?? "", errorUnitsMax) || "no reason given";
  switch (row.state) {
    case "sent":
      return shownAs(row, directory);
    case "dead":
      return `Not sent: ${why}.`;
    case "expired":
      return "Not sent: it became too old.";
    case "in-doubt":
      return `Perhaps sent: ${why}.`;
    default:
      return row.error === null
        ? "Not sent yet: it waits."
        : `Not sent yet: ${why}. It is tried again.`;
  }
}

function shownAs(row: OutboxRow, directory: OutgoingPorts["directory"]): string {
  const delivery = deliveryOf(row);
  if (!isText(delivery)) return "Sent.";
  const { media, choices, route } = delivery.body;
  const outbound = directory.outbound(route.channel, route.account);
  const asText =
    (media !== undefined && outbound?.sendMedia === undefined) ||
    (choices !== undefined && outbound?.sendChoices === undefined);
  if (!asText) return "Sent. Do not repeat it in your answer.";
  const what = media === undefined ? "a numbered list: no buttons" : "text: no files";
  return `Sent as ${what} can be shown here.`;
}
