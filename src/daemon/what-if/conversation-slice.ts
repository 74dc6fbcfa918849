/**
 * The part of a recording that affects the decision about one message: the earlier messages of the
 * same conversation, which may have several chats, and their outcomes. A ladder is explained on this
 * part, so it takes a moment however long the recording is.
 */
import type { ScenarioLine } from "../../domain/scenario/scenario.ts";
import type { Recording } from "./recording.ts";
import type { Decided } from "./worker.ts";

type Place = { readonly channel: string; readonly account: string; readonly chat: { id: string } };
const nameOf = ({ channel, account, chat }: Place): string =>
  JSON.stringify([channel, account, chat.id]);

/** The lines up to a message. */
export function linesUpTo({ lines }: Recording, n: number): readonly ScenarioLine[] {
  let left = n + 1;
  const index = lines.findIndex((line) => {
    if ("in" in line) left -= 1;
    return left === 0;
  });
  return index === -1 ? lines : lines.slice(0, index + 1);
}

/**
 * The lines of the last message's conversation, found by the decisions about all lines. Null if a
 * scripted run names no conversation (it answers the first one): then every line is needed.
 */
export function ofConversation(
  lines: readonly ScenarioLine[],
  decided: readonly Decided[],
): readonly ScenarioLine[] | null {
  const last = lines.findLast((line) => "in" in line);
  if (last === undefined || !("in" in last)) return null;
  const keys = new Map(decided.map(([t, id, key]) => [`${t}|${id}`, key]));
  const wanted = keys.get(`${last.t}|${last.in.id}`);
  if (wanted === undefined || wanted === null) return null;
  const places = new Set<string>();
  for (const line of lines)
    if ("in" in line && keys.get(`${line.t}|${line.in.id}`) === wanted) places.add(nameOf(line.in));
  if (lines.some((line) => "agent" in line && line.agent.key === undefined)) return null;
  return lines.filter((line) => isThere(line, wanted, places));
}

function isThere(line: ScenarioLine, key: string, places: ReadonlySet<string>): boolean {
  if ("in" in line) return places.has(nameOf(line.in));
  if ("edit" in line) return places.has(nameOf(line.edit));
  if ("delete" in line) return places.has(nameOf(line.delete));
  if ("reaction" in line) return places.has(nameOf(line.reaction));
  if ("membership" in line) return places.has(nameOf(line.membership));
  if ("history" in line) return places.has(nameOf(line.history));
  if ("agent" in line) return line.agent.key === key;
  return true;
}
