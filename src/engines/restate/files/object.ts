/**
 * The virtual object `files`
 * ==========================
 * Files that any node may read, each under its own key: the bytes in pieces that fit into a call, and what is known of
 * it, which comes last. So a file is there as a whole or not at all, and none is ever changed. It belongs to one thing
 * at most: of two nodes that want it, one is refused.
 *
 * Each change of how long it is kept has a mark. The delayed call that deletes the file knows the mark of its time, and
 * does nothing when another one has come since.
 */
import type { ObjectContext, ObjectSharedContext, Serde } from "@restatedev/restate-sdk";
import { engineLimits } from "../../../domain/ports/engine/engine-limits.ts";
import { parsed, refusal, type Sdk, shortCalls } from "../calls/handlers.ts";
import {
  eraseSchema,
  expireSchema,
  fileService,
  type Owned,
  ownSchema,
  pieceSchema,
  readSchema,
  type SharedFile,
  sealSchema,
} from "./wire.ts";

const pieceKey = (place: number) => `piece/${place}`;

export function sharedFileObject(sdk: Sdk) {
  const json = sdk.serde.json as Serde<unknown>;
  const found = (ctx: ObjectContext | ObjectSharedContext) => ctx.get<SharedFile>("file");

  function keepFor(ctx: ObjectContext, ms: number): void {
    const mark = ctx.rand.uuidv4();
    ctx.set("mark", mark);
    ctx.genericSend({
      service: fileService,
      method: "expire",
      key: ctx.key,
      parameter: { mark },
      inputSerde: json,
      delay: ms,
    });
  }

  return sdk.object({
    name: fileService,
    handlers: {
      add: async (ctx: ObjectContext, input: unknown): Promise<null> => {
        const { place, data } = parsed(sdk, pieceSchema, input);
        if ((await found(ctx)) !== null) throw refusal(sdk, "the file is stored already");
        if (place === 0) keepFor(ctx, engineLimits.fileUnfinishedMs);
        ctx.set(pieceKey(place), data);
        return null;
      },

      /** All pieces are there. */
      seal: async (ctx: ObjectContext, input: unknown): Promise<null> => {
        const { keepMs, ...file } = parsed(sdk, sealSchema, input);
        const before = await found(ctx);
        // The answer to the same call was lost.
        if (before?.sha256 === file.sha256) return null;
        if (before !== null) throw refusal(sdk, "the file is stored already");
        ctx.set<SharedFile>("file", file);
        keepFor(ctx, keepMs);
        return null;
      },

      /** Null: there is none. */
      about: sdk.handlers.object.shared(
        async (ctx: ObjectSharedContext): Promise<SharedFile | null> => found(ctx),
      ),

      /** Null: there is no such piece. */
      read: sdk.handlers.object.shared(
        async (ctx: ObjectSharedContext, input: unknown): Promise<string | null> =>
          ctx.get<string>(pieceKey(parsed(sdk, readSchema, input).place)),
      ),

      /** It belongs to this from now on, and is kept as long as that. */
      own: async (ctx: ObjectContext, input: unknown): Promise<Owned> => {
        const { owner, keepMs } = parsed(sdk, ownSchema, input);
        const file = await found(ctx);
        if (file === null) return "gone";
        if (file.owner !== null) return file.owner === owner ? "owned" : "other";
        ctx.set<SharedFile>("file", { ...file, owner });
        keepFor(ctx, keepMs);
        return "owned";
      },

      /** False: there is nothing to delete. */
      erase: async (ctx: ObjectContext, input: unknown): Promise<boolean> => {
        const { owned } = parsed(sdk, eraseSchema, input);
        const file = await found(ctx);
        if (file === null || (file.owner !== null && !owned)) return false;
        ctx.clearAll();
        return true;
      },

      expire: async (ctx: ObjectContext, input: unknown): Promise<null> => {
        const { mark } = parsed(sdk, expireSchema, input);
        if ((await ctx.get<string>("mark")) === mark) ctx.clearAll();
        return null;
      },
    },
    // A call needs one piece of it and not all.
    options: { ...shortCalls, enableLazyState: true },
  });
}
