/**
 * Parses the account's config, opens it, runs its gateway and its connection machine. Failures stay
 * inside: they end as a state with a reason, never as an exception elsewhere.
 *
 * Where several nodes run the account, and its connection may exist once only, the gateway runs while this
 * node has the lease. The account is open all the time: what it can do must be known to plan an answer. While
 * another node has the lease, calls go there. A node on which the account is halted gives the lease back: what it
 * lacks (a key, a way to the platform) another one may have. Once another one has been connected for a minute, the
 * account works as such, and this node waits for its turn again; so each tries once, and none for ever. A node that
 * fails again and again passes the lease on, and takes a later turn: its way to the platform may be what is broken.
 */
import { setMaxListeners } from "node:events";
import { createActor } from "xstate";
import { accountFields } from "../../domain/config/daemon/channels.ts";
import { EarshotError } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import type { Millis, Route } from "../../domain/message.ts";
import type {
  CarriedOutbound,
  ChannelAccount,
  ChannelContext,
  ChannelDefinition,
  ChannelOutbound,
  ConnectionLeases,
  ConnectionState,
  LeaseHolder,
  Outlets,
  TimerHandle,
} from "../../domain/ports/index.ts";
import { backOff } from "../../domain/ports/pause.ts";
import { late, within } from "../../domain/ports/within.ts";
import { connectionMachine } from "../../machines/connection.machine.ts";
import { createCarriedAccount } from "./carried-account.ts";
import type { KeptGap } from "./gaps.ts";
import { followLease, type LeaseFollower } from "./lease-follower.ts";
import { leasedDelivery, leasedOutbound } from "./leased-calls.ts";

export interface ConnectionStatus {
  readonly channel: string;
  readonly account: string;
  readonly state: ConnectionState | "elsewhere" | "stopped";
  readonly since: Millis;
  readonly detail: string | null;
  readonly failures: number;
  readonly connects: number;
  /** The node that has the connection; null: nobody, or every node connects for itself. */
  readonly holder: LeaseHolder | null;
  /** What it could not recover and nobody has seen yet, oldest first. */
  readonly gaps: readonly KeptGap[];
}

export interface AccountRun {
  /** Null when the config is not valid or it could not be opened. */
  readonly account: ChannelAccount | null;
  /**
   * Where another node has the connection, its calls are made there. One that began here rejects with EAR_LEASE_LOST,
   * and calls nothing, once another node may have it.
   */
  readonly outbound: ChannelOutbound | null;
  /** Asks what became of a call that was carried to another node; null: none can have been. */
  readonly carrier: CarriedOutbound | null;
  /** Connected: here, or at the node that has the lease. */
  isReady(): boolean;
  /** Another node may have the connection. */
  isElsewhere(): boolean;
  status(): ConnectionStatus;
  sameConfig(raw: unknown): boolean;
  /**
   * Reopens a halted account with its current config. Resolves when that has begun; false: it is
   * not halted.
   */
  retry(): Promise<boolean>;
  /** Gives the connection to another node, where it may exist once: as `stop`, but calls are carried afterwards. */
  handOver(): Promise<void>;
  /** Aborts the gateway, waits for its end, then gives its lease back; each at most 2 s. */
  stop(): Promise<void>;
}

export interface AccountOptions {
  readonly definition: ChannelDefinition;
  readonly raw: unknown;
  readonly context: Omit<ChannelContext<unknown>, "config" | "reportState">;
  readonly gaps: () => readonly KeptGap[];
  /** Absent: there is one node. */
  readonly leases?: ConnectionLeases | undefined;
  /** Absent: a call is made where the connection is, or not at all. */
  readonly outlets?: Outlets | undefined;
  /** Who the account is on its platform; empty: it is not known. */
  readonly author: () => string;
  /** The node that has the connection says who the account is. */
  readonly onAuthor: (author: string) => void;
  /** Another node wants the members of a room to be read again. */
  readonly refreshMembers: (route: Route) => void;
  readonly changed: (status: ConnectionStatus) => void;
}

/** One opening of an account. */
interface OpenedAccount {
  /** Null: the config is not valid, or it could not be opened. */
  readonly account: ChannelAccount | null;
  readonly outbound: ChannelOutbound | null;
  /** Its gateway runs only while this node has the lease. */
  readonly isLeased: boolean;
  readonly stopping: AbortController;
  readonly report: ChannelContext<unknown>["reportState"];
  /** Its gateway; null: not started. */
  running: Promise<void> | null;
}

const stopMsMax = 2_000;
const backoff = { msMin: 1_000, msMax: 60_000 };

