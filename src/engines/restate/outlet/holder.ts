/**
 * Calls of other nodes, on the node that has the connection
 * =========================================================
 * Takes what waits at the account's outlet, never more than it begins at once, and says what became of each. The
 * lease is looked at right before each call: a node that was paused and wakes up calls nothing, and what it had
 * taken goes to another.
 *
 * The pace of an account is kept here: so many calls at a time, and none while the platform wants to be left alone.
 * The order of a conversation is kept by the caller, which asks for one call after the other.
 */

import { createTyping } from "../../../actors/channels/typing-indicators.ts";
import { EarshotError } from "../../../domain/errors.ts";
import { limits } from "../../../domain/limits.ts";
import type { Millis } from "../../../domain/message.ts";
import { engineLimits } from "../../../domain/ports/engine/engine-limits.ts";
import {
  type ChannelOutbound,
  type Clock,
  type Log,
  noConversation,
  type SendReceipt,
  type ServedAccount,
  type ServedOutlet,
} from "../../../domain/ports/index.ts";
import { pauseFor } from "../../../domain/ports/pause.ts";
import { late, within } from "../../../domain/ports/within.ts";
import { answerOf, type IngressCall } from "../calls/ingress-call.ts";
import { readFile } from "./files.ts";
import { type Call, type Hint, outletPath, type Result, type Send, takenSchema } from "./wire.ts";

export interface HolderPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly call: IngressCall;
}

/** Begins at once. */
export function serveOutlet(
  { clock, log, call }: HolderPorts,
  served: ServedAccount,
): ServedOutlet {
  const { channel, account, lease, outbound } = served;
  const { epoch } = lease.holder;
  const stop = new AbortController();
  /** Calls that were taken and whose callers do not know yet what became of them. */
  const taken = new Map<string, Promise<void>>();
  /** Results that nobody was given yet. */
  const results = new Map<string, Result | null>();
  let settling: Promise<void> | null = null;
  let pausedUntil: Millis = 0;
  let isReachable = true;
  /** Ends the wait for room. */
  let freed: () => void = () => undefined;

  const typing = createTyping({
    clock,
    log,
    mayAct: () => lease.isValid(),
    directory: {
      ready: () => lease.isValid(),
      outbound: () => outbound,
      typingIntervalMs: () => served.typingIntervalMs,
    },
  });

  /** Resolves to the answer; null: there is none. */
  async function ask(handler: string, input: object, signal?: AbortSignal): Promise<unknown> {
    try {
      const path = outletPath(channel, account, handler);
      const answer = await call(path, input, signal === undefined ? {} : { signal });
      if (!isReachable) log("info", "outlet.working", { channel, account });
      isReachable = true;
      return answer ?? {};
    } catch (error) {
      if (isReachable && !stop.signal.aborted)
        log("warn", "outlet.unreachable", { channel, account, error: String(error) });
      isReachable = false;
      return null;
    }
  }

  async function perform({ attempt, expiresAt, call: made }: Send): Promise<Result | null> {
    let file = "";
    try {
      if (made.name === "sendMedia") file = await readFile(call, attempt, made.parts);
    } catch (error) {
      return failureOf(error);
    }
    if (!lease.isValid()) return null;
    if (expiresAt !== null && clock.now() >= expiresAt)
      return failureOf(new EarshotError("EAR_CHANNEL_UNAVAILABLE", "Cannot send: it is too old"));
    try {
      const receipt = await within(
        clock,
        limits.sendMsMax,
        (signal) => makeCall(outbound, made, { file, signal }),
        () => new EarshotError("EAR_SEND_IN_DOUBT", "Cannot confirm the send: it took too long"),
      );
      if (receipt !== late) return { kind: "done", messageIds: [...receipt.messageIds] };
      return failureOf(new EarshotError("EAR_SEND_IN_DOUBT", "Cannot confirm the send in time"));
    } catch (error) {
      if (error instanceof EarshotError && error.code === "EAR_LEASE_LOST") return null;
      const result = failureOf(error);
      if (result.code === "EAR_CHANNEL_RATE" && result.retryAfterMs !== null)
        pausedUntil = Math.max(pausedUntil, clock.monotonic() + result.retryAfterMs);
      log("debug", "outlet.failed", { channel, account, attempt, error: result.message });
      return result;
    }
  }

  function begin(send: Send): void {
    const work = perform(send).then(async (result) => {
      results.set(send.attempt, result);
      settling ??= settleAll();
      await settling;
      taken.delete(send.attempt);
      freed();
    });
    taken.set(send.attempt, work);
  }

  /** Says what became of calls, of several at once where they end together. */
  async function settleAll(): Promise<void> {
    while (results.size > 0) {
      const batch = [...results];
      const said = batch.map(([attempt, result]) => ({ attempt, result }));
      const answer = await ask("settle", { epoch, results: said });
      if (answer !== null) for (const [attempt] of batch) results.delete(attempt);
      // Without a lease the next holder says that they are in doubt.
      else if (!lease.isValid()) results.clear();
      else await pauseFor(clock, engineLimits.outletAgainMs, new AbortController().signal);
    }
    settling = null;
  }

  function show({ route, what }: Hint): void {
    if (what === "members") served.refreshMembers(route);
    else if (what === "silent") typing.off(noConversation, route);
    else {
      const intervalMs = served.typingIntervalMs;
      typing.on(noConversation, route, { intervalMs, ttlMs: engineLimits.outletTypingMs });
    }
  }

  /** Takes what it can begin. False: it holds the account no more. */
  async function takeSome(): Promise<boolean> {
    const room = limits.sendsPerAccountMax - taken.size;
    const answer = await ask("take", { epoch, has: [...taken.keys()], room }, stop.signal);
    if (answer === null) {
      await pauseFor(clock, engineLimits.outletAgainMs, stop.signal);
      return true;
    }
    const { fenced, sends, hints } = answerOf(
      takenSchema,
      answer,
      outletPath(channel, account, "take"),
    );
    if (fenced) return false;
    for (const hint of hints) show(hint);
    for (const send of sends) begin(send);
    if (sends.length < room) await ask("wait", { epoch }, stop.signal);
    return true;
  }

  async function work(): Promise<void> {
    while (!stop.signal.aborted && lease.isValid()) {
      const pauseMs = pausedUntil - clock.monotonic();
      if (pauseMs > 0) await pauseFor(clock, pauseMs, stop.signal);
      else if (taken.size < limits.sendsPerAccountMax) {
        if (!(await takeSome())) return;
      } else
        await new Promise<void>((resolve) => {
          freed = resolve;
        });
    }
  }
  const working = work().catch((error: unknown) =>
    log("error", "outlet.ended", { channel, account, error: String(error) }),
  );

  return {
    async stop() {
      stop.abort();
      freed();
      typing.stop();
      await working;
      // What a last answer may have given it, and it never saw, is for others.
      if (lease.isValid()) await ask("take", { epoch, has: [...taken.keys()], room: 0 });
      await Promise.all(taken.values());
    },
  };
}

