/**
 * Calls the platform within `sendMsMax` and classifies what is known afterwards. A call without an
 * answer is in doubt: only an error that says that nothing was sent allows another attempt.
 */
import { EarshotError } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import type { ChannelOutbound, Clock, SendReceipt, SendRequest } from "../../domain/ports/index.ts";
import { late, withEither, within } from "../../domain/ports/within.ts";
import { type Delivery, isText, type TextBody } from "./row-body.ts";

export type SendOutcome =
  | { readonly kind: "confirm"; readonly messageIds: readonly string[] }
  | {
      readonly kind: "defer";
      readonly afterMs: number | null;
      readonly wholeAccount: boolean;
      error: string;
    }
  /** Nothing was called: another node has the connection. */
  | { readonly kind: "withhold"; readonly error: string }
  | { readonly kind: "refuse"; readonly error: string }
  /** `stated`: the adapter reports the doubt itself. */
  | { readonly kind: "doubt"; readonly error: string; readonly stated: boolean };

/** What a call that was made has come to. */
export type CallOutcome = Exclude<SendOutcome, { readonly kind: "withhold" }>;

const notOurs = "not called: this process does not own its database";
const tooSlow = `no answer within ${limits.sendMsMax / 1_000} s`;

/** What limits a call. */
export interface CallLimits {
  readonly clock: Clock;
  /** Aborts every call: the runtime stops. */
  readonly stop: AbortSignal;
  /** Asked right before each call: false when another process sends now. */
  readonly mayAct: () => boolean;
}

/** The bytes of a file to send; null: it is gone. */
export type ReadFile = (id: string) => Promise<Uint8Array | null>;

/**
 * Never throws: whatever the adapter does is an outcome.
 * @param target the platform's id of the message that an edit replaces.
 */
export async function trySend(
  ports: CallLimits & { readonly readFile: ReadFile },
  outbound: ChannelOutbound,
  delivery: Delivery,
  target: string | null,
): Promise<SendOutcome> {
  const { media } = delivery.body as Partial<TextBody>;
  const takes = media !== undefined && outbound.sendMedia !== undefined;
  // Read before the call, so that a disk that fails leaves no doubt about what was sent.
  let data: Uint8Array | null = null;
  try {
    if (takes) data = await ports.readFile(media.file);
  } catch (error) {
    // It is kept where it cannot be reached now: the text is no substitute for a file that is there.
    if (error instanceof EarshotError && error.disposition === "retry") return outcomeOf(error);
  }
  const outcome = await tryCall(ports, (signal) =>
    perform(outbound, delivery, { target, data }, signal),
  );
  // Writing the same text twice changes nothing: an edit without an answer is tried again.
  if (delivery.row.kind !== "edit" || outcome.kind !== "doubt" || outcome.stated) return outcome;
  return { kind: "defer", afterMs: null, wholeAccount: false, error: outcome.error };
}

/** One call of a platform; resolves to the ids of the messages that it created. */
export async function tryCall(
  { clock, stop, mayAct }: CallLimits,
  call: (signal: AbortSignal) => Promise<readonly string[]>,
): Promise<SendOutcome> {
  if (!mayAct()) return { kind: "defer", afterMs: null, wholeAccount: false, error: notOurs };
  const outcome = await within(
    clock,
    limits.sendMsMax,
    (signal) =>
      withEither([stop, signal], call).then(
        (messageIds): SendOutcome => ({ kind: "confirm", messageIds }),
        outcomeOf,
      ),
    () => new EarshotError("EAR_SEND_IN_DOUBT", `Cannot confirm the send: ${tooSlow}`),
  );
  return outcome === late ? { kind: "doubt", error: tooSlow, stated: false } : outcome;
}

async function perform(
  outbound: ChannelOutbound,
  delivery: Delivery,
  { target, data }: { readonly target: string | null; readonly data: Uint8Array | null },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { row, body } = delivery;
  if (!isText(delivery)) {
    const { route, message, emoji } = body as typeof body & { message: string; emoji: string };
    if (row.kind === "react") await outbound.addReaction?.(route, message, emoji, signal);
    else await outbound.removeReaction?.(route, message, emoji, signal);
    return [];
  }
  const { route, text, replyTo, quote, carried: attempt, expiresAt } = delivery.body;
  const carried = attempt === undefined ? {} : { attempt, expiresAt };
  const request = { route, text, id: row.id, signal, ...carried };
  if (target !== null) {
    await outbound.editText?.({ ...request, messageId: target });
    return [target];
  }
  const extra = await sendExtra(outbound, delivery.body, request, data);
  if (extra !== null) return extra.messageIds;
  const receipt =
    replyTo === null
      ? await outbound.sendText(request)
      : await outbound.replyText({ ...request, replyTo, quote });
  return receipt.messageIds;
}

/** Sends a file or choices; null: there are none, or the text is sent instead. */
async function sendExtra(
  outbound: ChannelOutbound,
  { media, choices, replyTo }: TextBody,
  request: SendRequest,
  data: Uint8Array | null,
): Promise<SendReceipt | null> {
  const reply = replyTo === null ? {} : { replyTo };
  if (media !== undefined && data !== null && outbound.sendMedia !== undefined) {
    const { text: _, ...sent } = request;
    const { kind, mime, name, caption, url } = media;
    const file = { ...sent, kind, mime, name, caption, data, ...reply };
    return outbound.sendMedia({ ...file, ...(url === undefined ? {} : { url }) });
  }
  if (choices !== undefined && outbound.sendChoices !== undefined)
    return outbound.sendChoices({ ...request, choices, ...reply });
  return null;
}

function outcomeOf(error: unknown): SendOutcome {
  if (!(error instanceof EarshotError)) {
    // An adapter that fails with an unknown error may have sent before it failed.
    const what = String((error as Error)?.message ?? error);
    return { kind: "doubt", error: `unexpected: ${what}`, stated: false };
  }
  if (error.code === "EAR_LEASE_LOST") return { kind: "withhold", error: error.message };
  switch (error.disposition) {
    case "retry":
      return {
        kind: "defer",
        afterMs: error.retryAfterMs ?? null,
        wholeAccount: error.code === "EAR_CHANNEL_RATE",
        error: error.message,
      };
    case "terminal":
      return { kind: "refuse", error: error.message };
    default:
      return { kind: "doubt", error: error.message, stated: true };
  }
}
