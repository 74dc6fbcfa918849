/**
 * `earshot schedule`: texts and prompts at set times
 * ==================================================
 * Lists what the config and earlier commands ordered, adds and removes entries, and pauses them.
 */
import { type Command, Option } from "commander";
import type { Millis } from "../../../../domain/message.ts";
import { oneLine } from "../../../../domain/sanitize.ts";
import { askDaemon } from "../../lib/api-client.ts";
import {
  action,
  type JsonOptions,
  minuteOf,
  print,
  printJson,
  printRefusal,
  printRows,
  withStateDir,
} from "../../lib/command.ts";
import { addHelp, type HelpText } from "../../output/help-text.ts";
import { accountOf, threadOf } from "./send.ts";

const textUnitsMax = 120;

interface Entry {
  readonly name: string;
  readonly origin: "config" | "added" | "agent";
  readonly cron: string | null;
  readonly at: string | null;
  readonly timeZone: string;
  readonly to: {
    readonly channel: string;
    readonly account: string;
    readonly chat: { readonly id: string };
  };
  readonly turn: boolean;
  readonly text: string;
  readonly paused: boolean;
  readonly next: Millis | null;
  readonly last: { readonly due: Millis; readonly result: string; readonly why?: string } | null;
}

interface AddOptions extends JsonOptions {
  readonly cron?: string;
  readonly at?: string;
  readonly timeZone?: string;
  readonly turn?: boolean;
  readonly thread?: string;
  readonly topic?: string;
  readonly kind?: string;
  readonly agent?: string;
}

const help: HelpText = {
  about:
    "Sends texts, or gives the agent prompts to answer, at set times: a cron expression in a " +
    "time zone, or a single time. Entries of the config file (`schedule`) can be listed and " +
    "paused here, and are changed there. What was due while the daemon was down is sent once, " +
    "if it is at most an hour late.",
  examples: [
    "earshot schedule",
    [
      'earshot schedule add standup telegram -100123 "Standup!" --cron "0 9 * * 1-5"',
      "every weekday at nine, UTC",
    ],
    ["earshot schedule pause standup", "until `earshot schedule resume standup`"],
  ],
  exits: "0 done; 1 unknown entry; 2 usage error or no running daemon.",
};
const listHelp: HelpText = {
  about:
    "Lists the next due entry first, in UTC. Below each entry: its text, and what happened the " +
    "last time.",
  examples: ["earshot schedule list", "earshot schedule list --json"],
  exits: "0 listed; 2 no running daemon.",
};
const addedHelp: HelpText = {
  about:
    "Adds an entry. It stays until you remove it; one with --at disappears once it was sent, " +
    "and stays with the reason if it was not. Chat, thread, kind and agent are as in `earshot " +
    "send`.",
  examples: [
    'earshot schedule add tea irc "#tea" "Tea?" --cron "0 16 * * *" --time-zone GB',
    'earshot schedule add eve irc bo --turn "Say hi." --at 2026-12-24T18:00Z',
  ],
  exits: "0 added; 2 usage error, the name is taken, or no running daemon.",
};
const changes = {
  pause: ["Pause an entry until you resume it", "paused"],
  resume: ["Resume a paused entry", "resumed"],
  remove: ["Remove an entry", "removed"],
} as const;
type Change = keyof typeof changes;
const changeHelp = (change: Change): HelpText => ({
  about: {
    pause: "What is due during the pause is skipped, not sent later.",
    resume: "The entry runs again from its next time on.",
    remove: "Remove entries of the config file from the file.",
  }[change],
  examples: [`earshot schedule ${change} <name>`],
  exits: "0 done; 1 unknown entry; 2 the entry is in the config file, or no running daemon.",
});