function failureOf(error: unknown): Extract<Result, { kind: "failed" }> {
  if (error instanceof EarshotError) {
    const { code, message, retryAfterMs = null } = error;
    return { kind: "failed", code, message, retryAfterMs };
  }
  // It may have sent before it failed.
  const message = `unexpected: ${String((error as Error)?.message ?? error)}`;
  return { kind: "failed", code: "EAR_SEND_IN_DOUBT", message, retryAfterMs: null };
}

const nothing: SendReceipt = { messageIds: [] };
const cannot = (name: string) =>
  new EarshotError("EAR_CHANNEL_REJECTED", `Cannot send: this channel has no ${name} here`);

async function makeCall(
  outbound: ChannelOutbound,
  given: Call,
  { file, signal }: { readonly file: string; readonly signal: AbortSignal },
): Promise<SendReceipt> {
  const { name } = given;
  switch (given.name) {
    case "sendText":
      return outbound.sendText({ ...given, signal });
    case "replyText":
      return outbound.replyText({ ...given, signal });
    case "sendMedia": {
      if (outbound.sendMedia === undefined) throw cannot(name);
      const { title, parts: _, ...rest } = given;
      const data = new Uint8Array(Buffer.from(file, "base64"));
      return outbound.sendMedia({ ...rest, name: title, data, signal });
    }
    case "sendChoices":
      if (outbound.sendChoices === undefined) throw cannot(name);
      return outbound.sendChoices({ ...given, signal });
    case "editText":
      if (outbound.editText === undefined) throw cannot(name);
      await outbound.editText({ ...given, signal });
      return nothing;
    default: {
      const { route, messageId, emoji } = given;
      if (outbound[given.name] === undefined) throw cannot(name);
      await outbound[given.name]?.(route, messageId, emoji, signal);
      return nothing;
    }
  }
}
