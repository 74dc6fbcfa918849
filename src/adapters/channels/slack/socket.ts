/**
 * `@slack/socket-mode`, for the gateway
 * =====================================
 * One connection of Socket Mode (https://docs.slack.dev/apis/events-api/using-socket-mode). The library
 * opens it, answers pings and notices a dead one; it does not connect again by itself, because what was
 * said meanwhile must be read first. Frames that it could not handle do not reach it.
 */
import { SocketModeClient } from "@slack/socket-mode";
import { EarshotError } from "../../../domain/errors.ts";
import { late, within } from "../../../domain/ports/within.ts";
import { deadline } from "../../http/deadline.ts";
import { clientOptions, silentLogger, slackError } from "./api.ts";
import type { SlackSocket, SocketOptions } from "./inbox.ts";
import { eventCallbackSchema, frameSchema } from "./wire.ts";

const openMsMax = 20_000;
const pongMsMax = 10_000;

/** Names that the library gives to its own events. */
const reserved: ReadonlySet<string> = new Set([
  ...["connecting", "connected", "reconnecting", "disconnecting", "disconnected"],
  ...["authenticated", "error", "close", "ws_message", "outgoing_message", "slack_event"],
]);

class CheckedSocket extends SocketModeClient {
  readonly #options: SocketOptions;

  constructor(options: SocketOptions, appToken: string, signal: AbortSignal) {
    super({
      appToken,
      autoReconnectEnabled: false,
      clientPingTimeout: pongMsMax,
      logger: silentLogger,
      clientOptions: clientOptions(options.config, signal),
    });
    this.#options = options;
  }

  protected override async onWebSocketMessage(
    data: string | ArrayBuffer,
    isBinary: boolean,
  ): Promise<void> {
    if (typeof data !== "string" || isBinary) return this.#options.onUnreadable("binary");
    const why = problemOf(data);
    if (why === null) await super.onWebSocketMessage(data, isBinary);
    else this.#options.onUnreadable(why);
  }
}

/** Why the library could not handle a frame; null: it can. */
function problemOf(data: string): string | null {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    return "not JSON";
  }
  const frame = frameSchema.safeParse(value);
  if (!frame.success) return frame.error.issues[0]?.path.join(".") || "not an object";
  const { type, envelope_id, payload } = frame.data;
  if (type === "hello" || type === "disconnect") return null;
  if (envelope_id === undefined || payload === undefined) return "no envelope";
  if (reserved.has(type)) return "type";
  if (type !== "events_api") return null;
  const callback = eventCallbackSchema.safeParse(payload);
  if (!callback.success) return `payload.${callback.error.issues[0]?.path.join(".")}`;
  return reserved.has(callback.data.event.type) ? "payload.event.type" : null;
}

interface Delivered {
  readonly ack: (response?: object) => Promise<void>;
  readonly type: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Opens a connection. @throws EarshotError when Slack refuses it or cannot be reached */
export async function openSocket(
  options: SocketOptions,
  appToken: string,
  signal: AbortSignal,
): Promise<SlackSocket> {
  const method = "apps.connections.open";
  const limit = deadline(signal, openMsMax);
  const client = new CheckedSocket(options, appToken, limit.signal);
  const closed = new Promise<void>((resolve) => client.on("disconnected", () => resolve()));
  client.on("slack_event", ({ ack, type, body }: Delivered) => {
    // A connection that is gone cannot take it: Slack repeats what was not acknowledged.
    options.onDelivery({ type, body, ack: () => void ack().catch(() => undefined) });
  });
  const close = () => {
    // The second call does not wait for the other side to close as well.
    for (let call = 0; call < 2; call += 1) client.disconnect().catch(() => undefined);
  };
  try {
    const opened = await within(options.clock, openMsMax, client.start());
    if (opened === late || signal.aborted)
      throw new EarshotError(
        "EAR_CHANNEL_UNAVAILABLE",
        `Cannot ${method} at Slack: it took too long`,
      );
    return { closed, close };
  } catch (error) {
    close();
    if (error !== undefined) throw slackError(error, method, "connect");
    throw new EarshotError(
      "EAR_CHANNEL_UNAVAILABLE",
      "Cannot open Slack's socket: it closed before it was ready",
    );
  } finally {
    limit.done();
  }
}
