import { checkRooms, ruleCounts } from "earshot/testing";
import { expect, test } from "vitest";
import { library } from "./configs.ts";
import { effort, testRules } from "./rules.ts";

testRules(library);

test("every rule of the ladder decides something in these rooms", async () => {
  const met = new Set<string>();
  await checkRooms(library, () => [], {
    ...{ ...effort, numRuns: 60 },
    onRun: ({ lines }) => {
      for (const rule of Object.keys(ruleCounts(lines))) met.add(rule);
    },
  });
  const ladder = ["mention", "reply", "addressed-elsewhere", "sticky", "alias", "mentions-others"];
  const rest = ["reply-to-other", "names-peer-bot", "thread-unknown", "solo-human", "default"];
  expect([...met]).toEqual(expect.arrayContaining([...ladder, ...rest, "loop-guard"]));
});
