/**
 * One conversation of a recording
 * ===============================
 * What bears on the decision about one message: what was said before it in the same conversation,
 * which may have several chats, with what became of it there. A ladder is walked on this part, so
 * that it takes a moment however long the recording is.
 */
import type { ScenarioLine } from "../../domain/scenario/scenario.ts";
import type { Recording } from "./recording.ts";
import type { Decided } from "./worker.ts";

type Place = { readonly channel: string; readonly account: string; readonly chat: { id: string } };
const nameOf = ({ channel, account, chat }: Place): string =>
  JSON.stringify([channel, account, chat.id]);

/** The lines up to a message; what came later does not bear on it. */
export function linesUpTo({ lines }: Recording, n: number): readonly ScenarioLine[] {
  let left = n + 1;
  const index = lines.findIndex((line) => {
    if ("in" in line) left -= 1;
    return left === 0;
  });
  return index === -1 ? lines : lines.slice(0, index + 1);
}

/**
 * Of these lines those of the message's conversation, by what was decided about all of them. Null
 * where lines name no conversation (scripts for whoever comes first): then none may be left out.
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
  if ("membership" in line) return places.has(nameOf(line.membership));
  if ("history" in line) return places.has(nameOf(line.history));
  if ("agent" in line) return line.agent.key === key;
  return true;
}
