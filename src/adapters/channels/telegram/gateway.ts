/**
 * Telegram's poll loop
 * ====================
 * Telegram considers an update delivered when `getUpdates` is called with a higher offset, so the
 * offset only advances past durable updates: a batch is delivered with its cursor in one commit,
 * and only then is the next one requested. Unreadable updates are logged and skipped; they never
 * block the queue.
 *
 * The cursor is `<offset>@<ms>`, then the groups that became supergroups (`chats.ts`), then what is
 * held until the rest of it has arrived, as JSON (`assembly.ts`). Telegram restarts its numbering at random after a week without updates, so an offset that old is not used:
 * Telegram keeps updates for a day, and repeats are recognised.
 */
import { ZodError } from "zod";
import { EarshotError } from "../../../domain/errors.ts";
import type { Millis } from "../../../domain/message.ts";
import type { ChannelContext, ChannelEvent } from "../../../domain/ports/index.ts";
import { backOff, pauseFor } from "../../../domain/ports/pause.ts";
import { deliverEach, isLater } from "../shared/deliver.ts";
import {
  type Assembly,
  assemble,
  emptyAssembly,
  nextRelease,
  readAssembly,
  storedAssembly,
} from "./assembly.ts";
import { businessEvents, businessHint, isBusinessUpdate, requestedUpdates } from "./business.ts";
import type { TelegramChats } from "./chats.ts";
import { answerPresses, pressEvent } from "./choices.ts";
import type { TelegramClient } from "./client.ts";
import type { TelegramAccountConfig } from "./config.ts";
import { createLostUpdates } from "./lost-updates.ts";
import { offerCommands } from "./menu.ts";
import { eventOf, type Receiver, type TelegramSelf } from "./normalise.ts";
import { selfSchema, updateIdSchema, updateSchema } from "./wire.ts";

type Context = ChannelContext<TelegramAccountConfig>;

const connectMsMax = 10_000;
const backoff = { msMin: 500, msMax: 60_000 };
/** Extra time for a long poll's response. */
const pollGraceMs = 10_000;
const offsetAgeMsMax = 6 * 86_400_000;

interface Position {
  readonly offset: number;
  readonly at: Millis;
}
/** Where an account is: the next update, and what it holds back. */
interface Progress {
  /** Null: no update has been read yet. */
  readonly position: Position | null;
  readonly assembly: Assembly;
}

/** The identity of the token's bot. */
export async function whoAmI(client: TelegramClient, signal: AbortSignal): Promise<TelegramSelf> {
  const options = { kind: "connect", signal, msMax: connectMsMax } as const;
  const self = selfSchema.safeParse(await client.call("getMe", undefined, options));
  if (!self.success)
    throw new EarshotError(
      "EAR_CHANNEL_UNAVAILABLE",
      "Cannot read the bot's identity: Telegram's getMe has an unexpected form",
    );
  const { id, username, first_name, can_connect_to_business: isConnectable } = self.data;
  const hearsAll = self.data.can_read_all_group_messages;
  return {
    id: String(id),
    username,
    name: first_name || username,
    ...(isConnectable !== undefined && { isConnectable }),
    ...(hearsAll !== undefined && { hearsAll }),
  };
}

/** Receives until the signal aborts. Rejects only when the token is refused. */
export async function receive(
  client: TelegramClient,
  context: Context,
  chats: TelegramChats,
  signal: AbortSignal,
): Promise<void> {
  let self: TelegramSelf | null = null;
  let progress: Progress = { position: null, assembly: emptyAssembly };
  let failures = 0;
  let live = false;
  let offered = false;
  const nextUpdates = createPolls(client, context, signal);
  const lost = createLostUpdates(context);
  while (!signal.aborted) {
    try {
      if (self === null) {
        self = await whoAmI(client, signal);
        await removeWebhook(client, context, signal);
        progress = readCursor(await context.loadCursor(self.id), chats, context);
      }
      // The first poll after a break does not wait, so that recovery is reported immediately.
      const updates = await nextUpdates(progress, live);
      if (!live) context.reportState("live", businessHint(context.config, self));
      if (!offered) void offerCommands(client, context, signal);
      offered = true;
      live = true;
      failures = 0;
      if (isUsable(progress.position, context))
        lost.polled(updates, progress.position.offset, progress.position.at);
      const receiver = { account: context.accountId, self, chats };
      progress = await deliverBatch(updates, receiver, progress, context, signal);
      void answerPresses(client, context, updates, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof EarshotError && error.disposition === "terminal") throw error;
      live = false;
      lost.broken();
      context.reportState("backing-off", error instanceof EarshotError ? error.message : "a bug");
      if (!(error instanceof EarshotError)) throw error;
      await pause(context, error, failures, signal);
      failures += 1;
      context.reportState(self === null ? "connecting" : "resuming");
    }
  }
}

