/**
 * Names that people use
 * =====================
 * Words by which a room calls its agent though they are none of its names: found where a name stands
 * when somebody is called ("bot, are you there?", "thanks bot", "@bot"), in lines that are meant for
 * the agent. Whether one of them helps is measured afterwards.
 */
import { containsFolded, fold } from "../fold-text.ts";
import { isMeant, type LabelledRoom } from "./labelled-room.ts";

/** "hey bot, …" and "bot: …"; "…, bot?"; "@bot". */
const calls: readonly RegExp[] = [
  /^(?:[\p{L}\p{M}]+ )?@?([\p{L}\p{N}][\p{L}\p{M}\p{N}_-]{1,23})[ ]?[,:!?]/u,
  /, ?@?([\p{L}\p{N}][\p{L}\p{M}\p{N}_-]{1,23})[ ]?[.!?]*$/u,
  /@([\p{L}\p{N}][\p{L}\p{M}\p{N}_-]{1,23})/u,
];
const candidatesMax = 6;
/** A word of one line may be chance. */
const linesMin = 2;

/** The best of them first. Rooms in which several play the agent give none. */
export function nameCandidates(
  rooms: readonly LabelledRoom[],
  known: readonly string[],
): readonly string[] {
  const found = new Map<string, { meant: number; others: number }>();
  for (const room of rooms) if (room.agents.length === 1) addFrom(room, known, found);
  return [...found]
    .filter(([, { meant, others }]) => meant >= linesMin && meant > others)
    .sort(([a, one], [b, two]) => gain(two) - gain(one) || (a < b ? -1 : 1))
    .slice(0, candidatesMax)
    .map(([name]) => name);
}

const gain = ({ meant, others }: { meant: number; others: number }) => meant - others;

function addFrom(
  room: LabelledRoom,
  known: readonly string[],
  found: Map<string, { meant: number; others: number }>,
): void {
  const agent = room.agents[0] ?? "";
  const authors = new Map(room.lines.map(({ id, by }) => [id, by]));
  const ours = [agent, ...known].map(fold);
  const people = new Set([...authors.values()].map(fold));
  const lines = room.lines
    .filter(({ by }) => by !== agent)
    .map((line) => ({
      text: fold(line.text),
      // Called by its name, or mentioned: no other name is needed.
      isCalled: line.to?.includes(agent) === true,
      isMeant: isMeant(line, agent, (id) => authors.get(id)),
    }))
    .filter(({ text, isCalled }) => !isCalled && !ours.some((name) => containsFolded(text, name)));
  const words = new Set(
    lines.flatMap((line) =>
      line.isMeant ? calls.flatMap((call) => call.exec(line.text)?.[1] ?? []) : [],
    ),
  );
  for (const name of words) {
    if (people.has(name)) continue;
    const counts = found.get(name) ?? { meant: 0, others: 0 };
    for (const line of lines)
      if (containsFolded(line.text, name)) counts[line.isMeant ? "meant" : "others"] += 1;
    found.set(name, counts);
  }
}
