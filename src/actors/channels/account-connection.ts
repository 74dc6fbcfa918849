/**
 * Parses the account's config, opens it, runs its gateway and its connection machine. Failures stay
 * inside: they end as a state with a reason, never as an exception elsewhere.
 */
import { setMaxListeners } from "node:events";
import { createActor } from "xstate";
import { accountFields } from "../../domain/config/daemon/channels.ts";
import { EarshotError } from "../../domain/errors.ts";
import type { Millis } from "../../domain/message.ts";
import type {
  ChannelAccount,
  ChannelContext,
  ChannelDefinition,
  ConnectionState,
} from "../../domain/ports/index.ts";
import { pauseFor } from "../../domain/ports/pause.ts";
import { late, within } from "../../domain/ports/within.ts";
import { connectionMachine } from "../../machines/connection.machine.ts";
import type { KeptGap } from "./gaps.ts";

export interface ConnectionStatus {
  readonly channel: string;
  readonly account: string;
  readonly state: ConnectionState | "stopped";
  readonly since: Millis;
  readonly detail: string | null;
  readonly failures: number;
  readonly connects: number;
  /** What it could not recover and nobody has seen yet, oldest first. */
  readonly gaps: readonly KeptGap[];
}

export interface AccountRun {
  /** Null when the config is not valid or it could not be opened. */
  readonly account: ChannelAccount | null;
  status(): ConnectionStatus;
  sameConfig(raw: unknown): boolean;
  /**
   * Reopens a halted account with its current config. Resolves when that has begun; false: it is
   * not halted.
   */
  retry(): Promise<boolean>;
  /** Aborts the gateway and waits for its end, at most 2 s. */
  stop(): Promise<void>;
}

export interface AccountOptions {
  readonly definition: ChannelDefinition;
  readonly raw: unknown;
  readonly context: Omit<ChannelContext<unknown>, "config" | "reportState">;
  readonly gaps: () => readonly KeptGap[];
  readonly changed: (status: ConnectionStatus) => void;
}

/** One opening of an account. */
interface OpenedAccount {
  /** Null: the config is not valid, or it could not be opened. */
  readonly account: ChannelAccount | null;
  readonly stopping: AbortController;
  readonly running: Promise<void>;
}

const stopMsMax = 2_000;
const pauseMsMin = 1_000;
const pauseMsMax = 60_000;

/** Starts the account and returns; progress is reported through `changed`. */
export function runAccount(options: AccountOptions): AccountRun {
  const { definition, raw, context, gaps, changed } = options;
  const { clock, log } = context;
  const actor = createActor(connectionMachine, { input: { at: clock.now() } });
  const status = (): ConnectionStatus => {
    const { value, context: facts } = actor.getSnapshot();
    return {
      channel: definition.id,
      account: context.accountId,
      state: value,
      ...facts,
      gaps: gaps(),
    };
  };
  let last = "";
  actor.subscribe({
    next: ({ value, context: { detail } }) => {
      const shown = `${value} ${detail ?? ""}`;
      if (shown === last) return;
      last = shown;
      const level = value === "halted" ? "error" : value === "backing-off" ? "warn" : "info";
      log(level, `connection.${value}`, detail === null ? {} : { detail });
      changed(status());
    },
    error: (error) => log("error", "connection.broken", { error: String(error) }),
  });
  actor.start();

  const begin = (): OpenedAccount => {
    const stopping = new AbortController();
    // One listener for each call under way.
    setMaxListeners(0, stopping.signal);
    const report = (state: ConnectionState, detail?: string): void => {
      if (stopping.signal.aborted) return;
      const at = clock.now();
      actor.send({ type: `connection.${state}`, at, ...(detail === undefined ? {} : { detail }) });
    };
    const account = openAccount(definition, raw, { ...context, reportState: report });
    const failures = () => status().failures;
    const running =
      account === null
        ? Promise.resolve()
        : keepRunning(account, context, report, failures, stopping.signal);
    return { account, stopping, running };
  };
  let run = begin();
  const end = async ({ stopping, running }: OpenedAccount): Promise<void> => {
    stopping.abort();
    if ((await within(clock, stopMsMax, running)) === late) log("error", "connection.stop-late");
  };

  return {
    get account() {
      return run.account;
    },
    status,
    sameConfig: (other) => JSON.stringify(ownFields(other)) === JSON.stringify(ownFields(raw)),
    async retry() {
      const isHalted = () => status().state === "halted";
      if (!isHalted()) return false;
      await end(run);
      // It may have been stopped meanwhile.
      if (!isHalted()) return false;
      actor.send({ type: "connection.retried", at: clock.now() });
      run = begin();
      return true;
    },
    async stop() {
      await end(run);
      actor.send({ type: "connection.stopped", at: clock.now() });
    },
  };
}

/** The channel's own fields: access and overrides apply without reconnecting. */
function ownFields(raw: unknown): Readonly<Record<string, unknown>> {
  const fields = Object.entries((raw ?? {}) as Readonly<Record<string, unknown>>);
  return Object.fromEntries(fields.filter(([name]) => !Object.hasOwn(accountFields, name)));
}

function openAccount(
  definition: ChannelDefinition,
  raw: unknown,
  context: Omit<ChannelContext<unknown>, "config">,
): ChannelAccount | null {
  const parsed = definition.accountSchema.safeParse(ownFields(raw));
  if (!parsed.success) {
    const problems = parsed.error.issues.map(
      ({ path, message }) => `${path.join(".")}: ${message}`,
    );
    context.reportState("halted", `its config is not valid (${problems.join("; ")})`);
    return null;
  }
  try {
    return definition.open({ ...context, config: parsed.data });
  } catch (error) {
    context.reportState("halted", `it could not be opened (${describeError(error)})`);
    return null;
  }
}

async function keepRunning(
  account: ChannelAccount,
  { clock, random, log }: Pick<ChannelContext<unknown>, "clock" | "random" | "log">,
  report: ChannelContext<unknown>["reportState"],
  failures: () => number,
  signal: AbortSignal,
): Promise<void> {
  // A local channel is live immediately; listeners must be able to find the account.
  await Promise.resolve();
  while (!signal.aborted) {
    try {
      await account.start(signal);
      if (!signal.aborted) report("backing-off", "its gateway ended by itself");
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof EarshotError && error.disposition === "terminal") {
        report("halted", error.message);
        return;
      }
      log("error", "connection.crashed", { error: describeError(error) });
      report("backing-off", `its gateway failed (${describeError(error)})`);
    }
    if (signal.aborted) return;
    const pause = Math.min(pauseMsMax, pauseMsMin * 2 ** Math.min(failures(), 10));
    await pauseFor(clock, pause * (0.5 + random.next() / 2), signal);
    report("connecting");
  }
}

/**
 * Describes an error for the log: EarshotError in full, others by name, because their text may hold
 * a secret.
 */
function describeError(error: unknown): string {
  if (error instanceof EarshotError) return `${error.code}: ${error.message}`;
  return error instanceof Error ? error.name : typeof error;
}
