/**
 * `earshot send`: says something in a chat that nobody there asked for
 * =====================================================================
 * A text in the agent's name, or with `--turn` a prompt that the agent answers there.
 */
import { text as readAll } from "node:stream/consumers";
import { type Command, Option } from "commander";
import { EarshotError } from "../../../../domain/errors.ts";
import { defaultAccount } from "../../../../domain/key.ts";
import { askDaemon } from "../../lib/api-client.ts";
import {
  action,
  counted,
  type JsonOptions,
  print,
  printJson,
  withStateDir,
} from "../../lib/command.ts";
import { addHelp, type HelpText } from "../../output/help-text.ts";

interface Options extends JsonOptions {
  readonly thread?: string;
  readonly topic?: string;
  readonly replyTo?: string;
  readonly kind?: string;
  readonly agent?: string;
  readonly id?: string;
  readonly turn?: boolean;
}

interface Taken {
  readonly id: string;
  readonly key: string;
  readonly turn: boolean;
  readonly parts: readonly string[];
}

const help: HelpText = {
  about:
    "Sends a text to a chat as the agent. Like a reply it goes through the outbox, is sent " +
    "once, and is kept in the session. With --turn the text is not sent but given to the agent " +
    "as a prompt: it answers in the chat once it has answered the people there. The command " +
    "returns when the daemon has stored the text; `earshot outbox` shows whether it was sent.",
  examples: [
    ['earshot send telegram -1001234567890 "The build is green."', "to a group"],
    ['earshot send telegram:work 4242 "Lunch?"', "from another account, to a person"],
    ["make report | earshot send webhook room --kind group -", "read the text from stdin"],
    ['earshot send telegram 4242 --turn "Ask how the exam went."', "let the agent speak up"],
    ['earshot send telegram 4242 --id exam-2026 "Good luck!"', "safe to repeat"],
  ],
  exits:
    "0 stored; 2 unknown account, agent or kind of chat, the id was used for another text, or " +
    "no running daemon.",
};

export function addSendCommand(program: Command): void {
  addHelp(withStateDir(program.command("send")), help)
    .argument("<channel>", "channel, or channel:account")
    .argument("<chat>", "the chat's id on its platform")
    .argument("<text>", "the text to send; - reads stdin")
    .description("Send a text, or let the agent speak up")
    .option("--turn", "give the text to the agent as a prompt; it answers in the chat")
    .option("--thread <id>", "a thread of the chat")
    .addOption(new Option("--topic <id>", "a topic of the chat").conflicts("thread"))
    .option("--reply-to <id>", "reply to this message")
    .addOption(
      new Option("--kind <kind>", "kind of chat, if earshot has not seen it yet").choices([
        "direct",
        "group",
        "channel",
      ]),
    )
    .option("--agent <id>", "which agent (default: the agent of the chat)")
    .option("--id <id>", "idempotency key: the same id is sent only once")
    .option("--json", "print JSON")
    .action(action(send));
}

/** `telegram:work` as channel and account. */
export function accountOf(given: string): { channel: string; account: string } {
  const [channel = "", ...rest] = given.split(":");
  const account = rest.length === 0 ? defaultAccount : rest.join(":");
  if (channel !== "" && account !== "") return { channel, account };
  throw new EarshotError(
    "EAR_USAGE",
    "Cannot read the channel: expected <channel> or <channel>:<account>, received " +
      `${JSON.stringify(given)}`,
  );
}

/** The thread of a chat that the options name. */
export function threadOf({ thread, topic }: Pick<Options, "thread" | "topic">) {
  if (thread !== undefined) return { id: thread, kind: "thread" } as const;
  return topic === undefined ? null : ({ id: topic, kind: "topic" } as const);
}

async function send(channel: string, chat: string, given: string, options: Options): Promise<void> {
  const { replyTo = null, kind, agent, id, turn = false } = options;
  const text = given === "-" ? (await readAll(process.stdin)).trimEnd() : given;
  const body = {
    ...accountOf(channel),
    chat: { id: chat, ...(kind === undefined ? {} : { kind }) },
    thread: threadOf(options),
    text,
    turn,
    replyTo,
    ...(agent === undefined ? {} : { agent }),
    ...(id === undefined ? {} : { id }),
  };
  const taken = (await askDaemon<Taken>(options, "/api/send", { method: "POST", body })) as Taken;
  if (options.json === true) return printJson(taken);
  const what = taken.turn ? "the agent will speak up" : counted(taken.parts.length, "message");
  print(`${what} in ${taken.key}${taken.turn ? "" : `: ${taken.parts.join(" ")}`}`);
}
