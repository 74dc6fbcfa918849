/** Rooms in which somebody labelled what was meant for the agent, as text. */
import { type LineInput, roomText } from "./labelled-rooms.ts";

/**
 * Ann asks by the name "kitchenbot", which is none of the agent's, and every other time she goes on
 * within half a minute; minutes later she talks to Bob.
 */
export function talkRoom(name: string, talks: number, label = true): string {
  const lines: LineInput[] = [];
  const say = (line: LineInput, meant: boolean, afterMs: number) => {
    const at = (lines.at(-1)?.at ?? 0) + afterMs;
    lines.push({ ...line, at, ...(label ? { meant: meant ? ["scout"] : [] } : {}) });
    return String(lines.length);
  };
  for (let talk = 0; talk < talks; talk += 1) {
    const asked = say({ by: "ann", text: "hey kitchenbot, what is for lunch?" }, true, 3_600_000);
    say({ by: "scout", text: "soup", answers: [asked] }, false, 3_000);
    if (talk % 2 === 1) say({ by: "ann", text: "and after that?" }, true, 20_000);
    say({ by: "ann", text: "who took the car" }, false, 400_000);
    say({ by: "bob", text: "not me" }, false, 5_000);
    if (talk % 2 === 0) say({ by: "bob", text: "scout: is it cold?", to: ["scout"] }, true, 9_000);
    say({ by: "ann", text: "well, off we go" }, false, 30_000);
  }
  return roomText({ room: name, agents: ["scout"] }, lines);
}
