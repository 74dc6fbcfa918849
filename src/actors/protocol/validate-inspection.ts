/**
 * Validation of inspection frames
 * ===============================
 * Readers are numbers, states and events are valid JSON: the texts of a host go into frames
 * unchanged, and must not be able to end one and begin another.
 */
import { z } from "zod";
import { limits } from "../../domain/limits.ts";
import type { InspectFrame } from "../../domain/ports/index.ts";

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const json = z.string().max(limits.inspectUnitsMax).refine(isJson);
const shared = {
  readers: z.array(z.number().int().min(0)).min(1).max(limits.inspectReadersMax),
  actor: z.string().regex(/^x:\d{1,12}$/),
};
const frame = z.discriminatedUnion("kind", [
  z.strictObject({
    ...shared,
    kind: z.literal("actor"),
    snapshotJson: json,
    key: z.string().min(1),
  }),
  z.strictObject({ ...shared, kind: z.literal("event"), eventJson: json }),
  z.strictObject({ ...shared, kind: z.literal("snapshot"), eventJson: json, snapshotJson: json }),
]);
const frames = z.array(frame).max(limits.inspectFramesMax);

/** The frames, or null for input of another form. */
export function inspected(input: unknown): readonly InspectFrame[] | null {
  const { data } = frames.safeParse(input);
  return data ?? null;
}
