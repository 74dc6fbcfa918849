/**
 * Rows that all nodes share, on a node
 * ====================================
 * Stores what this node changes before anything rests on it, and reads what others have changed when it hears that they
 * have. It looks all the same now and then, as what it should have heard may be lost: often while it cannot hear.
 */
import type { Millis } from "../../../domain/message.ts";
import { engineLimits } from "../../../domain/ports/engine/engine-limits.ts";
import type { Clock, Log } from "../../../domain/ports/index.ts";
import { pauseFor } from "../../../domain/ports/pause.ts";
import { answerOf, type IngressCall } from "../calls/ingress-call.ts";
import { createSharedNews, type SharedNews } from "../leases/news.ts";
import { answerSchema, rowsKey, type SharedAnswer, type SharedRow } from "./wire.ts";

export interface SharedPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly call: IngressCall;
  /** News of what others have changed, and to them of what this node has. @default nobody is heard */
  readonly news?: SharedNews;
}

export interface SharedTablePorts extends SharedPorts {
  /** The object that has the rows. */
  readonly service: string;
  /** How often it looks while it cannot hear of a change, ms. @default engineLimits.sharedLookMs */
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
  const { news = createSharedNews(false) } = ports;
  let known = 0;
  /** The newest version that any node has, as far as is heard; the same when it was looked for last. */
  let newest = 0;
  let newestThen = 0;
  let lookedAt = clock.monotonic();
  /** Ends the pause before the next look. */
  let waiting = new AbortController();
  /** Names of the rows that there are. */
  const names = new Set<string>();
  const stop = new AbortController();
  let isReachable = true;
  /** A change was not answered: it may be stored, and then the others do not know of it. */
  let isUnsure = false;
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
    if (version > newest) news.changed();
    return all;
  }

  async function changeNow(rows: readonly SharedRow[], basis = known): Promise<boolean> {
    const answer = await ask("change", { known: basis, rows }).catch((error: unknown) => {
      isUnsure = true;
      waiting.abort();
      throw error;
    });
    const learned = learn(answer);
    const isOwn = new Set(answer.refused ? [] : rows.map(({ name }) => name));
    const others = learned.filter(({ name }) => !isOwn.has(name));
    if (others.length > 0) onChanged(others);
    return !answer.refused;
  }

  const refresh = () =>
    inTurn(async () => {
      newestThen = newest;
      const answer = await ask("since", { known });
      isUnsure = false;
      if (answer.version !== known) onChanged(learn(answer));
    });

  function msUntilLook(): Millis {
    if (newest > Math.max(known, newestThen)) return 0;
    const isSure = news.isHearing() && isReachable && !isUnsure && newest <= known;
    const everyMs = isSure ? engineLimits.sharedRareLookMs : lookMs;
    return Math.max(0, lookedAt + everyMs - clock.monotonic());
  }

  /** Ends when a look is due. */
  async function due(): Promise<void> {
    for (let ms = msUntilLook(); ms > 0 && !stop.signal.aborted; ms = msUntilLook()) {
      waiting = new AbortController();
      await pauseFor(clock, ms, waiting.signal);
    }
  }

  async function look(): Promise<void> {
    while (!stop.signal.aborted) {
      await due();
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
      lookedAt = clock.monotonic();
    }
  }
  news.join(service, {
    version: () => known,
    heard(version) {
      newest = version;
      waiting.abort();
    },
  });

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
      lookedAt = clock.monotonic();
      void look();
    },
    refresh,
    version: () => known,
    change: (rows, basis) => inTurn(() => changeNow(rows, basis)),
    stop() {
      stop.abort();
      waiting.abort();
    },
  };
}
