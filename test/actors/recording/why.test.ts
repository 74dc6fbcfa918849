/**
 * `why`: the ladder as it was, and what happened to the message.
 */
import { expect, test } from "vitest";
import type { Why } from "../../../src/actors/protocol/why.ts";
import { renderWhy } from "../../../src/daemon/cli/output/explanation.ts";
import { World } from "../../support/runtime/world.ts";

test("a message that was answered shows its rung, its turn and its delivery", async () => {
  const world = await new World().start();
  world.runs.push({ afterMs: 0, steps: [{ text: "here" }] });
  await world.say("morning", { id: "m1" });
  await world.say("earshot, where are you?", { id: "m2", author: { id: "bo", name: "Bo" } });
  await world.pass(5_000);
  const [why] = await world.runtime.why("m2");
  expect(why?.recorded).toMatchObject({ decision: "engage", rule: "alias" });
  expect(why?.explanation?.verdict).toMatchObject({ decision: "engage", rule: "alias" });
  expect(why?.explanation?.rungs.find(({ outcome }) => outcome === "matched")?.rule).toBe("alias");
  expect(why?.humans.count).toBe(4);
  expect(why?.fate).toMatchObject({
    turn: 1,
    batch: ["m2"],
    outcome: "replied",
    deliveries: [{ status: "sent", text: "here" }],
  });
});

test("an observed message has a reason and no turn; what fell off the buffer says so", async () => {
  const world = await new World({ config: { context: { size: 2 } } }).start();
  for (const id of ["m1", "m2", "m3"]) {
    await world.say("just talk", { id, author: { id: `u-${id}` } });
  }
  await world.pass(1_000);
  expect(world.events("dropped")).toMatchObject([{ message: "m1", why: "context-size" }]);
  const reported = world.lines.map((line) =>
    "decision" in line ? line.id : "event" in line && line.event,
  );
  expect(reported.indexOf("dropped")).toBe(reported.indexOf("m3") + 1);
  const [first] = await world.runtime.why("m1");
  expect(first?.recorded?.decision).toBe("observe");
  expect(first?.fate).toMatchObject({ turnId: null, dropped: "context-size" });
  const [last] = await world.runtime.why("m3");
  expect(last?.fate).toMatchObject({ turnId: null, dropped: null });
  expect(last?.participants.map(({ id }) => id).sort()).toEqual(["u-m1", "u-m2", "u-m3"]);
});

test("the recorded verdict and the ladder agree for every message of a busy room", async () => {
  const world = await new World().start();
  const texts = ["hi", "earshot?", "and you?", "bo: no", "earshot stop", "ok", "ok"];
  for (const [index, text] of texts.entries()) {
    await world.say(text, { id: `m${index}`, author: { id: `u${index % 3}` } });
    await world.pass(400 * index);
  }
  await world.pass(60_000);
  for (const [index] of texts.entries()) {
    const [why] = await world.runtime.why(`m${index}`);
    expect(why?.explanation?.verdict).toMatchObject({
      decision: why?.recorded?.decision,
      rule: why?.recorded?.rule,
    });
  }
});

test("a turn that the schedule owes, and a text of it, are explained by their ids", async () => {
  const to = { channel: "telegram", chat: { id: "room", kind: "group" } };
  const every = { cron: "0 * * * *", to };
  const world = await new World({
    config: {
      schedule: [
        { ...every, name: "week", prompt: "Sum up the week." },
        { ...every, name: "tea", text: "Tea?" },
      ],
    },
  }).start();
  world.runs.push({ afterMs: 0, steps: [{ text: "A quiet week." }] });
  await world.pass(3_600_000);
  const due = "2023-11-14T23:00:00.000Z";
  const [turn] = await world.runtime.why(`schedule|week|${due}`);
  expect(turn).toMatchObject({
    ordered: "prompt",
    key: "agent:main:telegram:group:room",
    message: { author: { name: "schedule week" }, text: "Sum up the week." },
    recorded: null,
    explanation: null,
    fate: {
      turn: 1,
      batch: [],
      outcome: "replied",
      deliveries: [{ status: "sent", text: "A quiet week." }],
    },
  });
  const [text] = await world.runtime.why(`schedule|tea|${due}`);
  expect(text).toMatchObject({
    ordered: "text",
    message: { text: "Tea?" },
    fate: { turnId: null, deliveries: [{ status: "sent", text: "Tea?" }] },
  });
  // `earshot inspect` and the journal have the name of the row.
  expect(await world.runtime.why(`send:schedule|week|${due}`)).toEqual([turn]);
  const words = renderWhy([turn as Why, text as Why], { columns: 100, colour: false });
  expect(words).toContain("a prompt of the operator or the schedule");
  expect(words).toMatch(/fate +turn 1 \(.+\) with no message: replied/);
  expect(words).toMatch(/fate +sent as it is\nsent +.+“Tea\?”/);
});

test("an unknown message has no answer", async () => {
  const world = await new World().start();
  expect(await world.runtime.why("nobody said this")).toEqual([]);
});

test("a denied message is explained by the rules that denied it, also after they changed", async () => {
  const closed = { access: { groupPolicy: "allowlist" } };
  const world = await new World({ config: closed }).start();
  await world.say("hello", { id: "m1" });
  await world.restart({ access: { groupPolicy: "open" } });
  await world.say("hello", { id: "m2" });
  await world.pass(1_000);
  const [denied] = await world.runtime.why("m1");
  expect(denied?.recorded).toMatchObject({ decision: "denied", rule: "group-policy" });
  expect(denied?.admission).toMatch(/^the group is not listed/);
  const [heard] = await world.runtime.why("m2");
  expect(heard?.recorded?.decision).toBe("observe");
});

test("a message is explained by the names and rules of its moment, also after a restart", async () => {
  const driver = { kind: "scripted" };
  const named = (name: string) => ({ agents: { list: [{ id: "main", name, driver }] } });
  const world = await new World({ config: named("Scout") }).start();
  await world.say("Scout, are you there?", { id: "m1" });
  await world.restart(named("Relay"));
  await world.say("Scout, are you there?", { id: "m2", author: { id: "bo", name: "Bo" } });
  await world.pass(5_000);
  const [before] = await world.runtime.why("m1");
  expect(before?.recorded).toMatchObject({ decision: "engage", rule: "alias" });
  expect(before?.explanation?.verdict).toMatchObject({ decision: "engage", rule: "alias" });
  expect(before?.fate).toMatchObject({ turn: 1, outcome: "replied" });
  const [after] = await world.runtime.why("m2");
  expect(after?.recorded).toMatchObject({ decision: "observe", rule: "default" });
});

test("an order to stop is a command: obeyed, no ladder, no turn of its own", async () => {
  const world = await new World({
    config: { commands: { allowFrom: { "*": ["telegram:ann"] } } },
  }).start();
  await world.say("stop", { id: "m1", author: { id: "ann" } });
  await world.pass(1_000);
  const [why] = await world.runtime.why("m1");
  expect(why?.recorded).toMatchObject({ decision: "command", rule: "command" });
  expect(why?.explanation).toBeNull();
  expect(why?.admission).toMatch(/^a command, carried out/);
});