/** Starts the account and returns; progress is reported through `changed`. */
export function runAccount(options: AccountOptions): AccountRun {
  const { definition, raw, context, gaps, changed, leases } = options;
  const { clock, log } = context;
  const actor = createActor(connectionMachine, { input: { at: clock.now() } });
  let lease: LeaseFollower | null = null;
  let latest: OpenedAccount | null = null;
  let isLeaving = false;
  /** Why this node gave the lease back, until it connects or somebody retries; null: it did not. */
  let gave: { readonly why: string; readonly isHalted: boolean } | null = null;
  /** It gave it back, and does not want it yet. */
  let isOut = false;
  /** Failures before it connected. */
  let failedBefore = 0;
  let again: TimerHandle | null = null;
  let yielding: Promise<void> | null = null;
  /** Calls of the platform here. */
  const underWay = new Set<Promise<unknown>>();
  const holds = () => lease?.held() != null;
  const isHeld = () => !isLeaving && !isOut && holds();
  const carried = createCarriedAccount({
    channel: definition.id,
    account: context.accountId,
    outlets: options.outlets,
    typingIntervalMs: definition.typingIntervalMs,
    author: options.author,
    refreshMembers: options.refreshMembers,
  });

  const status = (): ConnectionStatus => {
    const { value, context: facts } = actor.getSnapshot();
    return {
      channel: definition.id,
      account: context.accountId,
      state: value,
      ...facts,
      holder: lease?.holder() ?? null,
      gaps: gaps(),
    };
  };
  let last = "";
  actor.subscribe({
    next: ({ value, context: { detail, failures } }) => {
      if (value === "backing-off" && failures - failedBefore >= limits.leaseFailuresMax)
        giveBack(false, detail ?? "its connection fails");
      const shown = `${value} ${detail ?? ""}`;
      if (shown === last) return;
      last = shown;
      carried.follow(lease, value === "live", latest?.outbound ?? null);
      const level = value === "halted" ? "error" : value === "backing-off" ? "warn" : "info";
      log(level, `connection.${value}`, detail === null ? {} : { detail });
      changed(status());
      if (value === "live") {
        gave = null;
        failedBefore = 0;
      }
      if (value === "halted") giveBack(true, detail ?? "it cannot work as it is configured");
    },
    error: (error) => log("error", "connection.broken", { error: String(error) }),
  });
  actor.start();

  const prepare = (): OpenedAccount => {
    const stopping = new AbortController();
    // One listener for each call under way.
    setMaxListeners(0, stopping.signal);
    const report = (state: ConnectionState, detail?: string): void => {
      if (stopping.signal.aborted) return;
      const at = clock.now();
      actor.send({ type: `connection.${state}`, at, ...(detail === undefined ? {} : { detail }) });
    };
    // A hook may deliver on a node that does not connect; a gateway whose lease is lost may not.
    // A node that hands over takes what comes until the end: the next one goes on behind it.
    const mayDeliver = () => !opened.isLeased || opened.running === null || holds();
    const deliver = leasedDelivery(context.deliver, mayDeliver);
    const own = { ...context, deliver, reportState: report };
    const found = openAccount(definition, raw, own);
    const account = found?.account ?? null;
    const isLeased = leases !== undefined && found?.connectsOnce === true;
    const calls = account?.outbound ?? null;
    const outbound = isLeased && calls !== null ? leasedOutbound(calls, isHeld, underWay) : calls;
    const opened: OpenedAccount = { account, outbound, isLeased, stopping, report, running: null };
    latest = opened;
    return opened;
  };
  let run = prepare();

  /** Lets another node try. */
  function giveBack(isHalted: boolean, why: string): void {
    if (isOut || isLeaving || lease?.held() == null) return;
    isOut = true;
    gave = { why, isHalted };
    yielding = yieldTo(lease);
    if (!isHalted) again = clock.setTimer(clock.now() + limits.leasePassedOnMs, wantAgain);
  }

  const connect = (): void => {
    failedBefore = status().failures;
    if (run.stopping.signal.aborted) run = prepare();
    const { account, report, stopping } = run;
    const failures = () => status().failures;
    if (account !== null)
      run.running = keepRunning(account, context, report, failures, stopping.signal);
  };
  const end = async ({ stopping, running }: OpenedAccount): Promise<void> => {
    stopping.abort();
    if (running !== null && (await within(clock, stopMsMax, running)) === late)
      log("error", "connection.stop-late");
  };
  const send = (type: `connection.${"connecting" | "elsewhere" | "halted"}`, detail?: string) =>
    actor.send({ type, at: clock.now(), ...(detail === undefined ? {} : { detail }) });

  const stopWaiting = (): void => {
    if (again !== null) clock.clearTimer(again);
    again = null;
  };
  /** Where it was halted: wants the lease again once another node has been connected for a while. */
  const awaitTurn = (isLiveThere: boolean): void => {
    if (gave?.isHalted !== true || !isOut || isLeaving) return;
    if (!isLiveThere) stopWaiting();
    else again ??= clock.setTimer(clock.now() + limits.haltedAgainMs, wantAgain);
  };
  function wantAgain(): void {
    again = null;
    void yielding?.then(() => {
      if (!isOut || isLeaving || (gave?.isHalted === true && lease?.isLiveElsewhere() !== true))
        return;
      lease = null;
      isOut = false;
      start();
    });
  }

  const start = (): void => {
    if (run.stopping.signal.aborted) run = prepare();
    if (leases === undefined || !run.isLeased || lease !== null) {
      connect();
      return;
    }
    lease = followLease({
      want: (listener) => leases.want(definition.id, context.accountId, listener),
      connect: () => {
        send("connection.connecting");
        connect();
      },
      disconnect: () => end(run),
      elsewhere(why, author) {
        if (author !== null && author !== "") options.onAuthor(author);
        awaitTurn(author !== null);
        if (gave === null) send("connection.elsewhere", why);
        else if (gave.isHalted && author === null && isOut) send("connection.halted", gave.why);
        else {
          const how = gave.isHalted ? "was halted" : "could not connect";
          send("connection.elsewhere", `${why}; this node ${how}: ${gave.why}`);
        }
      },
    });
  };
  start();
  const carrier = () =>
    run.isLeased && run.outbound !== null ? carried.outbound(run.outbound) : null;
  const yieldTo = async (own: LeaseFollower) => {
    own.stop();
    await within(clock, stopMsMax, Promise.all([carried.stop(), ...underWay]));
    await end(run);
    await within(clock, stopMsMax, own.giveBack());
  };
  const handOver = async () => {
    if (lease === null) return;
    isLeaving = true;
    stopWaiting();
    await yieldTo(lease);
  };
  const carriesElsewhere = () => lease?.isLiveElsewhere() === true && carrier() !== null;

  return {
    get account() {
      return run.account;
    },
    get outbound() {
      const isHere = !run.isLeased || isHeld();
      return (isHere ? null : carrier()) ?? run.outbound;
    },
    get carrier() {
      return carrier();
    },
    isReady: () => (status().state === "live" ? !run.isLeased || isHeld() : carriesElsewhere()),
    isElsewhere: () => run.isLeased && !isHeld(),
    status,
    sameConfig: (other) => JSON.stringify(ownFields(other)) === JSON.stringify(ownFields(raw)),
    async retry() {
      const isHalted = () => status().state === "halted";
      if (!isHalted()) return false;
      await yielding;
      await end(run);
      // It may have been stopped meanwhile.
      if (!isHalted()) return false;
      if (isOut) lease = null;
      isOut = false;
      gave = null;
      stopWaiting();
      actor.send({ type: "connection.retried", at: clock.now() });
      start();
      return true;
    },
    handOver,
    async stop() {
      if (lease === null) await end(run);
      else await handOver();
      actor.send({ type: "connection.stopped", at: clock.now() });
    },
  };
}

/** The channel's own fields: access and overrides apply without reconnecting. */
function ownFields(raw: unknown): Readonly<Record<string, unknown>> {
  const fields = Object.entries((raw ?? {}) as Readonly<Record<string, unknown>>);
  return Object.fromEntries(fields.filter(([name]) => !Object.hasOwn(accountFields, name)));
}

/** The channel's own part of an account's config, where it is valid. */
export const accountOf = (definition: ChannelDefinition, raw: unknown) =>
  definition.accountSchema.safeParse(ownFields(raw));

function openAccount(
  definition: ChannelDefinition,
  raw: unknown,
  context: Omit<ChannelContext<unknown>, "config">,
): { readonly account: ChannelAccount; readonly connectsOnce: boolean } | null {
  const parsed = accountOf(definition, raw);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(
      ({ path, message }) => `${path.join(".")}: ${message}`,
    );
    context.reportState("halted", `its config is not valid (${problems.join("; ")})`);
    return null;
  }
  try {
    return {
      account: definition.open({ ...context, config: parsed.data }),
      connectsOnce: definition.connectsOnce?.(parsed.data) ?? true,
    };
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
    await backOff({ clock, random }, backoff, failures(), signal);
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
