/**
 * What nodes report to each other of conversations
 * ================================================
 * The calls of the virtual object `feed`, which has one key. Restate stores calls and may deliver them to a node of
 * another version, so fields are added and never change their meaning.
 */
import { z } from "zod";
import type { KeptRow } from "../../../domain/ports/index.ts";

export const feedService = "feed";
/** The only key. */
export const feedKey = "all";

const count = z.number().int().min(0);
const boot = z.string().max(128);

const rowSchema = z.object({
  table: z.string().regex(/^[a-z]+$/u),
  id: z.string(),
  row: z.record(z.string(), z.union([z.string(), z.number(), z.null()])).nullable(),
});

/** A conversation is stored with this revision. */
export const newsSchema = z.object({
  key: z.string().min(1),
  revision: count,
  /** The revision before, to which `rows` are what has changed; null: they are to be asked for. */
  rows: z.array(rowSchema).nullable(),
});
export interface News extends Omit<z.infer<typeof newsSchema>, "rows"> {
  readonly rows: readonly KeptRow[] | null;
}

/** What a node asks of all others, and what each of them answers. */
export const noteSchema = z.object({
  kind: z.enum(["ask", "answer"]),
  /** Of the question. */
  id: z.string().max(128),
  body: z.unknown(),
});
export type Note = z.infer<typeof noteSchema>;

const batchSchema = z.object({
  news: z.array(newsSchema),
  /** Lines of the event stream, as they are. */
  lines: z.array(z.looseObject({})),
  notes: z.array(noteSchema).default([]),
  /** What pages of the web chat show for a moment, as they get it. */
  frames: z.array(z.looseObject({})).default([]),
});
export interface Batch {
  readonly news: readonly News[];
  readonly lines: readonly Readonly<Record<string, unknown>>[];
  readonly notes: readonly Note[];
  readonly frames: readonly Readonly<Record<string, unknown>>[];
}

/** `boot`: a process of a node, which does not get what it has said itself. */
export const publishSchema = batchSchema.extend({ boot });
export const announceSchema = newsSchema.pick({ key: true, revision: true });

/** Waits for what comes behind the place `after`; -1: the caller has no place yet. */
export const waitSchema = z.object({ boot, after: z.number().int().min(-1) });
export const enlistSchema = waitSchema.extend({ awakeable: z.string().min(1).max(512) });

export const answerSchema = z.object({
  /** The place of the newest that is answered. */
  head: z.number().int().min(-1),
  /** Some of it is not kept any more, or the caller had no place: it must look for itself. */
  lost: z.boolean(),
  batches: z.array(batchSchema),
});
export interface FeedAnswer extends Omit<z.infer<typeof answerSchema>, "batches"> {
  readonly batches: readonly Batch[];
}

/** A conversation as it is stored. */
export const wholeSchema = z.object({ revision: count, rows: z.array(rowSchema) });
