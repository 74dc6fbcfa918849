/**
 * Opens every configured account of every channel, runs its gateway, and is the platform side of
 * the outbox. Each account has its own connection machine and fails alone: a refused token, a
 * broken library or an invalid account config halts only that account.
 *
 * A gateway that ends unexpectedly is restarted with backoff; one that rejects with a `terminal`
 * error is halted until its config changes or an operator retries it.
 */

import { accountsOf, type EarshotConfig } from "../../domain/config/index.ts";
import type { Membership } from "../../domain/decision.ts";
import { assert, EarshotError } from "../../domain/errors.ts";
import { historySchema, type Inbound, type Route } from "../../domain/message.ts";
import type {
  ChannelAccount,
  ChannelContext,
  ChannelDefinition,
  ChannelEvent,
  ChannelHook,
  Clock,
  ConnectionLeases,
  Log,
  MenuCommand,
  Outlets,
  Random,
} from "../../domain/ports/index.ts";
import { late, within } from "../../domain/ports/within.ts";
import type { IngestOptions, OutboundDirectory } from "../protocol/runtime.ts";
import type { RuntimeEvents } from "../protocol/runtime-events.ts";
import type { ConnectionStatus } from "./account-connection.ts";
import { type AccountRun, runAccount } from "./account-connection.ts";
import { createGaps, type Gaps, type SharedGaps } from "./gaps.ts";
import { createMembershipCache } from "./membership-cache.ts";

/** The part of the config that connections read. */
export type ConnectionsConfig = Pick<EarshotConfig, "channels">;

export interface ConnectionsOptions {
  readonly definitions: ReadonlyMap<string, ChannelDefinition>;
  readonly config: ConnectionsConfig;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The runtime's intake. */
  readonly ingest: (
    channel: string,
    account: string,
    events: readonly ChannelEvent[],
    options?: IngestOptions,
  ) => Promise<unknown>;
  readonly loadCursor: (
    channel: string,
    account: string,
    identity: string,
  ) => Promise<string | null>;
  /** Where an account may keep files of its own. @default nowhere */
  readonly folderOf?: (channel: string, account: string) => string;
  /** For platform menus. @default none */
  readonly commands?: readonly MenuCommand[];
  /** Whether a line is a command and nothing else. @default none is */
  readonly isCommand?: (line: string) => boolean;
  /** Where several nodes run the accounts: who connects. @default this is the only node */
  readonly leases?: ConnectionLeases | undefined;
  /** Where several nodes run the accounts: calls of a connection of another. @default they are not carried */
  readonly outlets?: Outlets | undefined;
  /** Where several nodes run the accounts: what any of them could not recover. @default known here only */
  readonly gaps?: SharedGaps | undefined;
  readonly events: Pick<RuntimeEvents, "emit">;
  /** An account connected or disconnected: waiting sends may start. */
  readonly onChange: (channel: string, account: string) => void;
}

export interface Connections {
  /**
   * Loads the channels that have an account and opens the accounts; connecting continues in the
   * background. Where all are loaded, the accounts are open when it returns.
   */
  start(): Promise<void>;
  /**
   * Stops every gateway, within 2 s, and gives their leases back, within 2 s more. Sends fail from here on, so the runtime is stopped
   * first: it stops its intake and drains its outbox over these connections.
   */
  stop(): Promise<void>;
  /**
   * Gives every connection that may exist once to another node, within 6 s. Sends go on: they are carried there. Called
   * where there is another node, before the runtime is stopped.
   */
  handOver(): Promise<void>;
  /** Opens, closes and restarts changed accounts; the others are untouched. */
  reload(config: ConnectionsConfig): Promise<void>;
  /** Reopens a halted account with its current config. False: no such halted account. */
  retry(channel: string, account: string): Promise<boolean>;
  readonly directory: OutboundDirectory;
  /** Downloads a message's file from its platform; null where the channel cannot. */
  download(
    channel: string,
    account: string,
    attachmentId: string,
    signal: AbortSignal,
  ): Promise<ReadableStream<Uint8Array> | null>;
  /** An account's hook; null when it has none, is halted or does not exist. */
  hook(channel: string, account: string): ChannelHook | null;
  states(): readonly ConnectionStatus[];
  /** A person has seen it. False: it is not kept. */
  forgetGap(id: string): boolean;
}

/** UTF-16 units assumed for an unknown channel, whose sends wait anyway. */
const unknownTextLimit = 2_000;
const unknownTypingMs = 6_000;
const memberReadMsMax = 10_000;
const historyReadMsMax = 10_000;

const accountId = (channel: string, account: string) => JSON.stringify([channel, account]);