/**
 * Asks for updates, one call at a time: Telegram refuses a second one. The function returns the next
 * updates; none if what is held back is complete before any arrive, while the call goes on for the
 * next time.
 */
function createPolls(client: TelegramClient, context: Context, signal: AbortSignal) {
  let running: Promise<readonly unknown[]> | null = null;
  return async ({ position, assembly }: Progress, wait: boolean): Promise<readonly unknown[]> => {
    running ??= poll(client, context, position, wait, signal);
    const release = nextRelease(assembly);
    if (release !== null && !(await settlesBefore(running, release, context, signal))) return [];
    const arrived = running;
    running = null;
    return arrived;
  };
}

/** Whether it resolves or rejects before that time. */
async function settlesBefore(
  running: Promise<unknown>,
  time: Millis,
  { clock }: Context,
  signal: AbortSignal,
): Promise<boolean> {
  const settled = running.then(
    () => true,
    () => true,
  );
  const left = new AbortController();
  const pause = pauseFor(clock, time - clock.now(), AbortSignal.any([signal, left.signal]));
  const isFirst = await Promise.race([settled, pause.then(() => false)]);
  left.abort();
  return isFirst;
}

/** getUpdates returns nothing while a webhook is set. */
async function removeWebhook(
  client: TelegramClient,
  { log }: Context,
  signal: AbortSignal,
): Promise<void> {
  const options = { kind: "connect", signal, msMax: connectMsMax } as const;
  const { url } = await client.call("getWebhookInfo", undefined, options);
  if (typeof url !== "string" || url === "") return;
  await client.call("deleteWebhook", { drop_pending_updates: false }, options);
  log("warn", "telegram.webhook-removed", { why: "the account is configured to poll" });
}

/** Whether Telegram still counts from there. */
const isUsable = (
  position: Position | null,
  { clock }: Pick<Context, "clock">,
): position is Position => position !== null && clock.now() - position.at < offsetAgeMsMax;

async function poll(
  client: TelegramClient,
  { config, clock }: Context,
  position: Position | null,
  wait: boolean,
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  const timeout = wait ? config.pollSeconds : 0;
  const updates: unknown = await client.call(
    "getUpdates",
    {
      ...(isUsable(position, { clock }) ? { offset: position.offset } : {}),
      timeout,
      limit: 100,
      allowed_updates: requestedUpdates(config) as never,
    },
    { kind: "connect", signal, msMax: timeout * 1_000 + pollGraceMs },
  );
  if (Array.isArray(updates)) return updates;
  throw new EarshotError(
    "EAR_CHANNEL_UNAVAILABLE",
    "Cannot read updates: the response is not a list",
  );
}

/** Kinds of updates that an account has got and that say nothing here; each is logged once. */
const ignoredKinds = new WeakMap<Context, Set<string>>();

function logIgnored(raw: unknown, context: Context): void {
  const kind = Object.keys(raw as object).find((name) => name !== "update_id");
  if (
    kind === undefined ||
    kind === "callback_query" ||
    kind in updateSchema.shape ||
    !/^[a-z_]{1,64}$/.test(kind)
  )
    return;
  const known = ignoredKinds.get(context) ?? new Set();
  ignoredKinds.set(context, known);
  if (known.has(kind)) return;
  known.add(kind);
  context.log("warn", "telegram.update-ignored", { kind });
}

