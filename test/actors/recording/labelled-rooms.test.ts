/** What a labelled room has of answers that grew, texts that nobody asked for, and other lines. */
import { expect, test } from "vitest";
import { recordLabelled } from "../../../src/actors/recording/labelled-rooms.ts";
import type { LabelledLine } from "../../../src/domain/quality/labelled-room.ts";
import { World } from "../../support/runtime/world.ts";

const key = "agent:main:telegram:group:room";
const bo = { id: "bo", name: "Bo" };

async function linesOf(world: World, conversation = key): Promise<readonly LabelledLine[]> {
  const lines: LabelledLine[] = [];
  for await (const line of recordLabelled(world.store, { since: 0, conversation }))
    if (!("room" in line)) lines.push(line);
  return lines;
}

test("an answer that is edited as it grows is one line with its whole text", async () => {
  const world = await new World({ config: { stream: { mode: "draft" } } }).start();
  const words = "The quick brown fox jumps over the lazy dog and sleeps after that for long.";
  const steps = words.split(/(?<= )/).flatMap((text) => [{ text }, { waitMs: 100 }]);
  world.runs.push({ afterMs: 0, steps });
  await world.say("earshot, tell me", { id: "m1" });
  await world.pass(60_000);
  expect(world.edited.length).toBeGreaterThan(0);
  expect(await linesOf(world)).toMatchObject([
    { id: "m1", by: "Ann" },
    { id: "p1", by: "earshot", text: words, answers: ["m1"] },
  ]);
});

test("messages that are answered together are all answered; a notice and a command are no lines", async () => {
  const world = await new World({
    config: { commands: { ownerAllowFrom: ["telegram:ann"] } },
  }).start();
  world.runs.push({ afterMs: 0, steps: [{ text: "both" }] });
  await world.say("earshot, one", { id: "m1", author: bo });
  await world.say("earshot, two", { id: "m2", author: bo });
  await world.pass(10_000);
  await world.say("/status", { id: "m3" });
  await world.pass(10_000);
  const place = { channel: "telegram", account: "default", thread: null } as const;
  const chat = { id: "room", kind: "group" } as const;
  const lunch = { id: "one", text: "Lunch!", turn: false, replyTo: null, by: "operator" };
  await world.runtime.say({ ...lunch, place: { ...place, chat } });
  await world.pass(10_000);
  expect(world.sent).toHaveLength(3);
  const lines = await linesOf(world);
  expect(lines.map(({ id, by, text, answers }) => [id, by, text, answers])).toEqual([
    ["m1", "Bo", "earshot, one", undefined],
    ["m2", "Bo", "earshot, two", undefined],
    ["p1", "earshot", "both", ["m1", "m2"]],
    ["p3", "earshot", "Lunch!", undefined],
  ]);
});

test("a direct chat is left out", async () => {
  const world = await new World().start();
  await world.say("hello", { id: "m1", direct: true });
  await world.pass(10_000);
  expect(await linesOf(world, "agent:main:main")).toEqual([]);
});

test("the room is the same over a kill, and when its labels are beyond a record", async () => {
  const world = await new World().start();
  world.runs.push({ afterMs: 0, steps: [{ text: "here" }] });
  await world.say("earshot?", { id: "m1", author: bo });
  await world.pass(10_000);
  await world.runtime.label({ key, id: "m1", expected: "observe", by: "ann" });
  const before = await linesOf(world);
  expect(before[0]).toMatchObject({ id: "m1", meant: [] });
  await world.runtime.passivateAll();
  await world.kill();
  await world.pass(10_000);
  expect(await linesOf(world)).toEqual(before);
});

test("where the beginning of the journal is gone, the rest is written with its labels", async () => {
  const world = await new World().start();
  for (const [index, text] of ["earshot, one", "and more?", "earshot, two", "thanks"].entries()) {
    world.runs.push({ afterMs: 0, steps: [{ text: `answer ${index}` }] });
    await world.say(text, { id: `m${index + 1}`, author: bo });
    await world.pass(10_000);
  }
  await world.runtime.label({ key, id: "m1", expected: "engage", by: "ann" });
  await world.runtime.label({ key, id: "m3", expected: "observe", by: "ann" });
  const all = await linesOf(world);
  await world.runtime.passivateAll();
  const [third] = await world.runtime.why("m3");
  expect(await world.store.prune((third?.at ?? 0) - 1_000, 1_000)).toBeGreaterThan(4);
  const rest = await linesOf(world);
  expect(rest.length).toBeGreaterThan(2);
  expect(rest).toEqual(all.slice(-rest.length));
  expect(rest[0]).toMatchObject({ id: "m3", meant: [] });
});
