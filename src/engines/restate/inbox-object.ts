/**
 * The virtual object `inbox`
 * ==========================
 * Collects what comes for a conversation, events and orders, each once and in its order, and makes the conversation
 * active.
 */
import type { ObjectContext } from "@restatedev/restate-sdk";
import { hash52 } from "../../domain/key.ts";
import { engineLimits } from "../../domain/ports/engine/engine-limits.ts";
import type { Sdk } from "./calls/handlers.ts";
import { callConversation, jsonOf, options, readCall } from "./object-calls.ts";
import {
  conversationService,
  inboxService,
  type Offered,
  type OfferedEvent,
  type OfferedOrder,
  type OrderAnswer,
  orderCallSchema,
  putSchema,
  takeSchema,
} from "./wire.ts";

/** An order, and behind how many of the events that wait it came. */
interface Waiting {
  readonly order: OfferedOrder;
  readonly after: number;
}

const hashOf = ({ identity, sentAt }: Pick<OfferedEvent, "identity" | "sentAt">) =>
  hash52(`${sentAt}|${identity}`);

/** Notes these as seen. Answers for each whether it is new. */
async function noteNew(ctx: ObjectContext, hashes: readonly number[]): Promise<readonly boolean[]> {
  const seen = (await ctx.get<readonly number[]>("seen")) ?? [];
  const known = new Set(seen);
  const isNew = hashes.map((hash) => {
    const fresh = !known.has(hash);
    known.add(hash);
    return fresh;
  });
  const fresh = hashes.filter((_, place) => isNew[place]);
  if (fresh.length > 0) ctx.set("seen", [...seen, ...fresh].slice(-engineLimits.seenMax));
  return isNew;
}

const queued = async (ctx: ObjectContext) =>
  (await ctx.get<readonly OfferedEvent[]>("queue")) ?? [];
const ordered = async (ctx: ObjectContext) => (await ctx.get<readonly Waiting[]>("orders")) ?? [];

/** Makes the conversation active, or wakes it, as there is more. */
async function wake(sdk: Sdk, ctx: ObjectContext): Promise<void> {
  const waker = await ctx.get<string>("waker");
  if (waker !== null) {
    ctx.resolveAwakeable(waker, null);
    ctx.clear("waker");
  } else if ((await ctx.get<boolean>("active")) === null) {
    ctx.set("active", true);
    callConversation(sdk, ctx, ctx.key);
  }
}

export function inboxObject(sdk: Sdk) {
  const isKnown = (ctx: ObjectContext) =>
    ctx.genericCall({
      service: conversationService,
      method: "known",
      key: ctx.key,
      parameter: null,
      inputSerde: jsonOf(sdk),
      outputSerde: jsonOf(sdk),
    }) as Promise<unknown> as Promise<boolean>;

  return sdk.object({
    name: inboxService,
    handlers: {
      /** Answers for each event whether it is new. */
      put: async (ctx: ObjectContext, input: unknown): Promise<readonly boolean[]> => {
        const { events: given } = readCall(sdk, ctx.key, putSchema, input);
        const events = given as readonly unknown[] as readonly OfferedEvent[];
        const isNew = await noteNew(ctx, events.map(hashOf));
        const fresh = events.filter((_, place) => isNew[place]);
        if (fresh.length === 0) return isNew;
        ctx.set("queue", [...(await queued(ctx)), ...fresh]);
        await wake(sdk, ctx);
        return isNew;
      },

      /** Takes an order; the same one again does nothing. */
      order: async (ctx: ObjectContext, input: unknown): Promise<OrderAnswer> => {
        const { known, ...order } = readCall(sdk, ctx.key, orderCallSchema, input);
        if (known && (await ctx.get<boolean>("active")) === null && !(await isKnown(ctx)))
          return "unknown";
        const [isNew] = await noteNew(ctx, [hashOf({ identity: `order|${order.id}`, sentAt: 0 })]);
        if (isNew !== true) return "taken";
        const after = (await queued(ctx)).length;
        const before = await ordered(ctx);
        if (before.length >= engineLimits.ordersMax)
          throw new sdk.TerminalError(`Cannot take the order: ${before.length} wait already`, {
            errorCode: 429,
          });
        const waiting = { order: order as unknown as OfferedOrder, after };
        ctx.set("orders", [...before, waiting]);
        await wake(sdk, ctx);
        return "taken";
      },

      /** Hands over what has come. Without a waker and with nothing left the conversation is not active any more. */
      take: async (ctx: ObjectContext, input: unknown): Promise<readonly Offered[]> => {
        const { waker, orders } = readCall(sdk, ctx.key, takeSchema, input);
        const events = await queued(ctx);
        const waiting = orders ? await ordered(ctx) : [];
        ctx.clear("queue");
        if (waiting.length > 0) ctx.clear("orders");
        const taken = inOrder(events, waiting);
        if (waker !== null) {
          ctx.set("waker", waker);
          ctx.set("active", true);
        } else {
          ctx.clear("waker");
          if (taken.length === 0) ctx.clear("active");
        }
        return taken;
      },
    },
    options,
  });
}

function inOrder(events: readonly OfferedEvent[], waiting: readonly Waiting[]): readonly Offered[] {
  const taken: Offered[] = [];
  let from = 0;
  for (const { order, after } of waiting) {
    taken.push(...events.slice(from, after), { order });
    from = Math.max(from, Math.min(after, events.length));
  }
  return [...taken, ...events.slice(from)];
}