/** Creates the connections; `start` opens them. */
export function createConnections(options: ConnectionsOptions): Connections {
  const { clock, log, definitions } = options;
  const runs = new Map<string, AccountRun>();
  /** Author ids of earshot's own accounts, by channel and account. */
  const ownAuthors = new Map<string, Author>();
  const gaps = createGaps(clock, options.gaps);
  let config = options.config;
  let changing: Promise<void> = Promise.resolve();
  let stopped = false;
  const find = (channel: string, account: string) => runs.get(accountId(channel, account));

  const open = (channel: string, account: string, raw: unknown): void => {
    const definition = definitions.get(channel);
    if (definition === undefined) {
      log("error", "channel.unknown", { channel, known: [...definitions.keys()] });
      return;
    }
    const onAuthor = (id: string) => ownAuthors.set(accountId(channel, account), { channel, id });
    runs.set(
      accountId(channel, account),
      runAccount({
        definition,
        raw,
        context: contextOf(options, gaps, definition.id, account, onAuthor),
        gaps: () => gaps.of(channel, account),
        leases: options.leases,
        outlets: options.outlets,
        author: () => ownAuthors.get(accountId(channel, account))?.id ?? "",
        onAuthor,
        refreshMembers: (route) => members.refresh(route),
        changed: (status) => reportChange(options, status),
      }),
    );
  };

  const members = createMembershipCache(clock, (route) =>
    readMembers(options, find(route.channel, route.account), route),
  );
  const wanted = () =>
    Object.entries(config.channels).flatMap(([channel, section]) =>
      accountsOf(section).map(([account, raw]) => ({ channel, account, raw })),
    );
  const openMissing = () => {
    for (const { channel, account, raw } of wanted())
      if (find(channel, account) === undefined) open(channel, account, raw);
  };

  /** A channel without an account is never loaded. */
  const openWanted = async () => {
    const names = new Set(wanted().map(({ channel }) => channel));
    const loading = [...names].flatMap((name) => definitions.get(name)?.load?.() ?? []);
    if (loading.length > 0) await Promise.all(loading);
    if (!stopped) openMissing();
  };

  const apply = async (next: ConnectionsConfig): Promise<void> => {
    if (stopped) return;
    config = next;
    const keep = new Map(
      wanted().map((entry) => [accountId(entry.channel, entry.account), entry.raw]),
    );
    const gone = [...runs].filter(([id, run]) => !keep.has(id) || !run.sameConfig(keep.get(id)));
    await Promise.all(gone.map(([, run]) => run.stop()));
    for (const [id, run] of gone) {
      runs.delete(id);
      ownAuthors.delete(id);
      members.forget(run.status().channel, run.status().account);
    }
    await openWanted();
  };

  /** Changes run one at a time: two at once would open an account twice. */
  const inTurn = <Answer>(make: () => Promise<Answer>): Promise<Answer> => {
    const change = changing.then(make);
    changing = change.then(
      () => undefined,
      () => undefined,
    );
    return change;
  };

  return {
    start: openWanted,
    async stop() {
      stopped = true;
      await Promise.all([...runs.values()].map((run) => run.stop()));
      runs.clear();
    },
    async handOver() {
      await Promise.all([...runs.values()].map((run) => run.handOver()));
    },
    reload: (next) => inTurn(() => apply(next)),
    retry: (channel, account) =>
      inTurn(async () => (await find(channel, account)?.retry()) ?? false),
    directory: {
      ...directoryOf(definitions, find, members, options),
      hasAccount: (channel, account) =>
        definitions.has(channel) &&
        wanted().some((entry) => entry.channel === channel && entry.account === account),
      accounts: () => wanted().map(({ channel, account }) => `${channel}:${account}`),
      isOurs: (channel, author) => ownAuthors.size > 0 && isOneOf(ownAuthors, channel, author),
    },
    async download(channel, account, attachmentId, signal) {
      const opened = find(channel, account)?.account;
      return (await opened?.downloadMedia?.(attachmentId, signal)) ?? null;
    },
    hook(channel, account) {
      const run = find(channel, account);
      return run?.status().state === "halted" ? null : (run?.account?.hook ?? null);
    },
    forgetGap: (id) => gaps.forget(id),
    states: () => [...runs.values()].map((run) => run.status()),
  };
}

interface Author {
  readonly channel: string;
  readonly id: string;
}

function isOneOf(known: ReadonlyMap<string, Author>, channel: string, wanted: string): boolean {
  for (const author of known.values())
    if (author.channel === channel && author.id === wanted) return true;
  return false;
}

function reportChange(
  { clock, events, onChange }: ConnectionsOptions,
  { channel, account, state, detail, since, failures, connects }: ConnectionStatus,
): void {
  events.emit.stepped?.({
    machine: "connection",
    id: `${channel}/${account}`,
    conv: null,
    event: `connection.${state}`,
    value: state,
    context: { since, failures, connects },
    detail,
    ended: false,
  });
  events.emit.line?.({ t: clock.now(), system: "connection", channel, account, state, detail });
  onChange(channel, account);
}

