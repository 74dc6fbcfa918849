/**
 * The virtual object `leases`
 * ===========================
 * Keeps the table of `table.ts`; Restate makes one exclusive call at a time. `beat` is short and called by
 * every node every two seconds. `wait` is a long poll: it costs nothing while it waits, so that what a node
 * gives back is taken within a fraction of a second without asking more often.
 */
import type { ObjectContext, ObjectSharedContext, Serde } from "@restatedev/restate-sdk";
import type { ZodType } from "zod";
import { engineLimits } from "../../../domain/ports/engine/engine-limits.ts";
import { parsed, refusal, type Sdk, shortCalls } from "../calls/handlers.ts";
import { beaten, emptyTable } from "./table.ts";
import {
  beatSchema,
  enlistSchema,
  type LeaseTable,
  leaseKey,
  leaseService,
  waitSchema,
} from "./wire.ts";

/** Awakeables of the long polls, by boot. */
type Waiters = Readonly<Record<string, string>>;

export function leaseObject(sdk: Sdk) {
  const json = sdk.serde.json as Serde<unknown>;

  function readCall<Output>(key: string, schema: ZodType<Output>, input: unknown): Output {
    if (key !== leaseKey) throw refusal(sdk, `the only key is "${leaseKey}"`);
    return parsed(sdk, schema, input);
  }

  const read = async (ctx: ObjectContext | ObjectSharedContext): Promise<LeaseTable> => ({
    version: (await ctx.get<number>("version")) ?? emptyTable.version,
    nodes: (await ctx.get<LeaseTable["nodes"]>("nodes")) ?? emptyTable.nodes,
    leases: (await ctx.get<LeaseTable["leases"]>("leases")) ?? emptyTable.leases,
    gone: (await ctx.get<LeaseTable["gone"]>("gone")) ?? emptyTable.gone,
  });

  return sdk.object({
    name: leaseService,
    handlers: {
      beat: async (ctx: ObjectContext, input: unknown): Promise<LeaseTable> => {
        const beat = readCall(ctx.key, beatSchema, input);
        const before = await read(ctx);
        const next = beaten(before, beat);
        if (next === before) return next;
        ctx.set("nodes", next.nodes);
        if (next.version === before.version) return next;
        ctx.set("version", next.version);
        ctx.set("leases", next.leases);
        ctx.set("gone", next.gone);
        const waiters = (await ctx.get<Waiters>("waiters")) ?? {};
        for (const awakeable of Object.values(waiters)) ctx.resolveAwakeable(awakeable);
        ctx.clear("waiters");
        return next;
      },

      /** Resolves to the version that the table has then, or had before `leaseWaitMs` were over. */
      wait: sdk.handlers.object.shared(
        async (ctx: ObjectSharedContext, input: unknown): Promise<number> => {
          const asked = readCall(ctx.key, waitSchema, input);
          const { id, promise } = ctx.awakeable();
          const version = await ctx.genericCall<unknown, number>({
            service: leaseService,
            method: "enlist",
            key: leaseKey,
            parameter: { ...asked, awakeable: id },
            inputSerde: json,
            outputSerde: json as Serde<number>,
          });
          if (version !== asked.version) return version;
          await sdk.RestatePromise.race([promise, ctx.sleep(engineLimits.leaseWaitMs)]);
          return (await read(ctx)).version;
        },
      ),

      /** Of `wait`: what it waits for. Answers the version. */
      enlist: async (ctx: ObjectContext, input: unknown): Promise<number> => {
        const { boot, version: seen, awakeable } = readCall(ctx.key, enlistSchema, input);
        const { version } = await read(ctx);
        if (version !== seen) return version;
        const waiters = (await ctx.get<Waiters>("waiters")) ?? {};
        ctx.set("waiters", { ...waiters, [boot]: awakeable });
        return version;
      },

      state: sdk.handlers.object.shared(
        (ctx: ObjectSharedContext): Promise<LeaseTable> => read(ctx),
      ),
    },
    options: shortCalls,
  });
}
