/**
 * `earshot find`
 * ==============
 * Finds messages by their text and facts. It asks the running daemon; without one it indexes the
 * journal for this one search, under the state directory's lock, and changes nothing in it.
 */
import { type Command, Option } from "commander";
import pico from "picocolors";
import { conversationOf } from "../../../../actors/protocol/event-codec.ts";
import { openSearchIndex } from "../../../../adapters/search/search-database.ts";
import { decisions, rules } from "../../../../domain/decision.ts";
import { EarshotError } from "../../../../domain/errors.ts";
import { fold } from "../../../../domain/fold-text.ts";
import { isSessionKey, parseSessionKey } from "../../../../domain/key.ts";
import type { MessageQuery } from "../../../../domain/ports/index.ts";
import { parseQuery } from "../../../../domain/search/query.ts";
import { foundOutcomes } from "../../../../domain/search/values.ts";
import type { FoundView, SearchAnswer } from "../../../api-types/search.ts";
import { createFollower } from "../../../search/follower.ts";
import { viewOf } from "../../../search/found-view.ts";
import { callApi, findDaemon } from "../../lib/api-client.ts";
import {
  action,
  print,
  printJson,
  type StateOptions,
  stateDirFor,
  withStateDir,
} from "../../lib/command.ts";
import { withJournal } from "../../lib/journal.ts";
import { momentOf } from "../../lib/moment.ts";
import { foundLines } from "../../output/found-message.ts";
import { addHelp, type HelpText } from "../../output/help-text.ts";
import { screenColumns } from "../../output/wrap.ts";

interface FindOptions extends StateOptions {
  readonly room?: string;
  readonly author?: string;
  readonly decision?: string;
  readonly rule?: string;
  readonly outcome?: string;
  readonly since?: string;
  readonly until?: string;
  readonly limit: string;
  readonly before?: string;
  readonly json?: true;
  readonly config?: string;
}

const limitMax = 200;
const help: HelpText = {
  about:
    "Prints the messages that contain all the words, newest first. A word of three or more " +
    'letters also matches longer words that start with it; "a phrase" matches exactly; -word ' +
    "excludes messages (inside one quoted argument, or after --). Accents and case do not " +
    "matter. Without words, the options alone select. A time is relative (90s, 30m, 12h, 7d) or " +
    "a date (2026-11-21, 2026-11-21T18:00). Only messages in the journal are found. Asks the " +
    "running daemon, or reads the journal if none is running.",
  examples: [
    "earshot find lunch",
    ["earshot find '\"green curry\"' --author ada --since 1d", "a phrase, by one person"],
    ["earshot find 'lunch -pizza'", "one word, but not the other"],
    ["earshot find --outcome failed,in-doubt", "messages whose answer failed"],
    ["earshot find invoice --json | jq -r '.found[].id'", "message ids, for `earshot why`"],
  ],
  exits: "0 found; 1 nothing found; 2 usage error, no journal, or the search is off.",
};

export function addFindCommand(program: Command): void {
  withStateDir(
    addHelp(program.command("find"), help)
      .description("Search messages")
      .argument("[words...]", 'words, "a phrase", -word')
      .option("--room <key>", "only this room, by its session key")
      .option("--author <name>", "part of a name, or a full id")
      .option("--decision <names>", decisions.join(","))
      .option("--rule <names>", "mention,reply,sticky,… (the rule that decided)")
      .option("--outcome <names>", "replied,partly,silent,failed,in-doubt,…")
      .option("--since <time>", "start: 1d, 2h, 2026-11-21")
      .option("--until <time>", "end (default: now)")
      .addOption(
        new Option("--limit <count>", `how many to print, at most ${limitMax}`).default("20"),
      )
      .option("--before <entry>", "next page, as printed at the end of the last one")
      .option("--json", "print JSON")
      .option("--config <file>", "config file (EARSHOT_CONFIG), if no daemon is running"),
  ).action(action(find));
}

