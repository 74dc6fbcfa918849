/**
 * `earshot record`
 * ================
 * Writes the journal as a scenario to standard output: messages, what the agents did, and the
 * outcome of their answers. With `--labels` it writes labelled rooms for `earshot eval`. It asks the running daemon; without one it reads the journal itself,
 * under the state directory's lock, and changes nothing in it.
 */
import type { Command } from "commander";
import { EarshotError } from "../../../domain/errors.ts";
import { isSessionKey } from "../../../domain/key.ts";
import { labelledText, type RecordingQuery, recordingText } from "../../replay/recording.ts";
import { type DaemonAddress, findDaemon } from "../lib/api-client.ts";
import { action, fail, type StateOptions, stateDirFor, withStateDir } from "../lib/command.ts";
import { withJournal } from "../lib/journal.ts";
import { momentOf } from "../lib/moment.ts";
import { addHelp, type HelpText } from "../output/help-text.ts";
import { Output } from "../output/replay-output.ts";

interface RecordOptions extends StateOptions {
  readonly since: string;
  readonly until?: string;
  readonly conversation?: string;
  readonly channel?: string;
  readonly labels?: true;
  readonly redact?: true;
  readonly config?: string;
}

const help: HelpText = {
  about:
    "Prints JSON Lines for `earshot replay` (docs/guide/scenarios.md). A time is relative (90s, " +
    "30m, 12h, 7d) or a date (2026-11-21, 2026-11-21T18:00). Conversations start empty: the " +
    "replay does not know messages from before --since. Asks the running daemon, or reads the " +
    "journal if none is running. --labels prints the rooms in which messages are labelled, in " +
    "the format of `earshot eval` (docs/quality.md); with --conversation, that room in any " +
    "case.",
  examples: [
    ["earshot record --since 1d > yesterday.jsonl", "record a day, then try other rules on it"],
    "earshot replay yesterday.jsonl --against new.json5",
    ["earshot record --since 7d --labels > rooms.jsonl", "labelled rooms for `earshot eval`"],
    ["earshot record --since 2h --redact > report.jsonl", "to share, with all text replaced"],
  ],
  exits: "0 recorded; 1 no messages in that time, or it failed; 2 usage error or no journal.",
};

/** Registers the command. */
export function addRecordCommand(program: Command): void {
  withStateDir(
    addHelp(program.command("record"), help)
      .description("Print part of the journal as a scenario")
      .requiredOption("--since <time>", "start: 1d, 2h, 2026-11-21")
      .option("--until <time>", "end (default: now)")
      .option("--conversation <key>", "only this conversation, by its session key")
      .option("--channel <id>", "only messages of this channel")
      .option("--labels", "print labelled rooms instead, for `earshot eval`")
      .option("--redact", "replace words, names, ids and numbers with pseudonyms")
      .option("--json", "accepted for consistency: the output is always JSON Lines")
      .option("--config <file>", "config file (EARSHOT_CONFIG), if no daemon is running"),
  ).action(action(record));
}

async function record(options: RecordOptions): Promise<void> {
  const { conversation, channel } = options;
  if (conversation !== undefined && !isSessionKey(conversation))
    throw new EarshotError("EAR_USAGE", "Cannot record that conversation: it is not a session key");
  const now = Date.now();
  const query: RecordingQuery = {
    since: momentOf(options.since, now),
    ...(options.until === undefined ? {} : { until: momentOf(options.until, now) }),
    ...(conversation === undefined ? {} : { conversation }),
    ...(channel === undefined ? {} : { channel }),
    redact: options.redact === true,
  };
  const output = new Output(process.stdout);
  const stateDir = stateDirFor(options);
  const daemon = await findDaemon(stateDir);
  const count = { lines: 0 };
  const write = async (text: string) => {
    count.lines += 1;
    output.add(text);
    await output.flushFull();
  };
  const labels = options.labels === true;
  if (daemon === null)
    await withJournal(options, "record", async (store) => {
      const text = labels ? labelledText : recordingText;
      for await (const line of text(store, query)) await write(line.trimEnd());
    });
  else await fromDaemon(daemon, { ...query, labels }, write);
  await output.flush();
  if (count.lines > 0) return;
  process.exitCode = 1;
  process.stderr.write(
    labels && conversation === undefined
      ? "No labelled messages in that time.\n"
      : "No messages in that time.\n",
  );
}

type Write = (line: string) => Promise<void>;

async function fromDaemon(
  { base, token }: DaemonAddress,
  query: RecordingQuery & { readonly labels: boolean },
  write: Write,
): Promise<void> {
  const asked = new URLSearchParams({ since: String(query.since) });
  if (query.until !== undefined) asked.set("until", String(query.until));
  if (query.conversation !== undefined) asked.set("conversation", query.conversation);
  if (query.channel !== undefined) asked.set("channel", query.channel);
  if (query.redact === true) asked.set("redact", "1");
  if (query.labels) asked.set("labels", "1");
  const answer = await fetch(`${base}/api/record?${asked}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  if (!answer.ok || answer.body === null)
    throw new EarshotError("EAR_USAGE", `Cannot record: the daemon answered ${answer.status}`);
  let rest = "";
  for await (const piece of answer.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + piece).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) await write(line);
  }
  if (rest !== "")
    fail(
      new EarshotError(
        "EAR_STORE_FAILED",
        "Cannot record the rest: the daemon closed the connection",
      ),
    );
}
