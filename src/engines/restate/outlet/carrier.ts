/**
 * Calls of an account, on a node that does not have its connection
 * ================================================================
 * Each is one call of the object `outlet`, which answers what became of it. Whatever breaks meanwhile, it is asked
 * again with the same id, so it is made once.
 */
import { EarshotError, type ErrorCode, isErrorCode } from "../../../domain/errors.ts";
import type { Millis, Route } from "../../../domain/message.ts";
import { engineLimits } from "../../../domain/ports/engine/engine-limits.ts";
import type {
  CarriedOutbound,
  ChannelOutbound,
  Clock,
  Log,
  SendReceipt,
  SendRequest,
} from "../../../domain/ports/index.ts";
import { pauseFor } from "../../../domain/ports/pause.ts";
import { answerOf, type IngressCall, RefusedCall } from "../calls/ingress-call.ts";
import { storeFile } from "./files.ts";
import { type Call, type Hint, outletPath, type Result, resultSchema, type Send } from "./wire.ts";

export interface CarrierPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly call: IngressCall;
  /** Never the same twice, on any node. */
  readonly newAttempt: () => string;
}

/** Of one account. */
export interface Carrier {
  outbound(like: ChannelOutbound): CarriedOutbound;
  /** Best effort. */
  hint(hint: Hint): void;
}

interface Asked {
  readonly attempt?: string | undefined;
  readonly expiresAt?: Millis | undefined;
}

export function createCarrier(ports: CarrierPorts, channel: string, account: string): Carrier {
  const { clock, log, call, newAttempt } = ports;
  const path = (handler: string) => outletPath(channel, account, handler);
  /** When typing was said last, by place: the holder goes on with it by itself. */
  const typing = new Map<string, Millis>();

  /** @throws EarshotError EAR_SEND_IN_DOUBT: it is not known in time, or what the platform's call threw */
  async function carry(send: Send, signal: AbortSignal): Promise<SendReceipt> {
    const late = clock.setLimit(engineLimits.outletWaitMs, () => {
      call(path("withdraw"), { attempt: send.attempt }).catch((error: unknown) =>
        log("debug", "outlet.asked-again", { channel, account, error: String(error) }),
      );
    });
    try {
      for (;;) {
        signal.throwIfAborted();
        const result = await ask(send, signal);
        if (result !== null) return receiptOf(result);
        await pauseFor(clock, engineLimits.outletAgainMs, signal);
      }
    } finally {
      clock.clearTimer(late);
    }
  }

  /** Null: Restate cannot be reached. */
  async function ask(send: Send, signal: AbortSignal): Promise<Result | null> {
    try {
      const answer = await call(path("send"), send, { signal, onceId: send.attempt });
      return answerOf(resultSchema, answer, path("send"));
    } catch (error) {
      signal.throwIfAborted();
      // It will never take this one.
      if (error instanceof RefusedCall && error.status === 400) throw asRejected(error);
      log("debug", "outlet.asked-again", { channel, account, error: String(error) });
      return null;
    }
  }

  function hint(given: Hint): void {
    call(`${path("hint")}/send`, given).catch((error: unknown) =>
      log("debug", "outlet.asked-again", { channel, account, error: String(error) }),
    );
  }

  function type(route: Route, on: boolean): void {
    const place = JSON.stringify([route.chat.id, route.thread?.id ?? null]);
    const now = clock.monotonic();
    const said = typing.get(place);
    for (const [other, at] of typing)
      if (now - at >= engineLimits.outletTypingMs) typing.delete(other);
    if (on && said !== undefined && now - said < engineLimits.outletTypingMs / 3) return;
    if (on) typing.set(place, now);
    else typing.delete(place);
    hint({ route, what: on ? "typing" : "silent" });
  }

  const sending = ({ attempt, expiresAt }: Asked, made: Call): Send => ({
    attempt: attempt ?? newAttempt(),
    expiresAt: expiresAt ?? null,
    call: made,
  });
  const plain = ({ route, id, text }: SendRequest) => ({ route, id, text });

  return {
    hint,
    outbound: (like) => ({
      newAttempt,
      sendText: (request) =>
        carry(sending(request, { name: "sendText", ...plain(request) }), request.signal),
      replyText: (request) => {
        const { replyTo, quote, signal } = request;
        const made = { name: "replyText" as const, ...plain(request), replyTo, quote };
        return carry(sending(request, made), signal);
      },
      ...(like.sendMedia !== undefined && {
        async sendMedia({ signal, attempt = newAttempt(), expiresAt, name: title, data, ...rest }) {
          const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
          // Nothing is asked for yet: what fails here is tried again.
          const parts = await storeFile(call, attempt, bytes.toString("base64"));
          const made = { name: "sendMedia", ...rest, title, parts } as const;
          return carry(sending({ attempt, expiresAt }, made), signal);
        },
      }),
      ...(like.sendChoices !== undefined && {
        sendChoices({ signal, attempt, expiresAt, ...rest }) {
          return carry(sending({ attempt, expiresAt }, { name: "sendChoices", ...rest }), signal);
        },
      }),
      ...(like.editText !== undefined && {
        async editText({ signal, attempt, expiresAt, ...rest }) {
          await carry(sending({ attempt, expiresAt }, { name: "editText", ...rest }), signal);
        },
      }),
      ...(like.sendTyping !== undefined && {
        sendTyping: async (route: Route, on: boolean) => type(route, on),
      }),
      ...(like.addReaction !== undefined && {
        async addReaction(route, messageId, emoji, signal) {
          await carry(sending({}, { name: "addReaction", route, messageId, emoji }), signal);
        },
      }),
      ...(like.removeReaction !== undefined && {
        async removeReaction(route, messageId, emoji, signal) {
          await carry(sending({}, { name: "removeReaction", route, messageId, emoji }), signal);
        },
      }),
    }),
  };
}

const asRejected = (error: RefusedCall) =>
  new EarshotError("EAR_CHANNEL_REJECTED", `Cannot send through another node: ${error.message}`, {
    cause: error,
  });

function receiptOf(result: Result): SendReceipt {
  if (result.kind === "done") return { messageIds: result.messageIds };
  const { code, message, retryAfterMs } = result;
  // A newer node may know more codes.
  const known: ErrorCode = isErrorCode(code) ? code : "EAR_SEND_IN_DOUBT";
  throw new EarshotError(known, message, retryAfterMs === null ? {} : { retryAfterMs });
}
