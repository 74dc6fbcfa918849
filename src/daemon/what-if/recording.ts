/**
 * Recordings for What-if
 * ======================
 * Scenario lines in memory, bounded in number and size, from this daemon's journal or from an
 * uploaded file, with what the page shows of each message. Larger ones are for `earshot replay
 * --against`, which reads from disk.
 */
import { recordScenario } from "../../actors/recording/recorder.ts";
import type { RecordingRange, RecordingStore } from "../../actors/recording/types.ts";
import { EarshotError } from "../../domain/errors.ts";
import type { Inbound, Millis } from "../../domain/message.ts";
import { cut } from "../../domain/sanitize.ts";
import { parseScenario } from "../../domain/scenario/read-scenario.ts";
import type { ScenarioHeader, ScenarioLine } from "../../domain/scenario/scenario.ts";

export const whatIfMessagesMax = 50_000;
export const whatIfBytesMax = 33_554_432;
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

  add(line: ScenarioLine): void {
    // The tried rules apply to all lines.
    if ("config" in line) return;
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
    return { name, header, lines, messages, rooms: this.#rooms.size };
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
