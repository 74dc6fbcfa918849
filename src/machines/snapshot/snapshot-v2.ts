/**
 * Snapshots of machine version 2
 * ============================
 * Before the outcome of a turn was given with its last delivery, it was given when the agent had
 * ended, and deliveries were not counted. Databases hold such snapshots; they are read here as if
 * this version had written them.
 */
import { z } from "zod";
import { run as runSchema } from "./snapshot-schema.ts";
import type { OldSnapshot } from "./snapshot-v1.ts";

const differs = z.looseObject({ r: runSchema.exactOptional() });

/** The same as this version writes it; null: no snapshot of that version looks like this. */
export function upgradeV2({ attention, fields }: OldSnapshot): OldSnapshot | null {
  const parsed = differs.safeParse(fields);
  if (!parsed.success) return null;
  const { r, ...same } = parsed.data;
  if (r === undefined) return { attention, fields };
  const { blocks, asides = [], open } = r;
  const isUnderWay = ({ kind, draft }: (typeof open)[number]) => kind === "reply" && !draft;
  const sent = blocks - asides.length - open.filter(isUnderWay).length;
  const reported = attention === "engaged.settling" ? ({ reported: true } as const) : {};
  return {
    attention,
    fields: { ...same, r: { ...r, ...(sent > 0 ? { sent } : {}), ...reported } },
  };
}