async function find(said: string[], options: FindOptions): Promise<void> {
  const query = queryOf(said, options);
  const daemon = await findDaemon(stateDirFor(options));
  const answer =
    daemon === null
      ? await findInJournal(query, options)
      : await callApi<SearchAnswer>(daemon, `/api/search?${paramsOf(query)}`);
  if (answer === null)
    throw new EarshotError("EAR_USAGE", "Cannot search: the running daemon is too old. Restart it");
  const { state, problem } = answer.index;
  if (state === "off")
    throw new EarshotError(
      "EAR_USAGE",
      "Cannot search: the search is off. Set search.enabled to true in the config",
    );
  if (state === "failed")
    throw new EarshotError("EAR_STORE_FAILED", `Cannot search: ${problem ?? "the index failed"}`);
  if (answer.found.length === 0) process.exitCode = 1;
  if (options.json) return printJson(answer);
  const screen = { columns: screenColumns(process.stdout), colour: pico.isColorSupported };
  for (const message of answer.found) print(foundLines(message, screen));
  if (answer.next !== null) print(`More results: add --before ${answer.next}`);
  for (const note of notesOf(answer)) process.stderr.write(`${note}\n`);
}

/** What the reader has to know about the whole of the answer. */
function notesOf({ index, lookedAt, found }: SearchAnswer): string[] {
  const { state, done, total } = index;
  return [
    ...(found.length === 0 ? ["No matching messages."] : []),
    ...(state === "building"
      ? [`The index is still being built: ${done} of ${total} journal rows.`]
      : []),
    ...(lookedAt === null
      ? []
      : [`SQLite has no FTS5 here: only the newest ${lookedAt} messages were searched.`]),
  ];
}

interface Query extends Omit<MessageQuery, "terms" | "conv"> {
  readonly text: string;
  readonly room?: string | undefined;
}

function queryOf(said: readonly string[], options: FindOptions): Query {
  const { room, author, since, until, limit, before } = options;
  const now = Date.now();
  if (room !== undefined && !isSessionKey(room))
    throw new EarshotError("EAR_KEY_INVALID", "Cannot search that room: it is not a session key");
  return {
    text: said.join(" "),
    room,
    author,
    decisions: oneOf("decision", options.decision, decisions),
    rules: oneOf("rule", options.rule, rules),
    outcomes: oneOf("outcome", options.outcome, foundOutcomes),
    since: since === undefined ? undefined : momentOf(since, now),
    until: until === undefined ? undefined : momentOf(until, now),
    limit: Math.min(limitMax, Math.max(1, wholeOf("limit", limit))),
    before: before === undefined ? undefined : wholeOf("before", before),
  };
}

function oneOf<Name extends string>(
  option: string,
  said: string | undefined,
  names: readonly Name[],
): readonly Name[] | undefined {
  return said?.split(",").map((part) => {
    const name = names.find((one) => one === part.trim());
    if (name !== undefined) return name;
    throw new EarshotError(
      "EAR_USAGE",
      `Cannot search by --${option} ${JSON.stringify(part.slice(0, 64))}: expected ${names.join(", ")}`,
    );
  });
}

function wholeOf(option: string, said: string): number {
  if (/^\d{1,15}$/u.test(said)) return Number(said);
  throw new EarshotError(
    "EAR_USAGE",
    `Cannot read --${option}: expected a whole number, received ${JSON.stringify(said.slice(0, 64))}`,
  );
}

function paramsOf({ decisions, rules, outcomes, ...rest }: Query): URLSearchParams {
  const lists = { decision: decisions, rule: rules, outcome: outcomes };
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...rest, ...lists }))
    if (value !== undefined) params.set(name, String(value));
  return params;
}

function findInJournal({ text, room, ...query }: Query, options: FindOptions) {
  return withJournal(options, "search it", async (store): Promise<SearchAnswer> => {
    const index = openSearchIndex({ path: null });
    try {
      const agentOf = (key: string) => {
        const id = isSessionKey(key) ? parseSessionKey(key).agentId : "";
        return { id, name: id };
      };
      const follower = createFollower({ store, index, agentOf });
      await follower.catchUp();
      const terms = parseQuery(text);
      const conv = room === undefined ? undefined : conversationOf(room).conv;
      const author = query.author === undefined ? undefined : fold(query.author.trim());
      const { found, next, lookedAt } = await index.find({ ...query, terms, conv, author });
      const views = found.map((one): FoundView => viewOf(one, terms, one.key || one.place));
      const { fullText } = index;
      const progress = await follower.progress();
      const state = { ...progress, state: "ready", fullText, problem: null } as const;
      return { found: views, next, index: state, lookedAt };
    } finally {
      index.close();
    }
  });
}
