import { checkRooms, ruleCounts } from "earshot/testing";
import { expect, test } from "vitest";
import { house } from "./configs.ts";
import { effort, holdsTheHouseRules } from "./rules.ts";

holdsTheHouseRules(house);

test("the rooms are such that every rule of the ladder has decided something", async () => {
  const met = new Set<string>();
  await checkRooms(house, () => [], {
    ...{ ...effort, numRuns: 60 },
    onRun: ({ lines }) => {
      for (const rule of Object.keys(ruleCounts(lines))) met.add(rule);
    },
  });
  const ladder = ["mention", "reply", "addressed-elsewhere", "sticky", "alias", "mentions-others"];
  const rest = ["reply-to-other", "names-peer-bot", "thread-unknown", "solo-human", "default"];
  expect([...met]).toEqual(expect.arrayContaining([...ladder, ...rest, "loop-guard"]));
});
