/**
 * Spoken answers
 * ==============
 * Follows the event stream and, where `media.speech` is configured, sends an answer as audio after
 * it was sent as text. The text is durable and never waits for the audio. A failure is logged, and
 * no audio is created again after a restart.
 */
import type { OutboundDirectory, Runtime } from "../../actors/protocol/runtime.ts";
import { type EarshotConfig, resolveMedia } from "../../domain/config/index.ts";
import { parseSessionKey } from "../../domain/key.ts";
import type { Route } from "../../domain/message.ts";
import type { Clock, Log, MediaService } from "../../domain/ports/index.ts";
import { late, withEither, within } from "../../domain/ports/within.ts";
import type { SendLine, StreamLine } from "../../domain/stream.ts";
import { tagged } from "../events/event-kinds.ts";

export interface SpeechPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly config: () => EarshotConfig;
  readonly media: Pick<MediaService, "speak">;
  readonly directory: Pick<OutboundDirectory, "outbound">;
  /** The speech setting of a session (`/tts`). */
  readonly session: Runtime["session"];
}

/** Answers that wait for audio; further ones are text only. */
const waitingMax = 32;
const sayMsMax = 120_000;

export interface Speech {
  /** Reads the stream. */
  line(item: StreamLine): void;
  /** Stops; no further audio is created. */
  stop(): void;
}

export function createSpeech(ports: SpeechPorts): Speech {
  const stopping = new AbortController();
  let waiting = 0;
  /** One at a time, in order, so that only one program runs. */
  let queue: Promise<void> = Promise.resolve();
  const line = (item: StreamLine): void => {
    const line = answerIn(item);
    if (stopping.signal.aborted || line === null || settingsOf(ports, line).speech === null) return;
    const { outbound } = ports.directory;
    if (outbound(line.channel, line.account)?.sendMedia === undefined) return;
    if (waiting >= waitingMax) {
      ports.log("warn", "speech.left-out", { key: line.key, id: line.id });
      return;
    }
    waiting += 1;
    queue = queue
      .then(() => say(ports, line, stopping.signal))
      .catch((error: unknown) => {
        if (stopping.signal.aborted) return;
        ports.log("warn", "speech.failed", { key: line.key, id: line.id, error: String(error) });
      })
      .finally(() => {
        waiting -= 1;
      });
  };
  return { line, stop: () => stopping.abort(new Error("stopping")) };
}

/** A sent text of an answer: not a draft, not reasoning or status, no file and no choices. */
function answerIn(item: StreamLine): SendLine | null {
  const { kind, line } = tagged(item);
  if (kind !== "send" || line.status !== "sent") return null;
  if (line.media !== undefined || line.choices !== undefined) return null;
  if (line.draft === true || line.aside !== undefined || line.text.trim() === "") return null;
  return line;
}

function settingsOf({ config }: SpeechPorts, { key, channel, account }: SendLine) {
  const { agentId } = parseSessionKey(key);
  return resolveMedia(config(), { agentId, key, channel, account });
}

async function say(ports: SpeechPorts, line: SendLine, stopping: AbortSignal): Promise<void> {
  const { clock, media, directory } = ports;
  stopping.throwIfAborted();
  if ((await ports.session(line.key))?.settings.tts === "off") return;
  const make = async (signal: AbortSignal) => {
    const file = await media.speak(line.text, settingsOf(ports, line), signal);
    const outbound = directory.outbound(line.channel, line.account);
    if (file === null || outbound?.sendMedia === undefined) return;
    await outbound.sendMedia({ ...file, route: routeOf(line), id: `${line.id}:speech`, signal });
  };
  const made = await within(clock, sayMsMax, (limit) => withEither([stopping, limit], make));
  if (made === late) throw new Error("too late");
}

/** The route of the text. */
function routeOf({ key, channel, account, chat, thread }: SendLine): Route {
  const parts = parseSessionKey(key);
  const kind = parts.kind === "group" || parts.kind === "channel" ? parts.kind : "direct";
  const place = thread === null ? null : ({ id: thread, kind: "topic" } as const);
  return { channel, account, chat: { id: chat, kind }, thread: place };
}
