/**
 * The virtual object `outlet`
 * ===========================
 * Calls of an account on their way from the node where a conversation is active to the one that has the connection.
 * The handler `send` is made once for an attempt (Restate recognises its id) and answers what became of it, however
 * often it is asked and by which node: a conversation that goes on elsewhere asks, and does not send again.
 *
 * The holder of the lease waits with a long poll and takes calls when it can begin them, so that those which
 * it has taken are those which it makes. Its epoch fences it: one that was paused takes and settles nothing.
 */
import type { ObjectContext, ObjectSharedContext, Serde } from "@restatedev/restate-sdk";
import { engineLimits } from "../../../domain/ports/engine/engine-limits.ts";
import { parsed, type Sdk, shortCalls } from "../calls/handlers.ts";
import { type Known, type Ledger, put, settle, take, withdraw } from "./ledger.ts";
import {
  enlistSchema,
  type Hint,
  hintSchema,
  outletService,
  putSchema,
  type Result,
  type Send,
  sendSchema,
  settleSchema,
  type Taken,
  takeSchema,
  waitSchema,
  withdrawSchema,
} from "./wire.ts";

/** What a call is, until it is known what became of it. */
const sendKey = (attempt: string) => `send/${attempt}`;

async function ledgerOf(ctx: ObjectContext): Promise<Ledger> {
  return (await ctx.get<Ledger>("ledger")) ?? [];
}

function keep(ctx: ObjectContext, ledger: Ledger, known: readonly Known[]): void {
  for (const { attempt, awakeable, result } of known) {
    ctx.resolveAwakeable<Result>(awakeable, result);
    ctx.clear(sendKey(attempt));
  }
  if (ledger.length === 0) ctx.clear("ledger");
  else ctx.set("ledger", ledger);
}

/** The holder looks again. */
async function wake(ctx: ObjectContext): Promise<boolean> {
  const waker = await ctx.get<string>("waker");
  if (waker === null) return false;
  ctx.resolveAwakeable(waker, null);
  ctx.clear("waker");
  return true;
}

export function outletObject(sdk: Sdk) {
  const json = sdk.serde.json as Serde<unknown>;
  const own = <Answer>(ctx: ObjectSharedContext, method: string, parameter: unknown) =>
    ctx.genericCall<unknown, Answer>({
      service: outletService,
      method,
      key: ctx.key,
      parameter,
      inputSerde: json,
      outputSerde: json as Serde<Answer>,
    });

  return sdk.object({
    name: outletService,
    handlers: {
      /** Answers what became of the call, once it is known. */
      send: sdk.handlers.object.shared(
        { idempotencyRetention: engineLimits.outletKnownMs },
        async (ctx: ObjectSharedContext, input: unknown): Promise<Result> => {
          const asked = parsed(sdk, sendSchema, input);
          const { id, promise } = ctx.awakeable<Result>();
          await own<null>(ctx, "put", { ...asked, awakeable: id });
          return promise;
        },
      ),

      /** Of `send`. */
      put: async (ctx: ObjectContext, input: unknown): Promise<null> => {
        const { awakeable, ...send } = parsed(sdk, putSchema, input);
        const before = await ledgerOf(ctx);
        const call = { attempt: send.attempt, awakeable };
        const { ledger, known } = put(before, call, engineLimits.outletCallsMax);
        if (ledger !== before) ctx.set<Send>(sendKey(send.attempt), send);
        keep(ctx, ledger, known);
        await wake(ctx);
        return null;
      },

      /** A call that no holder has taken is not made. */
      withdraw: async (ctx: ObjectContext, input: unknown): Promise<null> => {
        const { attempt } = parsed(sdk, withdrawSchema, input);
        const { ledger, known } = withdraw(await ledgerOf(ctx), attempt);
        if (known.length > 0) keep(ctx, ledger, known);
        return null;
      },

      /** Lost where no holder waits for it. */
      hint: async (ctx: ObjectContext, input: unknown): Promise<null> => {
        const hint = parsed(sdk, hintSchema, input);
        const hints = (await ctx.get<readonly Hint[]>("hints")) ?? [];
        if (hints.length === 0 && !(await wake(ctx))) return null;
        ctx.set("hints", [...hints, hint].slice(-engineLimits.outletHintsMax));
        return null;
      },

      take: async (ctx: ObjectContext, input: unknown): Promise<Taken> => {
        const asked = parsed(sdk, takeSchema, input);
        const newest = (await ctx.get<number>("epoch")) ?? 0;
        if (asked.epoch < newest) return { fenced: true, sends: [], hints: [] };
        if (asked.epoch > newest) ctx.set("epoch", asked.epoch);
        const before = await ledgerOf(ctx);
        const { ledger, given, known } = take(before, asked);
        if (before.length > 0) keep(ctx, ledger, known);
        const sends = await Promise.all(given.map((attempt) => ctx.get<Send>(sendKey(attempt))));
        const hints = (await ctx.get<readonly Hint[]>("hints")) ?? [];
        if (hints.length > 0) ctx.clear("hints");
        return { fenced: false, sends: sends.filter((send) => send !== null), hints: [...hints] };
      },

      settle: async (ctx: ObjectContext, input: unknown): Promise<null> => {
        const { epoch, results } = parsed(sdk, settleSchema, input);
        const byAttempt = new Map(results.map(({ attempt, result }) => [attempt, result]));
        const { ledger, known } = settle(await ledgerOf(ctx), epoch, byAttempt);
        keep(ctx, ledger, known);
        if (results.some(({ result }) => result === null)) await wake(ctx);
        return null;
      },

      /** Resolves when there may be something to take, or `leaseWaitMs` are over. */
      wait: sdk.handlers.object.shared(
        async (ctx: ObjectSharedContext, input: unknown): Promise<null> => {
          const { epoch } = parsed(sdk, waitSchema, input);
          const { id, promise } = ctx.awakeable<null>();
          if (await own<boolean>(ctx, "enlist", { epoch, awakeable: id }))
            await sdk.RestatePromise.race([promise, ctx.sleep(engineLimits.leaseWaitMs)]);
          return null;
        },
      ),

      /** Of `wait`: false, there is something already, or another holder. */
      enlist: async (ctx: ObjectContext, input: unknown): Promise<boolean> => {
        const { epoch, awakeable } = parsed(sdk, enlistSchema, input);
        if (epoch < ((await ctx.get<number>("epoch")) ?? 0)) return false;
        const hints = (await ctx.get<readonly Hint[]>("hints")) ?? [];
        const isWaiting = (await ledgerOf(ctx)).some((call) => call.epoch === null);
        if (isWaiting || hints.length > 0) return false;
        // One wait of a holder at a time: an earlier one ends.
        await wake(ctx);
        ctx.set("waker", awakeable);
        return true;
      },
    },
    options: shortCalls,
  });
}
