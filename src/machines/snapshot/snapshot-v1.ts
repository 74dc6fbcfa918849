/**
 * Records of machine version 1
 * ============================
 * Before the lock was a region of the chart, its state was a substate of running, a field of the run
 * and the number of the turn that had backed off. Databases hold such records; they are read here as
 * if this version had written them.
 */
import { z } from "zod";
import type { Lock } from "../conversation/states.ts";
import { count, millis } from "./snapshot-schema.ts";

const differs = z.looseObject({
  /** Quiet window: end, last end. */
  q: z.tuple([millis, millis]).exactOptional(),
  b: z.array(z.unknown()).exactOptional(),
  bd: count.exactOptional(),
  r: z
    .looseObject({
      order: z.looseObject({ turn: count }),
      lock: z.enum(["open", "disengaged", "skipped"]),
      ended: z.boolean(),
    })
    .exactOptional(),
  /** Turns so far, and the turn whose deliveries granted nothing. */
  t: count.exactOptional(),
  d: count.exactOptional(),
});

/** A record as an older version wrote it: its attention and its fields. */
export interface OldSnapshot {
  readonly attention: string;
  readonly fields: unknown;
}

/** The same as this version writes it; null: no record of that version looks like this. */
export function upgradeV1({ attention, fields }: OldSnapshot): {
  readonly attention: string;
  readonly lock: Lock;
  readonly fields: Readonly<Record<string, unknown>>;
} | null {
  const parsed = differs.safeParse(fields);
  if (!parsed.success) return null;
  const { q, b, bd, r, d, ...same } = parsed.data;
  const running = "engaged.running.";
  const isRunning = attention.startsWith(running);
  if (isRunning && (r?.ended !== false || r.lock !== attention.slice(running.length))) return null;
  if (attention === "engaged.settling" && r?.ended !== true) return null;
  const backedOff = (d ?? 0) > 0 && d === (same.t ?? 0);
  const { lock: was, ended, ...run } = r ?? { lock: "open", ended: false };
  const silent = was === "skipped";
  return {
    attention: isRunning ? "engaged.running" : attention,
    lock: silent ? (backedOff ? "closed" : "silenced") : backedOff ? "withheld" : "granting",
    fields: {
      ...same,
      ...(q === undefined ? {} : { q: q[0], qb: q[1] }),
      ...(b === undefined && bd === undefined ? {} : { b: [b ?? [], bd ?? 0] }),
      ...(r === undefined ? {} : { r: run }),
    },
  };
}
