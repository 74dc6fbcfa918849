/**
 * Rows that all nodes share, on a node
 * ====================================
 * Stores what this node changes before anything rests on it, and looks every few seconds for what others have changed.
 */
import type { Millis } from "../../../domain/message.ts";
import { engineLimits } from "../../../domain/ports/engine/engine-limits.ts";
import type { Clock, Log } from "../../../domain/ports/index.ts";
import { pauseFor } from "../../../domain/ports/pause.ts";
import { answerOf, type IngressCall } from "../calls/ingress-call.ts";
import { answerSchema, rowsKey, type SharedAnswer, type SharedRow } from "./wire.ts";

export interface SharedTablePorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly call: IngressCall;
  /** The object that has the rows. */
  readonly service: string;
  /** How often it looks for what others have changed, ms. @default engineLimits.sharedLookMs */
  readonly lookMs?: Millis;
  /** Another node has changed these rows. */
  readonly onChanged: (rows: readonly SharedRow[]) => void;
}

export interface SharedTable {
  /** All rows, as they are. Those of `own` are given to all nodes when there are none yet. */
  load<Row extends { readonly name: string; readonly body: string }>(
    own: readonly Row[],
  ): Promise<readonly { readonly name: string; readonly body: string }[]>;
  /** Begins to look for changes. */
  start(): void;
  /** Learns what others have changed until now. @throws EarshotError EAR_STORE_FAILED */
  refresh(): Promise<void>;
  /** Which state of the rows is known. */
  version(): number;
  /**
   * Stores these; resolves when they are durable. False: nothing was stored, as another node has changed one of them
   * since `basis`, and `onChanged` has been given what it is now.
   * @param basis the state on which they rest. @default the one that is known when the call is made
   * @throws EarshotError EAR_STORE_FAILED: Restate cannot be reached; they may be stored all the same.
   */
  change(rows: readonly SharedRow[], basis?: number): Promise<boolean>;
  stop(): void;
}

export function createSharedTable(ports: SharedTablePorts): SharedTable {
  const { clock, log, call, service, onChanged, lookMs = engineLimits.sharedLookMs } = ports;
  let known = 0;
  /** Names of the rows that there are. */
  const names = new Set<string>();
  const stop = new AbortController();
  let isReachable = true;
  /** Calls are made one after the other, as each rests on what the last has learned. */
  let last: Promise<unknown> = Promise.resolve();

  const ask = async (handler: "change" | "since", input: object): Promise<SharedAnswer> => {
    const path = `${service}/${rowsKey}/${handler}`;
    return answerOf(answerSchema, await call(path, input), path);
  };
  function inTurn<Answer>(make: () => Promise<Answer>): Promise<Answer> {
    const turn = last.then(make);
    last = turn.catch(() => undefined);
    return turn;
  }

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

  async function changeNow(rows: readonly SharedRow[], basis = known): Promise<boolean> {
    const answer = await ask("change", { known: basis, rows });
    const learned = learn(answer);
    const isOwn = new Set(answer.refused ? [] : rows.map(({ name }) => name));
    const others = learned.filter(({ name }) => !isOwn.has(name));
    if (others.length > 0) onChanged(others);
    return !answer.refused;
  }

  const refresh = () =>
    inTurn(async () => {
      const answer = await ask("since", { known });
      if (answer.version !== known) onChanged(learn(answer));
    });

  async function look(): Promise<void> {
    while (!stop.signal.aborted) {
      await pauseFor(clock, lookMs, stop.signal);
      if (stop.signal.aborted) return;
      try {
        await refresh();
        if (!isReachable) log("info", "shared.working", { object: service });
        isReachable = true;
      } catch (error) {
        if (isReachable)
          log("warn", "shared.unreachable", { object: service, error: String(error) });
        isReachable = false;
      }
    }
  }

  return {
    async load(own) {
      const answer = await ask("since", { known: 0 });
      learn(answer);
      if (answer.version === 0 && own.length > 0) await inTurn(() => changeNow(own));
      return answer.version === 0
        ? own
        : answer.rows.flatMap(({ name, body }) => (body === null ? [] : { name, body }));
    },
    start() {
      void look();
    },
    refresh,
    version: () => known,
    change: (rows, basis) => inTurn(() => changeNow(rows, basis)),
    stop: () => stop.abort(),
  };
}
