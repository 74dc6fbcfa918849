/**
 * What all nodes share besides conversations
 * ==========================================
 * `access` has the rows of the access store, `schedules` the entries that are said at set times, `gaps` what accounts
 * could not recover. A change is refused when one of its rows was changed by another node meanwhile, so that a code is
 * used once. `cursors` has how far each account has read its platform.
 */
import type { ObjectContext, ObjectSharedContext } from "@restatedev/restate-sdk";
import { engineLimits } from "../../../domain/ports/engine/engine-limits.ts";
import { parsed, type Sdk, shortCalls } from "../calls/handlers.ts";
import {
  changeSchema,
  cursorSchema,
  cursorService,
  readSchema,
  type SharedAnswer,
  type SharedRow,
} from "./wire.ts";

interface Change extends SharedRow {
  readonly version: number;
}
type Rows = Readonly<Record<string, string>>;

/** Rows under one key, as `accessService`, `scheduleService` and `gapService` have them. */
export function rowsObject(sdk: Sdk, name: string) {
  async function read(ctx: ObjectContext | ObjectSharedContext) {
    return {
      version: (await ctx.get<number>("version")) ?? 0,
      /** The newest changes, oldest first. */
      changes: (await ctx.get<readonly Change[]>("changes")) ?? [],
      /** Some of this version, and all before, are not among them. */
      dropped: (await ctx.get<number>("dropped")) ?? 0,
    };
  }

  async function since(
    ctx: ObjectContext | ObjectSharedContext,
    known: number,
  ): Promise<SharedAnswer> {
    const { version, changes, dropped } = await read(ctx);
    const isWhole = known < dropped || known > version;
    const rows = isWhole
      ? Object.entries((await ctx.get<Rows>("rows")) ?? {}).map(([name, body]) => ({ name, body }))
      : [
          ...new Map(
            changes
              .filter((change) => change.version > known)
              .map(({ name, body }) => [name, { name, body }] as const),
          ).values(),
        ];
    return { version, refused: false, whole: isWhole, rows };
  }

  return sdk.object({
    name,
    handlers: {
      /** Answers what has changed since `known`, the caller's own rows included. */
      change: async (ctx: ObjectContext, input: unknown): Promise<SharedAnswer> => {
        const { known, rows } = parsed(sdk, changeSchema, input);
        const before = await since(ctx, known);
        const changed = new Set(before.rows.map(({ name }) => name));
        if (before.whole ? known > 0 : rows.some(({ name }) => changed.has(name)))
          return { ...before, refused: true };
        const { version, changes } = await read(ctx);
        const kept = new Map(Object.entries((await ctx.get<Rows>("rows")) ?? {}));
        for (const { name, body } of rows)
          if (body === null) kept.delete(name);
          else kept.set(name, body);
        ctx.set("rows", Object.fromEntries(kept));
        const next = version + 1;
        const made = rows.map((row) => ({ ...row, version: next }));
        const all = [...changes, ...made];
        const last = all.at(-engineLimits.changesMax - 1);
        if (last !== undefined) ctx.set("dropped", last.version);
        ctx.set("changes", all.slice(-engineLimits.changesMax));
        ctx.set("version", next);
        return {
          version: next,
          refused: false,
          whole: before.whole,
          rows: [...before.rows, ...rows],
        };
      },

      since: sdk.handlers.object.shared(
        async (ctx: ObjectSharedContext, input: unknown): Promise<SharedAnswer> =>
          since(ctx, parsed(sdk, readSchema, input).known),
      ),
    },
    options: shortCalls,
  });
}

export function cursorObject(sdk: Sdk) {
  const all = async (ctx: ObjectContext | ObjectSharedContext) =>
    (await ctx.get<Rows>("cursors")) ?? {};
  return sdk.object({
    name: cursorService,
    handlers: {
      set: async (ctx: ObjectContext, input: unknown): Promise<null> => {
        const { identity, value } = parsed(sdk, cursorSchema, input);
        ctx.set("cursors", { ...(await all(ctx)), [identity]: value });
        return null;
      },
      all: sdk.handlers.object.shared((ctx: ObjectSharedContext): Promise<Rows> => all(ctx)),
    },
    options: shortCalls,
  });
}
