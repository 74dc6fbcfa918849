/**
 * Sending to IRC
 * ==============
 * A message is one line or several, each confirmed before the next (`client.ts`), so a retry continues
 * after the last one that arrived. The server's own id of a line is known where it echoes our lines.
 * Lines are paced, because servers disconnect who writes too fast.
 */
import { LRUCache } from "lru-cache";
import { EarshotError } from "../../../domain/errors.ts";
import { atMost, limits } from "../../../domain/limits.ts";
import type { Route } from "../../../domain/message.ts";
import type { ChannelContext, ChannelOutbound, SendRequest } from "../../../domain/ports/index.ts";
import { pauseFor } from "../../../domain/ports/pause.ts";
import { renderMarkdown } from "../shared/markdown.ts";
import type { IrcChats } from "./chats.ts";
import type { IrcConnection } from "./client.ts";
import type { IrcAccountConfig } from "./config.ts";
import { IrcLostError, refusalOf } from "./errors.ts";
import type { IrcLink } from "./gateway.ts";
import { identityOf } from "./names.ts";
import { ircLines } from "./rendering.ts";
import { escapeTag, type IrcLine } from "./wire.ts";

/** Bytes of a line where the server says nothing else, RFC 2812, section 2.3. */
const lineBytes = 512;
/** The longest user and host that servers allow, until ours are known. */
const unknownMaskBytes = 11 + 64;

type Context = ChannelContext<IrcAccountConfig>;

export function createIrcOutbound(
  link: IrcLink,
  context: Context,
  chats: IrcChats,
): ChannelOutbound {
  const unfinished = new LRUCache<string, string[]>(atMost(limits.unfinishedSendsMax));
  const pace = createPace(context);
  let sent = 0;

  const send = async (request: SendRequest, replyTo: string | null) => {
    const connection = link.connection;
    if (connection === null || !connection.isOpen)
      throw new EarshotError("EAR_CHANNEL_UNAVAILABLE", "Cannot send on IRC: it is not connected");
    const { signal, route } = request;
    const target = await targetOf(connection, chats, route, signal);
    const author = replyTo === null ? undefined : chats.heard.get(replyTo);
    const isAddressed = author !== undefined && route.chat.kind !== "direct";
    const lines = ircLines(
      renderMarkdown(request.text),
      roomFor(connection, target),
      limits.sendPartsMax,
      isAddressed ? `${author.nick}: ` : "",
    );
    const tag =
      author?.isServerId === true && connection.has("message-tags")
        ? `@+draft/reply=${escapeTag(replyTo ?? "")} `
        : "";
    const messageIds = unfinished.get(request.id) ?? [];
    for (const [index, line] of lines.entries()) {
      if (index < messageIds.length) continue;
      await pace(signal);
      const command = `${index === 0 ? tag : ""}PRIVMSG ${target} :${line}`;
      const answer = await ask(connection, command, signal);
      const refusal = refusalOf(answer, target);
      if (refusal !== null) throw refusal;
      sent += 1;
      const own = `sent-${context.clock.now().toString(36)}-${sent}`;
      messageIds.push(echoedId(answer, connection, target) ?? own);
      if (messageIds.length < lines.length) unfinished.set(request.id, messageIds);
    }
    unfinished.delete(request.id);
    return { messageIds };
  };

  return {
    sendText: (request) => send(request, null),
    replyText: (request) => send(request, request.replyTo),
  };
}

/** Writes one line; what came of it is what the server says until it has read it. */
async function ask(
  connection: IrcConnection,
  line: string,
  signal: AbortSignal,
): Promise<readonly IrcLine[]> {
  try {
    return await connection.ask([line], signal);
  } catch (error) {
    if (!(error instanceof IrcLostError)) throw error;
    throw new EarshotError(
      "EAR_SEND_IN_DOUBT",
      `Cannot send on IRC: the line was written and not confirmed (${error.message})`,
    );
  }
}

/** The server's id of the line that it sent back to us. */
function echoedId(
  answer: readonly IrcLine[],
  { self, fold }: IrcConnection,
  target: string,
): string | undefined {
  const echo = answer.find(
    ({ command, source, params, tags }) =>
      command === "PRIVMSG" &&
      tags.batch === undefined &&
      fold(source.nick) === fold(self.nick) &&
      fold(params[0] ?? "") === fold(target),
  );
  return echo?.tags.msgid;
}

/** Bytes for the text of a line, after what the server puts before it for others. */
function roomFor({ self, supports }: IrcConnection, target: string): number {
  const { nick, user, host } = self;
  const mask =
    user === null || host === null ? unknownMaskBytes : Buffer.byteLength(user + host) + 2;
  const frame = `:${nick} PRIVMSG ${target} :\r\n`;
  const most = Number(supports.get("LINELEN") ?? 0) || lineBytes;
  return Math.max(64, Math.min(most, 2_048) - Buffer.byteLength(frame) - mask);
}

/**
 * A room, or the nick of a person. A nick may have passed to somebody else since, so the server is
 * asked who has it.
 */
async function targetOf(
  connection: IrcConnection,
  chats: IrcChats,
  { chat }: Route,
  signal: AbortSignal,
): Promise<string> {
  if (/[\s,]/.test(chat.id)) throw refused(`this is no place: ${JSON.stringify(chat.id)}`);
  if (chat.kind !== "direct") return chat.id;
  const nick = chats.nicks.get(chat.id) ?? /^account:(.+)$/.exec(chat.id)?.[1];
  if (nick === undefined)
    throw refused("this person has not written since, so their nick is unknown");
  const answer = await ask(connection, `WHOIS ${nick}`, signal);
  const find = (command: string) =>
    answer.find((line) => line.command === command && isSame(line.params[1], nick, connection));
  const seen = find("311");
  if (seen === undefined) throw refused(`nobody has the nick ${nick} now`);
  const account = find("330")?.params[2] ?? null;
  const source = { user: seen.params[2] ?? null, host: seen.params[3] ?? null };
  if (identityOf(source, account) !== chat.id)
    throw refused(`somebody else has the nick ${nick} now`);
  return nick;
}

const isSame = (a: string | undefined, b: string, { fold }: IrcConnection) =>
  fold(a ?? "") === fold(b);

const refused = (why: string) =>
  new EarshotError("EAR_CHANNEL_REJECTED", `Cannot send on IRC: ${why}`);

/** Waits until a line may be sent: some at once, then one for each interval. */
function createPace({ config, clock }: Context): (signal: AbortSignal) => Promise<void> {
  const { lineBurst, lineIntervalMs } = config;
  /** When the allowance is whole again, on the monotonic clock. */
  let wholeAt = 0;
  return async (signal) => {
    const now = clock.monotonic();
    wholeAt = Math.max(wholeAt, now) + lineIntervalMs;
    const wait = wholeAt - now - lineBurst * lineIntervalMs;
    if (wait > 0) await pauseFor(clock, wait, signal);
    if (signal.aborted)
      throw new EarshotError("EAR_CHANNEL_UNAVAILABLE", "Cannot send on IRC: it was cancelled");
  };
}
