/**
 * Calls that fail again and again
 * ===============================
 * A conversation that cannot be made active (rows that this version cannot read, a start that fails) is tried for
 * ever, on every node, and only Restate knows that: it is asked from time to time, so that each node can say it, also
 * one without a copy. Calls under way are in the server's memory; those that are delayed are not looked at.
 *
 * Such a call stores something now and then that helps nobody: that an attempt began, and what people say meanwhile. It
 * goes on when it has stored rows, which the revision of its conversation says.
 */
import { z } from "zod";
import type { Millis } from "../../../domain/message.ts";
import { engineLimits } from "../../../domain/ports/engine/engine-limits.ts";
import type { Clock, Log } from "../../../domain/ports/index.ts";
import { oneLine } from "../../../domain/sanitize.ts";
import { askAdmin } from "./admin-query.ts";
import { repeatedLook } from "./repeated-look.ts";

export interface FailingCall {
  /** Key of the object. */
  readonly key: string;
  /** In a row: no rows were stored since. */
  readonly failures: number;
  /** No rows were stored since then. */
  readonly since: Millis;
  /** Of the last attempt. */
  readonly why: string;
}

export interface FailingCalls {
  /** As they were when the server was asked last. */
  list(): readonly FailingCall[];
  /** Begins to look. */
  start(): void;
  stop(): Promise<void>;
}

export interface FailingCallsPorts {
  readonly clock: Clock;
  readonly log: Log;
  /** Base URL of Restate's admin API. */
  readonly admin: string;
  /** Whose calls are looked at, and of which handler; its state has a `revision`. */
  readonly object: string;
  readonly handler: string;
}

/** One that has been found, with what it had stored then. */
interface KnownCall extends FailingCall {
  readonly revision: string | null;
}

const idsSchema = z.object({ rows: z.array(z.object({ id: z.string() })) });
const attemptsSchema = z.object({
  rows: z.array(
    z.object({ id: z.string(), retry_count: z.number(), last_failure: z.string().nullish() }),
  ),
});
const targetsSchema = z.object({
  rows: z.array(
    z.object({
      id: z.string(),
      target_service_name: z.string(),
      target_service_key: z.string().nullish(),
      target_handler_name: z.string(),
      modified_at: z.string(),
    }),
  ),
});
const revisionSchema = z.object({ rows: z.array(z.object({ value_utf8: z.string() })) });
const idForm = /^inv_\w+$/u;
const whyUnitsMax = 400;

/** What Restate says before the message of an error. */
const prefix = /^\[\d+[^\]]*\]\s*/u;

export function createFailingCalls(ports: FailingCallsPorts): FailingCalls {
  const { clock, log, admin, object, handler } = ports;
  /** By the ids of calls. */
  let now: ReadonlyMap<string, KnownCall> = new Map();
  let isFailing = false;

  const asked = (query: string, signal: AbortSignal) =>
    askAdmin(admin, query, "calls that fail", signal);

  /** How often rows of a conversation were stored; null: never. */
  async function revisionOf(key: string, signal: AbortSignal): Promise<string | null> {
    const { rows } = revisionSchema.parse(
      await asked(
        `SELECT value_utf8 FROM state WHERE service_name = '${object}' ` +
          `AND service_key = '${key.replaceAll("'", "''")}' AND key = 'revision'`,
        signal,
      ),
    );
    return rows[0]?.value_utf8 ?? null;
  }

  async function read(signal: AbortSignal): Promise<ReadonlyMap<string, KnownCall>> {
    const often = idsSchema
      .parse(
        await asked(
          "SELECT id FROM sys_invocation_state " +
            `WHERE retry_count >= ${engineLimits.failingCallsMin} ` +
            // Always the same ones.
            `ORDER BY id LIMIT ${engineLimits.failingCallsRead}`,
          signal,
        ),
      )
      .rows.filter(({ id }) => idForm.test(id));
    if (often.length === 0) return new Map();
    const { rows: targets } = targetsSchema.parse(
      await asked(
        "SELECT id, target_service_name, target_service_key, target_handler_name, modified_at " +
          `FROM sys_invocation_status WHERE id IN (${listOf(often)}) ORDER BY id`,
        signal,
      ),
    );
    const own = targets
      .flatMap(({ id, target_service_key: key, modified_at, ...target }) => {
        const is = target.target_service_name === object && target.target_handler_name === handler;
        if (!is || typeof key !== "string") return [];
        const since = Date.parse(`${modified_at.replace(/Z$/u, "")}Z`);
        // The server's clock may be ahead of this one.
        return [{ id, key, since: Math.min(since, clock.now()) }];
      })
      .slice(0, engineLimits.failingCallsShown);
    if (own.length === 0) return new Map();
    const revisions = await Promise.all(own.map(({ key }) => revisionOf(key, signal)));
    // At last: what has failed since has not gone on with what was stored by then.
    const { rows: attempts } = attemptsSchema.parse(
      await asked(
        "SELECT id, retry_count, last_failure FROM sys_invocation_state " +
          `WHERE id IN (${listOf(own)})`,
        signal,
      ),
    );
    const attemptOf = new Map(attempts.map((attempt) => [attempt.id, attempt]));
    const found = own.flatMap(({ id, key, since }, index) => {
      const attempt = attemptOf.get(id);
      if (attempt === undefined) return [];
      const { retry_count: failures, last_failure } = attempt;
      const why = reasonIn(last_failure);
      const revision = revisions[index] ?? null;
      const before = now.get(id);
      if (before?.revision === revision)
        return [[id, { ...before, failures, why: why ?? before.why }] as const];
      // An attempt that has stored something has no failure yet: it may well go on.
      return why === null ? [] : [[id, { key, failures, since, why, revision }] as const];
    });
    return new Map(found);
  }

  async function look(signal: AbortSignal): Promise<void> {
    try {
      const found = await read(signal);
      for (const [id, { key, failures, since, why }] of found)
        if (!now.has(id)) log("warn", "engine.failing-call", { key, failures, since, why });
      now = found;
      isFailing = false;
    } catch (error) {
      if (signal.aborted) return;
      if (!isFailing) log("warn", "engine.unasked", { error: String(error) });
      isFailing = true;
    }
  }

  return {
    list: () => [...now.values()],
    ...repeatedLook(clock, engineLimits.failingCallsLookMs, look),
  };
}

/** One line of what Restate says of the last attempt; null: it has not failed. */
function reasonIn(failure: string | null | undefined): string | null {
  if (!failure) return null;
  const [first = ""] = failure.split("\n");
  return oneLine(first.replace(prefix, ""), whyUnitsMax) || "it says no reason";
}

const listOf = (calls: readonly { readonly id: string }[]) =>
  calls.map(({ id }) => `'${id}'`).join(", ");
