/**
 * The virtual object `feed`
 * =========================
 * Carries to all nodes what one has stored, in batches, and keeps the newest of them: a node that asks again within a
 * few seconds has missed nothing, and one that was away for longer learns that. `wait` is a long poll, which costs
 * nothing while it waits.
 */
import type { ObjectContext, ObjectSharedContext, Serde } from "@restatedev/restate-sdk";
import { engineLimits } from "../../../domain/ports/engine/engine-limits.ts";
import { parsed, type Sdk, shortCalls } from "../calls/handlers.ts";
import {
  announceSchema,
  type Batch,
  enlistSchema,
  type FeedAnswer,
  feedKey,
  feedService,
  publishSchema,
  waitSchema,
} from "./wire.ts";

/** Who waits, by boot: behind which place. */
type Waiters = Readonly<Record<string, { readonly awakeable: string; readonly after: number }>>;

/** The newest batches: who has said them, oldest first; the last is at `head`. */
interface Kept {
  readonly head: number;
  readonly boots: readonly string[];
}

const placeOf = (number: number) => `batch/${number}`;

export function feedObject(sdk: Sdk) {
  const json = sdk.serde.json as Serde<unknown>;

  const read = async (ctx: ObjectContext): Promise<Kept> =>
    (await ctx.get<Kept>("kept")) ?? { head: 0, boots: [] };

  async function add(ctx: ObjectContext, boot: string, batch: Batch): Promise<Kept> {
    const { head, boots } = await read(ctx);
    const all = [...boots, boot];
    const kept = { head: head + 1, boots: all.slice(-engineLimits.feedKept) };
    ctx.set(placeOf(kept.head), batch);
    if (all.length > kept.boots.length) ctx.clear(placeOf(kept.head - kept.boots.length));
    ctx.set("kept", kept);
    return kept;
  }

  /** What others than `boot` have said behind a place. */
  async function since(
    ctx: ObjectContext,
    { head, boots }: Kept,
    boot: string,
    after: number,
  ): Promise<FeedAnswer> {
    const oldest = head - boots.length + 1;
    if (after < oldest - 1 || after > head) return { head, lost: true, batches: [] };
    const batches: Batch[] = [];
    for (let number = after + 1; number <= head; number += 1) {
      if (boots[number - oldest] === boot) continue;
      const batch = await ctx.get<Batch>(placeOf(number));
      if (batch !== null) batches.push(batch);
    }
    return { head, lost: false, batches };
  }

  return sdk.object({
    name: feedService,
    handlers: {
      publish: async (ctx: ObjectContext, input: unknown): Promise<null> => {
        const { boot, ...batch } = parsed(sdk, publishSchema, input);
        const kept = await add(ctx, boot, batch);
        const waiters = (await ctx.get<Waiters>("waiters")) ?? {};
        const { [boot]: own, ...others } = waiters;
        for (const [other, { awakeable, after }] of Object.entries(others))
          ctx.resolveAwakeable(awakeable, await since(ctx, kept, other, after));
        if (Object.keys(others).length > 0)
          ctx.set("waiters", own === undefined ? {} : { [boot]: own });
        return null;
      },

      /**
       * What an active conversation says at its end, as its node may die before it has published that. It wakes
       * nobody, as nearly always all have heard of it.
       */
      announce: async (ctx: ObjectContext, input: unknown): Promise<null> => {
        const news = { ...parsed(sdk, announceSchema, input), rows: null };
        await add(ctx, "", { news: [news], lines: [], notes: [], frames: [] });
        return null;
      },

      wait: sdk.handlers.object.shared(
        async (ctx: ObjectSharedContext, input: unknown): Promise<FeedAnswer> => {
          const asked = parsed(sdk, waitSchema, input);
          const { id, promise } = ctx.awakeable<FeedAnswer>();
          const answer = await ctx.genericCall<unknown, FeedAnswer | null>({
            service: feedService,
            method: "enlist",
            key: feedKey,
            parameter: { ...asked, awakeable: id },
            inputSerde: json,
            outputSerde: json as Serde<FeedAnswer | null>,
          });
          if (answer !== null) return answer;
          const woken = await sdk.RestatePromise.race([
            promise,
            ctx.sleep(engineLimits.feedWaitMs),
          ]);
          return woken ?? { head: asked.after, lost: false, batches: [] };
        },
      ),

      /** Of `wait`: answers what there is, or null, and keeps what it waits for. */
      enlist: async (ctx: ObjectContext, input: unknown): Promise<FeedAnswer | null> => {
        const { boot, after, awakeable } = parsed(sdk, enlistSchema, input);
        const kept = await read(ctx);
        const answer = await since(ctx, kept, boot, after);
        if (answer.lost || answer.batches.length > 0) return answer;
        const waiters = (await ctx.get<Waiters>("waiters")) ?? {};
        ctx.set("waiters", { ...waiters, [boot]: { awakeable, after: kept.head } });
        return null;
      },
    },
    // Batches are read one by one, where they are asked for.
    options: { ...shortCalls, enableLazyState: true },
  });
}
