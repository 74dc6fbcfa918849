/**
 * Calls that fail again and again
 * ===============================
 * A conversation that cannot be made active (rows that this version cannot read, a start that fails) is tried for
 * ever, on every node, and only Restate knows that: it is asked from time to time, so that each node can say it, also
 * one without a copy. Calls under way are in the server's memory; those that are delayed are not looked at.
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
  /** In a row: nothing was stored since. */
  readonly failures: number;
  /** When it has stored something last, by the server's clock. */
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
  /** Whose calls are looked at, and of which handler. */
  readonly object: string;
  readonly handler: string;
}

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
const idForm = /^inv_\w+$/u;
const whyUnitsMax = 400;

/** What Restate says before the message of an error. */
const prefix = /^\[\d+[^\]]*\]\s*/u;

export function createFailingCalls(ports: FailingCallsPorts): FailingCalls {
  const { clock, log, admin, object, handler } = ports;
  let now: readonly FailingCall[] = [];
  let isFailing = false;

  async function read(signal: AbortSignal): Promise<readonly FailingCall[]> {
    const attempts = attemptsSchema
      .parse(
        await askAdmin(
          admin,
          "SELECT id, retry_count, last_failure FROM sys_invocation_state " +
            `WHERE retry_count >= ${engineLimits.failingCallsMin} LIMIT ${engineLimits.failingCallsShown}`,
          "calls that fail",
          signal,
        ),
      )
      .rows.filter(({ id }) => idForm.test(id));
    if (attempts.length === 0) return [];
    const ids = attempts.map(({ id }) => `'${id}'`).join(", ");
    const { rows } = targetsSchema.parse(
      await askAdmin(
        admin,
        "SELECT id, target_service_name, target_service_key, target_handler_name, modified_at " +
          `FROM sys_invocation_status WHERE id IN (${ids})`,
        "calls that fail",
        signal,
      ),
    );
    const targets = new Map(rows.map((row) => [row.id, row]));
    return attempts.flatMap(({ id, retry_count: failures, last_failure }) => {
      const target = targets.get(id);
      const key = target?.target_service_key;
      const is = target?.target_service_name === object && target.target_handler_name === handler;
      if (!is || typeof key !== "string") return [];
      const since = Date.parse(`${target.modified_at.replace(/Z$/u, "")}Z`);
      const [first = ""] = (last_failure ?? "").split("\n");
      const why = oneLine(first.replace(prefix, ""), whyUnitsMax) || "it says no reason";
      return [{ key, failures, since, why }];
    });
  }

  async function look(signal: AbortSignal): Promise<void> {
    try {
      const found = await read(signal);
      const isNew = ({ key }: FailingCall) => !now.some((known) => known.key === key);
      for (const call of found.filter(isNew)) log("warn", "engine.failing-call", { ...call });
      now = found;
      isFailing = false;
    } catch (error) {
      if (signal.aborted) return;
      if (!isFailing) log("warn", "engine.unasked", { error: String(error) });
      isFailing = true;
    }
  }

  return { list: () => now, ...repeatedLook(clock, engineLimits.failingCallsLookMs, look) };
}
