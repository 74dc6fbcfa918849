/**
 * Participants of the simulated room
 * ==================================
 * Who can speak in the simulator, and how a written "@Name" becomes a mention. Real channels
 * deliver mentions as structure; here the page reads them from the text, longest name first, and
 * never as a pattern.
 */

export interface Member {
  readonly id: string;
  readonly name: string;
  readonly isBot: boolean;
}

/** The agent's own id in the simulated room. */
export const selfId = "self";
/** The most members a room can have; nine have a key. */
export const membersCountMax = 24;
export const nameUnitsMax = 32;

export const firstCast: readonly Member[] = [
  { id: "ann", name: "Ann", isBot: false },
  { id: "bo", name: "Bo", isBot: false },
  { id: "cy", name: "Cy", isBot: false },
  { id: "relay", name: "Relay", isBot: true },
];

/** Adds someone. Null if the name is empty, taken, or the room is full. */
export function join(
  cast: readonly Member[],
  name: string,
  isBot: boolean,
  agentName: string,
): readonly Member[] | null {
  const trimmed = name.trim().slice(0, nameUnitsMax).trim();
  const taken = [agentName, ...cast.map((member) => member.name)].some(
    (known) => known.toLowerCase() === trimmed.toLowerCase(),
  );
  if (trimmed === "" || taken || cast.length >= membersCountMax) return null;
  return [...cast, { id: `m${cast.length + 1}`, name: trimmed, isBot }];
}

/** Counts as shown and as given to the ladder. */
export function count(cast: readonly Member[]): { readonly humans: number; readonly bots: number } {
  const bots = cast.filter((member) => member.isBot).length;
  return { humans: cast.length - bots, bots };
}

/** A piece of a text: plain, or a mention of someone. */
export interface Piece {
  readonly text: string;
  readonly who: Member | null;
}

/** Whether a word goes on at this place, so that "@Anna" does not mention Ann. */
const wordGoesOn = (text: string, at: number): boolean =>
  /^[\p{L}\p{N}_]/u.test(text.slice(at, at + 2));

/** Cuts a text at its mentions. `members` holds everyone who can be mentioned, the agent too. */
export function pieces(text: string, members: readonly Member[]): readonly Piece[] {
  const byLength = [...members].sort((a, b) => b.name.length - a.name.length);
  const found: Piece[] = [];
  let plainFrom = 0;
  let at = text.indexOf("@");
  while (at >= 0) {
    const rest = text.slice(at + 1, at + 1 + nameUnitsMax * 2).toLowerCase();
    const who = byLength.find(
      (member) =>
        rest.startsWith(member.name.toLowerCase()) &&
        !wordGoesOn(text, at + 1 + member.name.length),
    );
    if (who !== undefined) {
      if (at > plainFrom) found.push({ text: text.slice(plainFrom, at), who: null });
      plainFrom = at + 1 + who.name.length;
      found.push({ text: text.slice(at, plainFrom), who });
    }
    at = text.indexOf("@", Math.max(at + 1, plainFrom));
  }
  if (plainFrom < text.length) found.push({ text: text.slice(plainFrom), who: null });
  return found;
}

/** Everyone a text mentions, once each. */
export function mentioned(text: string, members: readonly Member[]): readonly Member[] {
  return [...new Set(pieces(text, members).flatMap(({ who }) => (who === null ? [] : [who])))];
}