export function addScheduleCommand(program: Command): void {
  const schedule = addHelp(program.command("schedule"), help).description(
    "Send texts and prompts at set times",
  );
  addHelp(withStateDir(schedule.command("list", { isDefault: true })), listHelp)
    .description("List entries")
    .option("--json", "print JSON")
    .action(action(list));
  addHelp(withStateDir(schedule.command("add")), addedHelp)
    .argument("<name>", "name of the entry")
    .argument("<channel>", "channel, or channel:account")
    .argument("<chat>", "the chat's id on its platform")
    .argument("<text>", "the text to send")
    .description("Add an entry")
    .option("--cron <line>", 'cron expression, for example "0 9 * * 1-5"')
    .addOption(
      new Option("--at <time>", "a single time, for example 2026-12-24T18:00+01:00").conflicts(
        "cron",
      ),
    )
    .option("--time-zone <zone>", "time zone of --cron, for example Europe/Berlin (default: UTC)")
    .option("--turn", "give the text to the agent as a prompt; it answers in the chat")
    .option("--thread <id>", "a thread of the chat")
    .addOption(new Option("--topic <id>", "a topic of the chat").conflicts("thread"))
    .addOption(
      new Option("--kind <kind>", "kind of chat, if earshot has not seen it yet").choices([
        "direct",
        "group",
        "channel",
      ]),
    )
    .option("--agent <id>", "which agent (default: the agent of the chat)")
    .option("--json", "print JSON")
    .action(action(add));
  for (const change of Object.keys(changes) as Change[])
    addHelp(withStateDir(schedule.command(`${change} <name>`)), changeHelp(change))
      .description(changes[change][0])
      .option("--json", "print JSON")
      .action(action((name: string, options: JsonOptions) => apply(change, name, options)));
}

async function list(options: JsonOptions): Promise<void> {
  const answer = await askDaemon<{ schedules: Entry[]; saidBy: string | null }>(
    options,
    "/api/schedules",
  );
  const { schedules: entries, saidBy } = answer ?? { schedules: [], saidBy: null };
  if (options.json === true) return printJson(entries);
  if (entries.length === 0) return print("nothing is scheduled");
  const cells = [
    ["name", "next", "when", "where", "from"],
    ...entries.map(({ name, next, paused, cron, at, timeZone, to, origin }) => [
      name,
      next === null ? (paused ? "paused" : "over") : minuteOf(next),
      cron === null ? (at ?? "") : `${cron} ${timeZone}`,
      `${to.channel}:${to.account} ${to.chat.id}`,
      origin,
    ]),
  ];
  printRows(cells, (index) => {
    const entry = entries[index];
    return entry === undefined ? [] : detailOf(entry);
  });
  if (saidBy !== null) print(`said by the node ${oneLine(saidBy, textUnitsMax)}`);
}

function detailOf({ turn, text, last }: Entry): readonly string[] {
  const what = oneLine(`${turn ? "prompt" : "text"}: ${text}`, textUnitsMax);
  if (last === null) return [what];
  const why = last.why === undefined ? "" : `: ${oneLine(last.why, textUnitsMax)}`;
  return [what, `${minuteOf(last.due)} ${last.result}${why}`];
}

async function add(
  name: string,
  channel: string,
  chat: string,
  text: string,
  options: AddOptions,
): Promise<void> {
  const { cron, at, timeZone, turn = false, kind, agent } = options;
  const body = {
    name,
    ...(cron === undefined ? {} : { cron }),
    ...(at === undefined ? {} : { at }),
    ...(timeZone === undefined ? {} : { timeZone }),
    to: {
      ...accountOf(channel),
      chat: { id: chat, ...(kind === undefined ? {} : { kind }) },
      thread: threadOf(options),
    },
    ...(agent === undefined ? {} : { agent }),
    ...(turn ? { prompt: text } : { text }),
  };
  const added = await askDaemon(options, "/api/schedules", { method: "POST", body });
  if (options.json === true) return printJson(added);
  print(`added: ${name}`);
}

async function apply(change: Change, name: string, options: JsonOptions): Promise<void> {
  const path = `/api/schedules/${encodeURIComponent(name)}/${change}`;
  const done = await askDaemon(options, path, { method: "POST" });
  if (done === null) return printRefusal("no entry of the schedule has this name");
  if (options.json === true) return printJson(done);
  print(`${changes[change][1]}: ${name}`);
}
