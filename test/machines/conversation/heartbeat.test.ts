/** A turn that nobody asked for, in the chart, when somebody asks for one. */
import { expect, test } from "vitest";
import { Rig } from "../../support/runtime/conversation-rig.ts";

const route = {
  channel: "test",
  account: "default",
  thread: null,
  chat: { id: "room", kind: "group" },
} as const;
const beat = (rig: Rig) => rig.step({ type: "heartbeat.due", at: rig.now, route });

test("what is only overheard lets it go on; what is to be answered ends it at once", () => {
  const rig = new Rig();
  beat(rig);
  rig.say("ann", "the build is red");
  expect(rig.of("turn.abort")).toEqual([]);
  rig.say("bob", "earshot?", { to: "us", id: "asked" });
  expect(rig.of("turn.abort")).toMatchObject([{ turnId: "T1", reason: "a person spoke" }]);
  rig.say("cat", "earshot, me too", { to: "us", id: "as well" });
  expect(rig.of("turn.abort")).toHaveLength(1);
});

test.each([0, 200, 499])(
  "the answer begins when it would have, with the agent gone after %i ms",
  (gone) => {
    const rig = new Rig();
    beat(rig);
    rig.say("bob", "earshot?", { to: "us", id: "asked" });
    const asked = rig.now;
    rig.wait(gone);
    rig.fail("aborted");
    rig.wait(499 - gone);
    expect(rig.runs).toHaveLength(1);
    rig.wait(1);
    expect(rig.now - asked).toBe(500);
    expect(rig.runs.at(-1)).toMatchObject({ batch: [{ id: "asked" }] });
    expect(rig.of("deadline.set").filter(({ id }) => id === "quiet")).toEqual([]);
  },
);

test("one that ends by itself leaves no pause behind it, as a turn for somebody does", () => {
  const rig = new Rig({ holdSlots: true });
  beat(rig);
  rig.grant();
  rig.say("bob", "earshot?", { to: "us" });
  rig.wait(500);
  rig.end(true);
  expect(rig.of("deadline.set").filter(({ id }) => id === "quiet")).toEqual([]);
  rig.grant();
  rig.say("ann", "earshot, too", { to: "us" });
  rig.wait(500);
  rig.reply();
  expect(rig.of("deadline.set").filter(({ id }) => id === "quiet")).not.toEqual([]);
});
