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
    "Sends a text to a chat in the agent's name. It waits in the outbox like a reply, is sent once, " +
    "and is in the session as the agent's own words. With --turn the text is a prompt and is not " +
    "sent: the agent answers it in the chat, when it is done with the people there. The command " +
    "ends when the daemon has stored it; `earshot outbox` shows what happens to it.",
  examples: [
    ['earshot send telegram -1001234567890 "The build is green."', "a group"],
    ['earshot send telegram:work 4242 "Lunch?"', "another account, a person"],
    ["make report | earshot send webhook room --kind group -", "the text from stdin"],
    ['earshot send telegram 4242 --turn "Ask how the exam went."', "the agent speaks up"],
    ['earshot send telegram 4242 --id exam-2026 "Good luck!"', "safe to repeat"],
  ],
  exits:
    "0 stored, 2 the account, agent or kind of chat is unknown, the id was used for something else, " +
    "or no daemon runs.",
};

export function addSendCommand(program: Command): void {
  addHelp(withStateDir(program.command("send")), help)
    .argument("<channel>", "channel, or channel:account")
    .argument("<chat>", "the platform's id of the chat")
    .argument("<text>", "what to say; - reads it from stdin")
    .description("Send a text to a chat, or have the agent speak up there")
    .option("--turn", "the text is a prompt that the agent answers in the chat")
    .option("--thread <id>", "a thread of the chat")
    .addOption(new Option("--topic <id>", "a topic of the chat").conflicts("thread"))
    .option("--reply-to <id>", "reply to this message")
    .addOption(
      new Option("--kind <kind>", "what the chat is, where earshot does not know it").choices([
        "direct",
        "group",
        "channel",
      ]),
    )
    .option("--agent <id>", "the agent that speaks (the one that hears the chat)")
    .option("--id <id>", "a name for this text: sent again, it is not repeated")
    .option("--json", "for programs")
    .action(action(send));
}

/** `telegram:work` as channel and account. */
export function accountOf(given: string): { channel: string; account: string } {
  const [channel = "", ...rest] = given.split(":");
  const account = rest.length === 0 ? defaultAccount : rest.join(":");
  if (channel !== "" && account !== "") return { channel, account };
  throw new EarshotError(
    "EAR_USAGE",
    `Cannot read the channel: <channel> or <channel>:<account> is expected (${JSON.stringify(given)})`,
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
