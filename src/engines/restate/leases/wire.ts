/**
 * What is said of leases over Restate
 * ===================================
 * The calls of the virtual object `leases`, which has one key, and the table that it answers. Restate stores
 * calls and may deliver them to a node of another version, so fields are added and never change their meaning.
 */
import { z } from "zod";
import { engineLimits } from "../../../domain/ports/engine/engine-limits.ts";

export const leaseService = "leases";
/** One table for all: a call costs the same for one account and for hundreds. */
export const leaseKey = "all";

const id = z.string().min(1).max(128);
const count = z.number().int().min(0);
const account = z.string().min(1).max(512);
const author = z.string().max(512);

/** Which version each has of what nodes share. */
const versions = z.record(z.string().max(64), count);

/** What a process of a node says of itself, to be shown: nothing is decided by it. */
export const factsSchema = z.object({
  version: z.string().max(64),
  /** Where its pages are; null: it does not know. */
  address: z.string().max(512).nullable(),
  startedAt: z.number(),
  /** It takes no more conversations. */
  stops: z.boolean(),
  /** Conversations that are active there, and turns that run. */
  conversations: count,
  turns: count,
  /** Its copy of all conversations: how many are missing in it, and since when any is. Null: it keeps none. */
  copy: z.object({ behind: count, since: z.number().nullable() }).nullable(),
  /** Numbers of conversations that people look at there: the texts of their running turns are reported. */
  watched: z.array(count).max(engineLimits.watchedShown).default([]),
});
export type NodeFacts = z.infer<typeof factsSchema>;

export const beatSchema = z.object({
  /** One process of a node: another one with the same name is another holder. */
  boot: id,
  /** The name that is shown. */
  node: id,
  /** Grows with each call of this process: one that comes late is recognised. */
  beat: count.min(1),
  /** The caller's clock, ms since the epoch, to be shown; nothing is decided by it. */
  at: z.number(),
  /** Every account that the node wants or holds; what it held and does not name is free. */
  wants: z.array(account).max(engineLimits.leaseAccountsMax),
  /** Those of them that are connected here, with who the account is on its platform; empty: it is unknown. */
  live: z.record(account, author).default({}),
  /** Its last call. */
  leaves: z.boolean(),
  /** Processes that the caller has watched for `leaseLapseMs` without a new beat. */
  lapsed: z.array(z.object({ boot: id, beat: count })).max(engineLimits.leaseNodesMax),
  /** Null: a node of an older version. */
  facts: factsSchema.nullable().default(null),
  /** See `news.ts`; null: a node of an older version, which says nothing of it. */
  shared: versions.nullable().default(null),
});
export type Beat = z.infer<typeof beatSchema>;

export const tableSchema = z.object({
  /** Grows when a lease or the set of processes changes, or one says a newer version of what nodes share. */
  version: count,
  /** By boot. */
  nodes: z.record(
    z.string(),
    z.object({
      node: z.string(),
      beat: count,
      left: z.boolean(),
      facts: factsSchema.nullable().default(null),
      /** Accounts that it wants, the first of them. */
      wants: z.array(z.string()).default([]),
      /** Null also: a node of an older version took its last beat. */
      shared: versions.nullable().default(null),
    }),
  ),
  /** Nodes that are gone and have not come back, the oldest first, with the time as another node says it. */
  gone: z
    .array(z.object({ node: z.string(), at: z.number(), how: z.enum(["stopped", "lapsed"]) }))
    .default([]),
  /** By account. `boot`: null, it is free. The row stays, for its epoch. */
  leases: z.record(
    z.string(),
    z.object({
      epoch: count,
      boot: z.string().nullable(),
      node: z.string(),
      /** When `boot` got it, or gave it up. */
      since: z.number(),
      /** As the holder says it; null: it is not connected. */
      live: author.nullable().default(null),
    }),
  ),
});
export type LeaseTable = z.infer<typeof tableSchema>;

/** Waits until the table has another version than this one. */
export const waitSchema = z.object({ boot: id, version: count });
export const enlistSchema = waitSchema.extend({ awakeable: z.string().min(1).max(512) });
