/**
 * What is said of files that all nodes read
 * =========================================
 * The virtual object `files` has a key for each file. Fields are added and never change their meaning, as Restate may
 * deliver a call to a node of another version.
 */
import { z } from "zod";
import { engineLimits } from "../../../domain/ports/engine/engine-limits.ts";

export const fileService = "files";
export const filePath = (id: string, handler: string) =>
  `${fileService}/${encodeURIComponent(id)}/${handler}`;

const place = z
  .number()
  .int()
  .min(0)
  .max(engineLimits.filePiecesMax - 1);
const facts = z.string().max(engineLimits.fileFactsUnitsMax);
/** How long it is kept from now on, ms. */
const keepMs = z.number().int().min(1);

export const pieceSchema = z.object({
  place,
  /** Base64. */
  data: z.string().max((engineLimits.filePieceBytes * 4) / 3),
});
export const readSchema = z.object({ place });

/** What is known of a whole file. */
export const fileSchema = z.object({
  bytes: z.number().int().min(0),
  pieces: z.number().int().min(0).max(engineLimits.filePiecesMax),
  /** Of its bytes, 64 hexadecimal digits. */
  sha256: z.string().length(64),
  /** What its nodes say of it; Restate only keeps it. */
  label: facts,
  /** What it belongs to; null: nothing yet. */
  owner: facts.nullable(),
});
/** A file that is in Restate. */
export type SharedFile = z.infer<typeof fileSchema>;

export const sealSchema = fileSchema.extend({ keepMs });
export const ownSchema = z.object({ owner: facts, keepMs });
export const eraseSchema = z.object({
  /** Also a file that belongs to something. */
  owned: z.boolean(),
});
export const expireSchema = z.object({ mark: z.string() });

/** `gone`: there is no such file. `other`: it belongs to something else. */
export const ownedSchema = z.enum(["owned", "gone", "other"]);
export type Owned = z.infer<typeof ownedSchema>;