/** Converts an update; none for one of no interest and for unreadable ones, which are logged. */
export function readUpdate(
  raw: unknown,
  receiver: Receiver,
  context: Context,
): readonly ChannelEvent[] {
  const pressed = pressEvent(raw, receiver);
  if (pressed !== null) return [pressed];
  try {
    if (isBusinessUpdate(raw, context)) return businessEvents(raw, receiver, context);
    const update = updateSchema.parse(raw);
    logIgnored(raw, context);
    const event = eventOf(update, receiver);
    return event === null ? [] : [event];
  } catch (error) {
    if (!(error instanceof ZodError)) throw error;
    const known = updateIdSchema.safeParse(raw);
    context.log("warn", "telegram.update-unreadable", {
      update: known.success ? known.data.update_id : null,
      at: error.issues[0]?.path.join("."),
    });
    return [];
  }
}

/** Delivers a batch; returns the new progress once it is durable. */
async function deliverBatch(
  updates: readonly unknown[],
  receiver: Receiver,
  { position, assembly }: Progress,
  context: Context,
  signal: AbortSignal,
): Promise<Progress> {
  const events: ChannelEvent[] = [];
  let highest: number | null = null;
  for (const raw of updates) {
    const known = updateIdSchema.safeParse(raw);
    if (known.success) highest = Math.max(highest ?? known.data.update_id, known.data.update_id);
    events.push(...readUpdate(raw, receiver, context));
  }
  if (updates.length > 0 && highest === null)
    throw new EarshotError("EAR_CHANNEL_UNAVAILABLE", "Cannot confirm updates: none has an id");
  const at = context.clock.now();
  const { ready, next } = assemble(assembly, events, at);
  if (updates.length + ready.length === 0) return { position, assembly };
  const reached = highest === null ? position : { offset: highest + 1, at };
  await deliver(ready, cursorOf(reached ?? nowhere, receiver.chats, next), context, signal);
  receiver.chats.unsaved = false;
  return { position: reached, assembly: next };
}

/** Retries until the store accepts the batch. */
async function deliver(
  events: readonly ChannelEvent[],
  cursor: string,
  context: Context,
  signal: AbortSignal,
): Promise<void> {
  for (let failures = 0; ; failures += 1) {
    try {
      await deliverEach(context, events, { channel: "telegram", cursor });
      return;
    } catch (error) {
      signal.throwIfAborted();
      if (!isLater(error)) throw error;
      context.log("warn", "telegram.intake-closed", { error: error.code });
      await pause(context, error, failures, signal);
      signal.throwIfAborted();
    }
  }
}

/** Waits at least as long as the platform asked. */
export function pause(
  context: Context,
  { retryAfterMs }: EarshotError,
  failures: number,
  signal: AbortSignal,
): Promise<void> {
  return backOff(context, backoff, failures, signal, retryAfterMs);
}

/** The position of an account whose updates are posted. */
export const nowhere: Position = { offset: 0, at: 0 };

export function cursorOf(
  { offset, at }: Position,
  { migrated }: TelegramChats,
  assembly: Assembly,
): string {
  const parts = [`${offset}@${at}`, migrated, storedAssembly(assembly)];
  return parts.filter((part) => part !== "").join(" ");
}

/** Reads a cursor; `chats` gets the groups that became supergroups. */
export function readCursor(
  stored: string | null,
  chats: TelegramChats,
  { log }: Context,
): Progress {
  const found = /^(-?\d{1,16})@(\d{1,16})(?: ([-\d> ]+?))?(?: (\{.*\}))?$/s.exec(stored ?? "");
  if (found === null) return { position: null, assembly: emptyAssembly };
  const [, offset, at, migrated, held] = found;
  if (migrated !== undefined) chats.load(migrated);
  const position = { offset: Number(offset), at: Number(at) };
  try {
    return { position, assembly: held === undefined ? emptyAssembly : readAssembly(held) };
  } catch {
    // Only another program, or a newer earshot, has written this.
    log("error", "telegram.held-unreadable", { units: held?.length });
    return { position, assembly: emptyAssembly };
  }
}
