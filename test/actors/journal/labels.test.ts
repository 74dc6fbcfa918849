/**
 * Labels by hand: what somebody says about a decision is a journal row of its own, the last one
 * counts, and neither the conversation nor a recording of it is any different.
 */
import { expect, test } from "vitest";
import { conversationOf, decodeEvent } from "../../../src/actors/protocol/event-codec.ts";
import { recordScenario } from "../../../src/actors/recording/recorder.ts";
import { renderWhy } from "../../../src/daemon/cli/output/explanation.ts";
import { simulate } from "../../../src/daemon/replay/simulate.ts";
import { World } from "../../support/runtime/world.ts";

const key = "agent:main:telegram:group:room";
const { conv } = conversationOf(key);

async function room(): Promise<World> {
  const world = await new World().start();
  world.runs.push({ afterMs: 0, steps: [{ text: "here" }] });
  await world.say("morning", { id: "m1" });
  await world.say("earshot, where are you?", { id: "m2", author: { id: "bo", name: "Bo" } });
  await world.pass(5_000);
  return world;
}
const order = (id: string, expected: "engage" | "observe" | null) =>
  ({ key, id, expected, by: "ann" }) as const;
const labelOf = async (world: World, id: string) => (await world.runtime.why(id))[0]?.label;
const labelRows = async ({ store }: World) =>
  (await store.tail(conv, 0)).map(decodeEvent).filter(({ type }) => type === "message.labelled");

test("a label is a row of its own; the last one counts, and one can be taken back", async () => {
  const world = await room();
  const { runtime, clock } = world;
  expect(await labelOf(world, "m1")).toBeUndefined();
  expect(await runtime.label(order("m1", "engage"))).toMatchObject({ expected: "engage" });
  const at = clock.now();
  expect(await labelOf(world, "m1")).toEqual({ expected: "engage", by: "ann", at });
  expect(await labelOf(world, "m2")).toBeUndefined();
  await runtime.label(order("m1", "observe"));
  expect(await labelOf(world, "m1")).toMatchObject({ expected: "observe" });
  expect(await runtime.label(order("m1", null))).toBeNull();
  expect(await labelOf(world, "m1")).toBeUndefined();
  expect(await labelRows(world)).toMatchObject([
    { id: "m1", expected: "engage", by: "ann" },
    { id: "m1", expected: "observe" },
    { id: "m1", expected: null },
  ]);
});

test("what is said twice is stored once; what was not decided there is unknown", async () => {
  const world = await room();
  const { runtime } = world;
  const [{ seq = 0 } = {}] = await runtime.why("m1");
  await runtime.label(order("m1", "engage"));
  await runtime.label({ ...order("m1", "engage"), seq });
  expect(await labelRows(world)).toHaveLength(1);
  expect(await runtime.label(order("m1", null))).toBeNull();
  expect(await runtime.label(order("m9", "engage"))).toBe("unknown");
  expect(await runtime.label({ ...order("m1", "engage"), seq: seq + 1 })).toBe("unknown");
  const elsewhere = "agent:main:telegram:group:elsewhere";
  expect(await runtime.label({ ...order("m1", "engage"), key: elsewhere })).toBe("unknown");
  expect(await labelRows(world)).toHaveLength(2);
});

test("a label that the store does not take is refused", async () => {
  const world = await room();
  const { runtime, disk } = world;
  disk.fail({ at: 1 });
  await expect(runtime.label(order("m1", "engage"))).rejects.toMatchObject({
    code: "EAR_STORE_FAILED",
  });
  disk.heal();
  expect(await labelRows(world)).toEqual([]);
});

test("rooms with and without labels decide, answer and are recorded alike, over a kill", async () => {
  const [plain, labelled] = [await room(), await room()];
  await labelled.runtime.label(order("m1", "engage"));
  await labelled.runtime.label(order("m2", "observe"));
  for (const world of [plain, labelled]) {
    // The label is in the tail that the next process replays.
    await world.kill();
    world.runs.push({ afterMs: 0, steps: [{ text: "yes" }] });
    await world.say("and now?", { id: "m3", author: { id: "bo", name: "Bo" } });
    await world.pass(60_000);
  }
  const tail = (world: World) =>
    world.lines.map((line) => ({ ...line, id: "", turnId: "", turn: 0 }));
  expect(tail(labelled)).toEqual(tail(plain));
  expect(labelled.sent.map(({ text }) => text)).toEqual(plain.sent.map(({ text }) => text));
  const recorded = async ({ store }: World) => {
    const lines: unknown[] = [];
    for await (const line of recordScenario(store, { since: 0 })) lines.push(line);
    return lines;
  };
  const isLabel = (line: unknown) => typeof line === "object" && line !== null && "label" in line;
  const lines = await recorded(labelled);
  expect(lines.filter((line) => !isLabel(line))).toEqual(await recorded(plain));
  expect(lines.filter(isLabel)).toMatchObject([
    { label: { key, id: "m1", expected: "engage" } },
    { label: { key, id: "m2", expected: "observe" } },
  ]);
  const replayed = (all: readonly unknown[]) => simulate(all).then(({ lines: out }) => out);
  expect(await replayed(lines)).toEqual(await replayed(lines.filter((line) => !isLabel(line))));
  expect(await labelOf(labelled, "m1")).toMatchObject({ expected: "engage" });
});

test("`why` says what somebody said, in the terminal and in the room", async () => {
  const world = await room();
  await world.runtime.label(order("m2", "observe"));
  const text = renderWhy(await world.runtime.why("m2"), { columns: 100, colour: false });
  expect(text).toMatch(/label +should have stayed quiet \(ann, 2023-11-14 22:13:25 UTC\)/u);
});

test("a label on a message in one chat of a session is none on the one with its id in another", async () => {
  const world = await new World().start();
  const { runtime } = world;
  const direct = (id: string) => ({
    id: "17",
    chat: { id, kind: "direct" as const },
    author: { id, name: id },
  });
  await world.say("from Ann", direct("ann"));
  await world.pass(5_000);
  await world.say("from Bo", direct("bo"));
  await world.pass(5_000);
  const labelled = { key: "agent:main:main", id: "17", by: "ann" };
  const why = async () =>
    (await runtime.why("17")).map(({ message, label }) => [message.text, label?.expected]);
  const [{ seq = 0 } = {}] = await runtime.why("17");
  expect(await runtime.label({ ...labelled, seq, expected: "observe" })).not.toBe("unknown");
  expect(await why()).toEqual([
    ["from Ann", "observe"],
    ["from Bo", undefined],
  ]);
  // Without a journal row it is about the newest.
  await runtime.label({ ...labelled, expected: "engage" });
  expect(await why()).toEqual([
    ["from Ann", "observe"],
    ["from Bo", "engage"],
  ]);
  await runtime.label({ ...labelled, seq, expected: null });
  expect(await why()).toEqual([
    ["from Ann", undefined],
    ["from Bo", "engage"],
  ]);
});
