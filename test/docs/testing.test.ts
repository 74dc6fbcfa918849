/** docs/testing.md: what it prints is what is printed, and its story goes as written. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkRooms, createWorld, type RoomRun, RuleBroken } from "../../src/testing.ts";
import { root } from "../support/docs.ts";

const page = readFileSync(join(root, "docs/testing.md"), "utf8");
const agents = { list: [{ id: "main", name: "Scout" }] };

/** As the page has it. */
const atMostThree = ({ heard }: RoomRun) => {
  const answers = new Map<string | null, Set<unknown>>();
  return heard.flatMap((one) => {
    const isBot = one.message.author.isBot;
    const inARow = (isBot && answers.get(one.key)) || new Set();
    answers.set(one.key, inARow);
    if (isBot && one.turn !== null) inARow.add(one.turn);
    return inARow.size > 3 ? [one] : [];
  });
};

test("the room on the page comes back by its seed and path, word for word", async () => {
  const shown = /```text\n(The rule is broken[\s\S]*?)\n```/u.exec(page)?.[1] ?? "";
  const [, seed, path] = /\{ seed: (\d+), path: "([\d:]+)" \}/u.exec(shown) ?? [];
  const config = { agents, loopGuard: { maxConsecutive: 3 } };
  const again = { seed: Number(seed), path: path as string };
  const broken = await checkRooms(config, atMostThree, again).catch((error: unknown) => error);
  expect(broken).toBeInstanceOf(RuleBroken);
  const rest = (text: string) => text.slice(text.indexOf("\n")).split("\n");
  expect(rest(shown)).toEqual(rest((broken as RuleBroken).message));
});

test("under the config that the page ends with, that room breaks nothing", async () => {
  expect(page).toContain("`loopGuard: { hardLimit: 3 }` the rule holds");
  await checkRooms({ agents, loopGuard: { hardLimit: 3 } }, atMostThree, {
    seed: 10,
    numRuns: 12,
  });
});

test("the story on the page ends as it says", async () => {
  const world = createWorld({ agents }, { bots: ["rex"] });
  await world.say("ann", "hello");
  await world.say("bo", "when do you open?", { mentions: ["us"] });
  await world.wait(600);
  await world.crash("process");
  const [heard] = await world.say("bo", "and on Sundays?");
  expect(heard?.rule).toBe("sticky");
  await world.close();
  expect(page).toContain('expect(heard?.rule).toBe("sticky");');
});
