/**
 * The operator at a keyboard: lines in, answers out, one direct chat. The channel owns no stream; a
 * console (the `chat` command, a test) attaches, sends lines and shows messages. Without a console
 * the channel is still live: messages sent then are shown to the next console, up to a limit.
 */
import { z } from "zod";
import { EarshotError } from "../../../domain/errors.ts";
import { limits } from "../../../domain/limits.ts";
import type { Inbound } from "../../../domain/message.ts";
import {
  type ChannelContext,
  type ChannelDefinition,
  defineChannel,
  type SendRequest,
} from "../../../domain/ports/index.ts";

/** The operator's display name; the operator's rights come from the channel being local. */
export interface TerminalConfig {
  readonly userName: string;
}

/**
 * What a console shows. Without `edit`, the final text of an edited message is written as a new
 * one.
 */
export interface TerminalConsole {
  write(message: { readonly id: string; readonly text: string }): void;
  edit?(message: { readonly id: string; readonly text: string }): void;
  typing?(on: boolean): void;
}

export interface TerminalSession {
  /** Sends one line. Resolves when it is durable. */
  say(text: string): Promise<void>;
  detach(): void;
}

export interface Terminal {
  readonly definition: ChannelDefinition<TerminalConfig>;
  /** @throws EarshotError EAR_CHANNEL_UNAVAILABLE while the account is not open. */
  attach(console: TerminalConsole, account?: string): TerminalSession;
}

const chatId = "console";

interface TerminalAccount {
  readonly context: ChannelContext<TerminalConfig>;
  readonly consoles: Set<TerminalConsole>;
  unshown: { id: string; text: string }[];
  messageCount: number;
  written: number;
}

const accountSchema = z.strictObject({
  userName: z
    .string()
    .min(1)
    .max(64)
    .default("you")
    .meta({ description: "Your name in the chat." }),
});

/** One terminal channel for one process. */
export function createTerminal(): Terminal {
  const lines = new Map<string, TerminalAccount>();
  const definition = defineChannel<TerminalConfig>({
    id: "terminal",
    meta: { name: "Terminal", description: "You, at a keyboard" },
    capabilities: {
      edits: true,
      deletes: false,
      reactions: false,
      typing: true,
      threads: false,
      membership: false,
      history: false,
      media: false,
      mentions: "unknown",
      replyAuthor: false,
      botFlag: false,
    },
    textLimit: 100_000,
    typingIntervalMs: 6_000,
    accountSchema: accountSchema as z.ZodType<TerminalConfig>,
    local: true,
    connectsOnce: () => false,
    open(context) {
      const line: TerminalAccount = {
        context,
        consoles: new Set(),
        unshown: [],
        messageCount: 0,
        written: 0,
      };
      lines.set(context.accountId, line);
      return {
        async start(signal) {
          context.reportState("live");
          await new Promise<void>((resolve) => {
            if (signal.aborted) resolve();
            signal.addEventListener("abort", () => resolve());
          });
          if (lines.get(context.accountId) === line) lines.delete(context.accountId);
        },
        outbound: {
          sendText: async (request) => show(line, request),
          replyText: async (request) => show(line, request),
          async sendTyping(_route, on) {
            for (const console of line.consoles) console.typing?.(on);
          },
          async editText({ messageId, text, growing }) {
            const message = { id: messageId, text };
            for (const console of line.consoles) {
              if (console.edit !== undefined) console.edit(message);
              else if (growing === undefined) console.write(message);
            }
            line.unshown = line.unshown.map((shown) => (shown.id === messageId ? message : shown));
          },
        },
        identify: async () => ({ id: "terminal", name: "this terminal" }),
      };
    },
  });
  return { definition, attach: (console, account = "default") => attach(lines, console, account) };
}

function attach(
  lines: ReadonlyMap<string, TerminalAccount>,
  console: TerminalConsole,
  account: string,
): TerminalSession {
  const line = lines.get(account);
  if (line === undefined)
    throw new EarshotError(
      "EAR_CHANNEL_UNAVAILABLE",
      "Cannot attach a console: the terminal channel is not open. Enable it in the config",
    );
  line.consoles.add(console);
  for (const message of line.unshown.splice(0)) console.write(message);
  return {
    say: (text) =>
      line.context.deliver([{ type: "message", message: inboundOf(line, account, text) }]),
    detach: () => void line.consoles.delete(console),
  };
}

function inboundOf(line: TerminalAccount, account: string, text: string): Inbound {
  const { clock, config } = line.context;
  const now = clock.now();
  line.messageCount += 1;
  return {
    channel: "terminal",
    account,
    chat: { id: chatId, kind: "direct" },
    thread: null,
    id: `${now}-${line.messageCount}`,
    author: { id: "operator", name: config.userName, isBot: false, isSelf: false },
    text,
    mentions: [],
    mentionsEveryone: false,
    replyTo: null,
    attachments: [],
    explicitOnly: false,
    sentAt: now,
  };
}

function show(line: TerminalAccount, { text }: SendRequest): { messageIds: string[] } {
  line.written += 1;
  const message = { id: `${line.context.clock.now()}-out-${line.written}`, text };
  for (const console of line.consoles) console.write(message);
  if (line.consoles.size === 0)
    line.unshown = [...line.unshown, message].slice(-limits.terminalUnshownMax);
  return { messageIds: [message.id] };
}
