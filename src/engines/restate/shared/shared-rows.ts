/**
 * The shared rows, on a node
 * ==========================
 * Stores what this node changes before anything rests on it, and looks every second for what others have changed.
 */

import { EarshotError } from "../../../domain/errors.ts";
import { engineLimits } from "../../../domain/ports/engine/engine-limits.ts";
import type {
  AccessRow,
  AccessWrite,
  Clock,
  CursorWrite,
  Log,
} from "../../../domain/ports/index.ts";
import { pauseFor } from "../../../domain/ports/pause.ts";
import { answerOf, type IngressCall } from "../calls/ingress-call.ts";
import {
  accessKey,
  accessService,
  answerSchema,
  cursorService,
  cursorsSchema,
  type SharedAnswer,
  type SharedRow,
} from "./wire.ts";

export interface SharedRowsPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly call: IngressCall;
  /** Another node has changed these rows. */
  readonly onChanged: (rows: readonly SharedRow[]) => void;
}

export interface SharedRows {
  /** All rows, as they are. Those of `own` are given to all nodes when there are none yet. */
  load(own: readonly AccessRow[]): Promise<readonly AccessRow[]>;
  /** Begins to look for changes. */
  start(): void;
  /**
   * Stores these; resolves when they are durable.
   * @throws EarshotError EAR_STORE_FAILED: Restate cannot be reached, or another node was faster; nothing was
   * stored, and the same may be tried again on what `onChanged` has given.
   */
  store(writes: readonly (AccessWrite | CursorWrite)[]): Promise<void>;
  /** How far an account has read. */
  cursor(channel: string, account: string, identity: string): Promise<string | null>;
  stop(): void;
}

export function createSharedRows({ clock, log, call, onChanged }: SharedRowsPorts): SharedRows {
  let known = 0;
  /** Names of the rows that there are. */
  const names = new Set<string>();
  const stop = new AbortController();
  let isReachable = true;
  /** Changes of this node are made one after the other, as each rests on what the last has learned. */
  let last: Promise<unknown> = Promise.resolve();

  const ask = async (handler: "change" | "since", input: object): Promise<SharedAnswer> => {
    const path = `${accessService}/${accessKey}/${handler}`;
    return answerOf(answerSchema, await call(path, input), path);
  };

  /** What is different in an answer. */
  function learn({ version, whole, rows }: SharedAnswer): readonly SharedRow[] {
    const present = new Set(rows.map(({ name }) => name));
    const gone = whole ? [...names].filter((name) => !present.has(name)) : [];
    const all = [...rows, ...gone.map((name) => ({ name, body: null }))];
    for (const { name, body } of all)
      if (body === null) names.delete(name);
      else names.add(name);
    known = version;
    return all;
  }

  async function change(rows: readonly SharedRow[]): Promise<void> {
    const from = known;
    const answer = await ask("change", { known: from, rows });
    const learned = learn(answer);
    const isOwn = new Set(answer.refused ? [] : rows.map(({ name }) => name));
    const others = learned.filter(({ name }) => !isOwn.has(name));
    if (others.length > 0) onChanged(others);
    if (answer.refused)
      throw new EarshotError(
        "EAR_STORE_FAILED",
        "Cannot change who may speak: another node has just changed the same. Try it again.",
      );
  }

  async function look(): Promise<void> {
    while (!stop.signal.aborted) {
      await pauseFor(clock, engineLimits.sharedLookMs, stop.signal);
      if (stop.signal.aborted) return;
      try {
        const turn = last.then(async () => {
          const answer = await ask("since", { known });
          if (answer.version !== known) onChanged(learn(answer));
        });
        last = turn.catch(() => undefined);
        await turn;
        if (!isReachable) log("info", "shared.working");
        isReachable = true;
      } catch (error) {
        if (isReachable) log("warn", "shared.unreachable", { error: String(error) });
        isReachable = false;
      }
    }
  }

  return {
    async load(own) {
      const answer = await ask("since", { known: 0 });
      learn(answer);
      if (answer.version === 0 && own.length > 0) await change(own);
      return answer.version === 0
        ? own
        : answer.rows.flatMap(({ name, body }) => (body === null ? [] : { name, body }));
    },
    start() {
      void look();
    },
    async store(writes) {
      const rows = writes.flatMap((write) =>
        write.kind === "access" ? { name: write.name, body: write.body } : [],
      );
      const cursors = writes.flatMap((write) => (write.kind === "cursor" ? write : []));
      if (rows.length > 0) {
        const turn = last.then(() => change(rows));
        last = turn.catch(() => undefined);
        await turn;
      }
      for (const { channel, account, identity, value } of cursors)
        await call(`${cursorService}/${keyOf(channel, account)}/set`, { identity, value });
    },
    async cursor(channel, account, identity) {
      const path = `${cursorService}/${keyOf(channel, account)}/all`;
      return answerOf(cursorsSchema, await call(path), path)[identity] ?? null;
    },
    stop: () => stop.abort(),
  };
}

const keyOf = (channel: string, account: string) => encodeURIComponent(`${channel}:${account}`);
