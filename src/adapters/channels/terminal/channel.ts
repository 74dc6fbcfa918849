/**
 * The operator at a keyboard: lines in, answers out, one direct chat. The channel owns no stream; a
 * console (of a program that runs earshot, of a test) attaches, sends lines and shows messages. Without a console
 * the channel is still live: messages sent then are shown to the next console, up to a limit.
 *
 * A message is named by its row of the outbox, and shown once in a process: where several nodes have the
 * conversations, what another one has sent is shown, too, and may have been sent here before.
 */
import { z } from "zod";
import { EarshotError } from "../../../domain/errors.ts";
import { limits } from "../../../domain/limits.ts";
import type { Inbound } from "../../../domain/message.ts";
import {
  type ChannelContext,
  type ChannelDefinition,
  defineChannel,
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
  /** Sends one line. Resolves when it is durable. @throws EarshotError EAR_CHANNEL_REJECTED: no answer is shown here */
  say(text: string): Promise<void>;
  detach(): void;
}

/** What was sent. `id`: of its row; `edits`: of the row whose message has this text now, or null. */
export interface SentText {
  readonly id: string;
  readonly text: string;
  readonly edits: string | null;
}

/** What is known, besides what is sent here, of conversations that several nodes have. */
export interface SharedConversations {
  /** Why answers could not be shown here; null: they are. */
  problem(): string | null;
  /** It knows what was sent, wherever; else only what is sent here is known. */
  readonly isWhole: boolean;
  /** A console of this account is there, and is to be shown what was sent meanwhile. */
  attached(account: string): void;
}

export interface Terminal {
  readonly definition: ChannelDefinition<TerminalConfig>;
  /** @throws EarshotError EAR_CHANNEL_UNAVAILABLE while the account is not open. */
  attach(console: TerminalConsole, account?: string): TerminalSession;
  /** From now on what is sent elsewhere is given to `show`. */
  share(shared: SharedConversations): void;
  /** Shows it to the consoles of an account; what was shown before is not shown again. */
  show(account: string, sent: SentText): void;
  /** Accounts that have consoles. */
  watched(): readonly string[];
}

/** The chat of each account. */
export const terminalChat = { id: "console", kind: "direct" } as const;
/** The id of its only author. */
export const terminalAuthor = "operator";

interface TerminalAccount {
  readonly context: ChannelContext<TerminalConfig>;
  readonly consoles: Set<TerminalConsole>;
  unshown: { id: string; text: string }[];
  /** Ids of what was shown or waits for a console, the oldest first. */
  readonly known: Set<string>;
  messageCount: number;
}

/** One process alone has the conversations. */
const alone: SharedConversations = {
  problem: () => null,
  isWhole: false,
  attached: () => undefined,
};

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
  let shared = alone;
  /** The next console gets it with what was sent elsewhere, in its order. */
  const isLeft = ({ consoles }: TerminalAccount) => shared.isWhole && consoles.size === 0;
  const show = (line: TerminalAccount, sent: SentText) => {
    if (!isLeft(line)) showOnce(line, sent);
    return { messageIds: [sent.id] };
  };
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
        known: new Set(),
        messageCount: 0,
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
          sendText: async ({ id, text }) => show(line, { id, text, edits: null }),
          replyText: async ({ id, text }) => show(line, { id, text, edits: null }),
          async sendTyping(_route, on) {
            for (const console of line.consoles) console.typing?.(on);
          },
          async editText({ id, messageId, text, growing }) {
            const message = { id: messageId, text };
            if (growing === true) {
              if (line.known.has(messageId)) edit(line, message, true);
            } else if (line.known.has(messageId) && !isLeft(line)) {
              know(line, id);
              edit(line, message, false);
            } else show(line, { id, text, edits: messageId });
          },
        },
        identify: async () => ({ id: "terminal", name: "this terminal" }),
      };
    },
  });
  return {
    definition,
    attach: (console, account = "default") => attach(lines.get(account), console, account, shared),
    share(those) {
      shared = those;
    },
    show(account, sent) {
      const line = lines.get(account);
      if (line !== undefined && line.consoles.size > 0) showOnce(line, sent);
    },
    watched: () =>
      [...lines].flatMap(([account, { consoles }]) => (consoles.size > 0 ? [account] : [])),
  };
}

function attach(
  line: TerminalAccount | undefined,
  console: TerminalConsole,
  account: string,
  shared: SharedConversations,
): TerminalSession {
  if (line === undefined)
    throw new EarshotError(
      "EAR_CHANNEL_UNAVAILABLE",
      "Cannot attach a console: the terminal channel is not open. Enable it in the config",
    );
  line.consoles.add(console);
  for (const message of line.unshown.splice(0)) console.write(message);
  shared.attached(account);
  return {
    async say(text) {
      const why = shared.problem();
      if (why !== null) throw new EarshotError("EAR_CHANNEL_REJECTED", why);
      await line.context.deliver([{ type: "message", message: inboundOf(line, account, text) }]);
    },
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
    chat: terminalChat,
    thread: null,
    id: `${now}-${line.messageCount}`,
    author: { id: terminalAuthor, name: config.userName, isBot: false, isSelf: false },
    text,
    mentions: [],
    mentionsEveryone: false,
    replyTo: null,
    attachments: [],
    explicitOnly: false,
    sentAt: now,
  };
}

function showOnce(line: TerminalAccount, { id, text, edits }: SentText): void {
  if (line.known.has(id)) return;
  know(line, id);
  const message = { id: edits ?? id, text };
  if (line.known.has(message.id) && edits !== null) {
    edit(line, message, false);
    return;
  }
  know(line, message.id);
  for (const console of line.consoles) console.write(message);
  if (line.consoles.size === 0)
    line.unshown = [...line.unshown, message].slice(-limits.terminalUnshownMax);
}

function edit(
  line: TerminalAccount,
  message: { readonly id: string; readonly text: string },
  isGrowing: boolean,
): void {
  for (const console of line.consoles) {
    if (console.edit !== undefined) console.edit(message);
    else if (!isGrowing) console.write(message);
  }
  line.unshown = line.unshown.map((shown) => (shown.id === message.id ? message : shown));
}

function know({ known }: TerminalAccount, id: string): void {
  known.add(id);
  const [oldest] = known;
  if (known.size > limits.terminalKnownMax && oldest !== undefined) known.delete(oldest);
}