/** The context of one account; a cursor is stored under the identity it was last loaded for. */
function contextOf(
  options: ConnectionsOptions,
  gaps: Gaps,
  channel: string,
  account: string,
  onIdentity: (id: string) => void,
): Omit<ChannelContext<unknown>, "config" | "reportState"> {
  let identity: string | null = null;
  const log: Log = (level, event, fields) =>
    options.log(level, event, { channel, account, ...fields });
  return {
    accountId: account,
    clock: options.clock,
    random: options.random,
    commands: options.commands ?? [],
    ...(options.folderOf !== undefined && { folder: options.folderOf(channel, account) }),
    isCommand: (line) => options.isCommand?.(line) === true,
    log,
    reportGap: (gap) => gaps.add(channel, account, gap, log),
    async deliver(events, cursor) {
      if (cursor === undefined) {
        await options.ingest(channel, account, events);
        return;
      }
      assert(
        identity !== null,
        "Cannot store a cursor: its identity is unknown. Call loadCursor first",
      );
      await options.ingest(channel, account, events, { cursor: { identity, value: cursor } });
    },
    loadCursor(owner, name = owner) {
      identity = name;
      onIdentity(owner);
      return options.loadCursor(channel, account, name);
    },
  };
}

async function readMembers(
  { clock, log }: ConnectionsOptions,
  run: AccountRun | undefined,
  route: Route,
): Promise<{ humans: number; bots: number; truncated: boolean } | null> {
  if (run?.status().state !== "live" || run.account === null)
    throw new EarshotError(
      "EAR_CHANNEL_UNAVAILABLE",
      "Cannot read members: the account is not connected",
    );
  if (run.account.membership === undefined) return null;
  try {
    return await bounded(clock, memberReadMsMax, (signal) =>
      run.account?.membership?.({ ...route, thread: null }, signal),
    );
  } catch (error) {
    log("debug", "membership.failed", {
      channel: route.channel,
      account: route.account,
      error: error instanceof EarshotError ? error.code : "unknown",
    });
    throw error;
  }
}

/** The newest messages, oldest first; null: they could not be read. */
async function readHistory(
  { clock, log }: ConnectionsOptions,
  account: ChannelAccount | null,
  route: Route,
  limit: number,
): Promise<readonly Inbound[] | null> {
  try {
    const read = await within(clock, historyReadMsMax, (signal) =>
      Promise.resolve(account?.history?.(route, limit, signal) ?? null),
    );
    if (read === null) return null;
    if (read !== late) return historySchema.shape.messages.parse(read).slice(-limit);
    throw new EarshotError("EAR_CHANNEL_UNAVAILABLE", "Cannot read the history: it took too long");
  } catch (error) {
    log("warn", "history.failed", {
      channel: route.channel,
      account: route.account,
      error: error instanceof EarshotError ? error.code : "unknown",
    });
    return null;
  }
}

function directoryOf(
  definitions: ReadonlyMap<string, ChannelDefinition>,
  find: (channel: string, account: string) => AccountRun | undefined,
  members: ReturnType<typeof createMembershipCache>,
  options: ConnectionsOptions,
): Omit<OutboundDirectory, "hasAccount"> {
  return {
    outbound: (channel, account) => find(channel, account)?.outbound ?? null,
    carrier: (channel, account) => find(channel, account)?.carrier ?? null,
    ready: (channel, account) => find(channel, account)?.isReady() === true,
    textLimit: (channel) => definitions.get(channel)?.textLimit ?? unknownTextLimit,
    typingIntervalMs: (channel) => definitions.get(channel)?.typingIntervalMs ?? unknownTypingMs,
    chatKind: (channel, id) => definitions.get(channel)?.chatKind?.(id) ?? null,
    isLocal: (channel) => definitions.get(channel)?.local ?? false,
    refreshMembership(route) {
      if (find(route.channel, route.account)?.isElsewhere() !== true) members.refresh(route);
      else options.outlets?.refreshMembers(route);
    },
    membership: (route): Membership | null => members.get(route),
    firstReads(channel, account) {
      const run = find(channel, account);
      if (run?.status().state !== "live" || run.account === null) return null;
      const { membership, history } = run.account;
      if (membership === undefined && history === undefined) return null;
      return {
        members: membership === undefined ? null : members.first,
        history:
          history === undefined
            ? null
            : (route, limit) => readHistory(options, run.account, route, limit),
      };
    },
  };
}

/** Runs `work` with a signal that aborts after `ms` on the given clock. */
async function bounded<Answer>(
  clock: Clock,
  ms: number,
  work: (signal: AbortSignal) => Promise<Answer> | undefined,
): Promise<Answer | null> {
  const stop = new AbortController();
  const timer = clock.setLimit(ms, () => stop.abort());
  try {
    return (await work(stop.signal)) ?? null;
  } finally {
    clock.clearTimer(timer);
  }
}
