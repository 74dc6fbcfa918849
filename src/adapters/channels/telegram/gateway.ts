/**
 * Telegram's poll loop
 * ====================
 * Telegram takes an update for delivered as soon as `getUpdates` is called with a higher offset, so
 * the offset moves only behind what is durable: a batch is delivered with its cursor in one commit,
 * and only then is the next one asked for. Updates that cannot be read are logged and passed over;
 * they never block the line.
 *
 * The cursor is `<offset>@<ms>`. Telegram restarts its numbering at random after a week without
 * updates, so an offset that old is not used: Telegram keeps updates for a day, and what it repeats
 * is recognised.
 */
import { EarshotError } from "../../../domain/errors.ts";
import type { Millis } from "../../../domain/message.ts";
import type { ChannelContext, ChannelEvent } from "../../../domain/ports/index.ts";
import { pauseFor } from "../../../domain/ports/pause.ts";
import type { TelegramClient } from "./client.ts";
import type { TelegramAccountConfig } from "./config.ts";
import { offerCommands } from "./menu.ts";
import { eventOf, type TelegramSelf } from "./normalise.ts";
import { selfSchema, updateIdSchema, updateSchema } from "./wire.ts";

type Context = ChannelContext<TelegramAccountConfig>;

const connectMsMax = 10_000;
const pauseMsMin = 500;
const pauseMsMax = 60_000;
/** How much longer than asked for a long poll may take. */
const pollGraceMs = 10_000;
const offsetAgeMsMax = 6 * 86_400_000;

interface Position {
  readonly offset: number;
  readonly at: Millis;
}

/** Who the token belongs to. */
export async function whoAmI(client: TelegramClient, signal: AbortSignal): Promise<TelegramSelf> {
  const options = { kind: "connect", signal, msMax: connectMsMax } as const;
  const self = selfSchema.safeParse(await client.call("getMe", undefined, options));
  if (!self.success)
    throw new EarshotError("EAR_CHANNEL_UNAVAILABLE", "Cannot read who the bot is at Telegram");
  const { id, username, first_name } = self.data;
  return { id: String(id), username, name: first_name || username };
}

/** Receives until the signal aborts. Rejects only when the token is refused. */
export async function receive(
  client: TelegramClient,
  context: Context,
  signal: AbortSignal,
): Promise<void> {
  let self: TelegramSelf | null = null;
  let position: Position | null = null;
  let failures = 0;
  let live = false;
  let offered = false;
  while (!signal.aborted) {
    try {
      if (self === null) {
        self = await whoAmI(client, signal);
        await removeWebhook(client, context, signal);
        position = readCursor(await context.loadCursor(self.id));
      }
      // The first poll after a break asks for no waiting, so that being back is known at once.
      const updates = await poll(client, context, position, live, signal);
      if (!live) context.reportState("live");
      if (!offered) void offerCommands(client, context, signal);
      offered = true;
      live = true;
      failures = 0;
      position = await take(updates, self, position, context, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof EarshotError && error.disposition === "terminal") throw error;
      live = false;
      context.reportState("backing-off", error instanceof EarshotError ? error.message : "a bug");
      if (!(error instanceof EarshotError)) throw error;
      await pause(context, error, failures, signal);
      failures += 1;
      context.reportState(self === null ? "connecting" : "resuming");
    }
  }
}

/** Telegram tells a bot nothing when asked while it still posts somewhere. */
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

async function poll(
  client: TelegramClient,
  { config, clock }: Context,
  position: Position | null,
  wait: boolean,
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  const usable = position !== null && clock.now() - position.at < offsetAgeMsMax;
  const timeout = wait ? config.pollSeconds : 0;
  const updates: unknown = await client.call(
    "getUpdates",
    {
      ...(usable ? { offset: position.offset } : {}),
      timeout,
      limit: 100,
      allowed_updates: config.allowedUpdates as never,
    },
    { kind: "connect", signal, msMax: timeout * 1_000 + pollGraceMs },
  );
  if (Array.isArray(updates)) return updates;
  throw new EarshotError("EAR_CHANNEL_UNAVAILABLE", "Cannot read updates as they are not a list");
}

/** What an update tells; null for nothing, and for what cannot be read, which is logged. */
export function readUpdate(
  raw: unknown,
  self: TelegramSelf,
  { accountId, log }: Context,
): ChannelEvent | null {
  const update = updateSchema.safeParse(raw);
  if (update.success) return eventOf(update.data, accountId, self);
  const known = updateIdSchema.safeParse(raw);
  log("warn", "telegram.update-unreadable", {
    update: known.success ? known.data.update_id : null,
    at: update.error.issues[0]?.path.join("."),
  });
  return null;
}

/** Delivers a batch; the new position once it is durable. */
async function take(
  updates: readonly unknown[],
  self: TelegramSelf,
  position: Position | null,
  context: Context,
  signal: AbortSignal,
): Promise<Position | null> {
  if (updates.length === 0) return position;
  const events: ChannelEvent[] = [];
  let highest: number | null = null;
  for (const raw of updates) {
    const known = updateIdSchema.safeParse(raw);
    if (known.success) highest = Math.max(highest ?? known.data.update_id, known.data.update_id);
    const event = readUpdate(raw, self, context);
    if (event !== null) events.push(event);
  }
  if (highest === null)
    throw new EarshotError("EAR_CHANNEL_UNAVAILABLE", "Cannot confirm updates as none has an id");
  const next = { offset: highest + 1, at: context.clock.now() };
  await deliver(events, `${next.offset}@${next.at}`, context, signal);
  return next;
}

/** Tries until the store takes it; an event that is refused for good is told and passed over. */
async function deliver(
  events: readonly ChannelEvent[],
  cursor: string,
  context: Context,
  signal: AbortSignal,
): Promise<void> {
  for (let failures = 0; ; failures += 1) {
    try {
      await context.deliver(events, cursor);
      return;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof EarshotError) || error.disposition !== "retry") {
        if (events.length > 1) return deliverSingly(events, cursor, context, signal);
        context.log("error", "telegram.event-refused", { error: codeOf(error) });
        if (events.length === 0) throw error;
        return deliver([], cursor, context, signal);
      }
      context.log("warn", "telegram.intake-closed", { error: error.code });
      await pause(context, error, failures, signal);
      signal.throwIfAborted();
    }
  }
}

async function deliverSingly(
  events: readonly ChannelEvent[],
  cursor: string,
  context: Context,
  signal: AbortSignal,
): Promise<void> {
  for (const event of events) {
    try {
      await context.deliver([event]);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof EarshotError && error.disposition === "retry") throw error;
      context.log("error", "telegram.event-refused", { error: codeOf(error) });
    }
  }
  await deliver([], cursor, context, signal);
}

const codeOf = (error: unknown) => (error instanceof EarshotError ? error.code : "unknown");

/**
 * As long as the platform asked, else growing with the failures, with half of it left to chance.
 */
export async function pause(
  { clock, random }: Context,
  error: EarshotError,
  failures: number,
  signal: AbortSignal,
): Promise<void> {
  const grown = Math.min(pauseMsMax, pauseMsMin * 2 ** Math.min(failures, 10));
  const ms = error.retryAfterMs ?? grown * (0.5 + random.next() / 2);
  await pauseFor(clock, ms, signal);
}

function readCursor(stored: string | null): Position | null {
  const found = /^(-?\d{1,16})@(\d{1,16})$/.exec(stored ?? "");
  return found === null ? null : { offset: Number(found[1]), at: Number(found[2]) };
}
