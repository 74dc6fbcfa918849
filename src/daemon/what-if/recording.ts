/**
 * Recordings for What-if
 * ======================
 * Scenario lines in memory, bounded in number and size, from this daemon's journal or from an
 * uploaded file, with what the page shows of each message. Larger ones are for `earshot replay
 * --against`, which reads from disk.
 */
import { recordScenario } from "../../actors/recording/recorder.ts";
import type { RecordingRange, RecordingStore } from "../../actors/recording/types.ts";
import { scenarioConfig } from "../../domain/config/index.ts";
import { EarshotError } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import type { Inbound, Millis } from "../../domain/message.ts";
import { cut } from "../../domain/sanitize.ts";
import { parseScenario } from "../../domain/scenario/read-scenario.ts";
import type { ScenarioHeader, ScenarioLine } from "../../domain/scenario/scenario.ts";
import { type JudgeNames, judgesIn } from "../replay/recorded-judges.ts";

const { whatIfMessagesMax } = limits;
const linesMax = 200_000;
const textShownUnitsMax = 240;

/** What the page shows of a message. */
export interface RecordedMessage {
  readonly t: Millis;
  readonly id: string;
  readonly author: string;
  readonly isBot: boolean;
  readonly room: string;
  readonly text: string;
}

export interface Recording {
  readonly name: string;
  readonly header: ScenarioHeader;
  readonly lines: readonly ScenarioLine[];
  readonly messages: readonly RecordedMessage[];
  readonly rooms: number;
  /** What ran the judge that gave an answer. */
  readonly judges: ReadonlyMap<ScenarioLine, string>;
}

const tooMuch = (what: string) =>
  new EarshotError(
    "EAR_USAGE",
    `Cannot load the recording: it has more than ${what}. Choose a shorter time, or compare with ` +
      "`earshot replay FILE --config A --against B`",
  );

class Collected {
  header: ScenarioHeader = { earshot: 1, config: {} };
  readonly lines: ScenarioLine[] = [];
  readonly messages: RecordedMessage[] = [];
  readonly #rooms = new Set<string>();
  readonly #judges = new Map<ScenarioLine, string>();
  /** Of the config in force; null: not needed yet. */
  #judgesNow: JudgeNames | null = null;
  /** The config in force since a line; null: the header's. */
  #config: ScenarioHeader["config"] | null = null;

  add(line: ScenarioLine): void {
    // The tried rules apply to all lines.
    if ("config" in line) {
      this.#config = line.config;
      this.#judgesNow = null;
      return;
    }
    if ("judge" in line) {
      this.#judgesNow ??= judgesIn(scenarioConfig(this.#config ?? this.header.config));
      this.#judges.set(line, this.#judgesNow(line.judge.key));
    }
    if (this.lines.length >= linesMax) throw tooMuch(`${linesMax.toLocaleString("en")} lines`);
    this.lines.push(line);
    if (!("in" in line)) return;
    if (this.messages.length >= whatIfMessagesMax)
      throw tooMuch(`${whatIfMessagesMax.toLocaleString("en")} messages`);
    this.messages.push(messageOf(line.t, line.in));
    this.#rooms.add(JSON.stringify([line.in.channel, line.in.account, line.in.chat.id]));
  }

  recording(name: string): Recording {
    const { header, lines, messages } = this;
    return { name, header, lines, messages, rooms: this.#rooms.size, judges: this.#judges };
  }
}

function messageOf(t: Millis, { id, author, chat, text }: Inbound): RecordedMessage {
  return {
    t,
    id,
    author: author.name,
    isBot: author.isBot,
    room: chat.title ?? (chat.kind === "direct" ? "a direct chat" : chat.id),
    text: cut(text, textShownUnitsMax),
  };
}

/** Reads a part of the journal. @throws EarshotError EAR_USAGE when it is too large. */
export async function recordingOf(
  store: RecordingStore,
  query: RecordingRange,
  name: string,
): Promise<Recording> {
  const all = new Collected();
  for await (const line of recordScenario(store, query)) {
    if ("earshot" in line) all.header = line;
    else all.add(line);
  }
  return all.recording(name);
}

/**
 * Reads an uploaded scenario.
 * @throws EarshotError EAR_SCENARIO_INVALID naming line and path; EAR_USAGE when it is too large.
 */
export function recordingFrom(text: string, name: string): Recording {
  const { header, lines } = parseScenario(text, name);
  const all = new Collected();
  all.header = header;
  for (const line of lines) all.add(line);
  return all.recording(name);
}

/** The lines, with answers only of those judges that a config has as well. */
export function linesUnder(
  lines: readonly ScenarioLine[],
  { judges }: Pick<Recording, "judges">,
  config: unknown,
): readonly ScenarioLine[] {
  if (judges.size === 0) return lines;
  const now = judgesIn(scenarioConfig({}, config));
  return lines.filter((line) => !("judge" in line) || judges.get(line) === now(line.judge.key));
}
