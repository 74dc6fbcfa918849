/** A talk on a real daemon in which people call Scout "navi", with labels by hand. */
import { type Called, roomCall, say } from "./room-daemon.ts";

const lines = [
  ["ann", "morning", false],
  ["bo", "hey navi, which branch is on staging?", true],
  ["cy", "the green one, I think", false],
  ["bo", "navi, is it the green one?", true],
  ["ann", "lunch at noon?", false],
  ["cy", "fine with me", false],
  ["dee", "navi: when did it start?", true],
  ["ann", "no idea", false],
  ["bo", "and the tests, navi?", true],
  ["cy", "green since Tuesday", false],
] as const;
export const labelledLines = lines.length;

/** Says and labels every line. */
export async function labelTalk(daemon: Called): Promise<void> {
  for (const [index, [who, text, isMeant]] of lines.entries()) {
    const id = `talk-${index}`;
    // The first one would be alone in the room otherwise.
    await say(daemon, id, who, text, index === 0 ? { mentions: ["bo"] } : {});
    const answer = await roomCall(daemon, "/label", {
      id,
      expected: isMeant ? "engage" : "observe",
    });
    if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
  }
}
