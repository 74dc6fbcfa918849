/**
 * `earshot record --labels`: a real room with labels by hand becomes a labelled room that
 * `earshot eval` measures, and both say the same.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { scoreRoom } from "../../../src/actors/quality/score-room.ts";
import { openSqliteStore } from "../../../src/adapters/stores/sqlite-store.ts";
import { settingsIn } from "../../../src/daemon/quality/room-settings.ts";
import { labelledText } from "../../../src/daemon/replay/recording.ts";
import { scenarioConfig } from "../../../src/domain/config/index.ts";
import type { Expected } from "../../../src/domain/decision.ts";
import { parseLabelledRooms } from "../../../src/testing/labelled-rooms.ts";
import { runCommand } from "../../support/built/command.ts";
import { newFolder } from "../../support/daemon/folder.ts";
import { startSmallServer } from "../../support/daemon/small-server.ts";
import { World } from "../../support/runtime/world.ts";

const key = "agent:main:telegram:group:room";
const driver = { kind: "scripted" };
const config = { agents: { list: [{ id: "main", name: "Scout", driver }] } };
const people = {
  ann: { id: "u1", name: "Ann" },
  bo: { id: "u2", name: "Bo" },
  cy: { id: "u3", name: "Cy" },
  // Somebody else of the same name.
  ann2: { id: "u4", name: "Ann" },
  relay: { id: "u5", name: "Relay", isBot: true },
} as const;

type Step = readonly [
  who: keyof typeof people,
  text: string,
  expected: Expected | null,
  more?: object,
];
const context: readonly Step[] = [
  ["ann", "morning all", null],
  ["bo", "morning", null],
];
const steps: readonly Step[] = [
  ["bo", "nice day", "observe"],
  ["cy", "scout, where are you?", "engage"],
  ["cy", "and the others?", "engage"],
  ["cy", "no idea what to cook", "observe"],
  ["bo", "thanks for that", "engage", { replyTo: { id: "p1", authorIsSelf: true } }],
  ["ann", "Bo, are you there?", "observe", { mentions: [{ id: "u2", name: "Bo" }] }],
  ["ann2", "could somebody from here help me", "engage"],
  ["relay", "Deploy 212: done", "observe"],
  ["cy", "hello again Scout", null],
];

/** Plays the room on this store, and labels it; returns what was decided. */
async function play(world: World): Promise<Map<string, string>> {
  const decided = new Map<string, string>();
  const all = [...context, ...steps];
  for (const [index, [who, text, , more = {}]] of all.entries()) {
    const id = `m${index + 1}`;
    world.runs.push({ afterMs: 0, steps: [{ text: `answer ${index}` }] });
    await world.say(text, { id, author: people[who], ...more });
    await world.pass(20_000);
    const line = world.lines.find((one) => "decision" in one && one.id === id);
    decided.set(
      id,
      "decision" in (line ?? {}) ? String((line as { decision: string }).decision) : "",
    );
    if (!decided.get(id)?.startsWith("engage")) world.runs.length = 0;
  }
  for (const [index, [, , expected]] of all.entries())
    if (expected !== null)
      expect(
        await world.runtime.label({ key, id: `m${index + 1}`, expected, by: "ann" }),
      ).toMatchObject({ expected });
  return decided;
}

describe("record --labels", () => {
  const stateDir = newFolder();
  const path = join(stateDir, "earshot.db");
  let decided: Map<string, string>;
  let since: number;

  beforeAll(async () => {
    const store = await openSqliteStore({ path });
    const world = await new World({ store, config }).start();
    since = world.clock.now() + context.length * 20_000;
    decided = await play(world);
    // Elsewhere nobody labelled anything.
    world.runs.push({ afterMs: 0, steps: [{ text: "yes" }] });
    await world.say("scout?", { id: "x1", chat: { id: "other", kind: "group" } });
    await world.pass(60_000);
    await world.runtime.stop();
    await store.close();
  });

  const earshot = (...args: readonly string[]) =>
    runCommand(args, { env: { HOME: stateDir, NO_COLOR: "1" } });
  const record = (...args: readonly string[]) =>
    earshot("record", "--labels", "--state-dir", stateDir, ...args);
  const from = () => new Date(since).toISOString();

  test("writes the room with its labels, and nothing else", async () => {
    const { code, out, err } = await record("--since", from());
    expect([code, err]).toEqual([0, ""]);
    const [room, ...more] = parseLabelledRooms(out);
    expect(more).toEqual([]);
    expect(room).toMatchObject({ room: key, agents: ["Scout"], from: "m3", bots: ["Relay"] });
    const lines = room?.lines ?? [];
    const bare = lines.map(({ at: _, ...line }) => line);
    expect(bare.slice(0, 5)).toEqual([
      { id: "m1", by: "Ann", text: "morning all" },
      { id: "m2", by: "Bo", text: "morning" },
      { id: "m3", by: "Bo", text: "nice day", meant: [] },
      { id: "m4", by: "Cy", text: "scout, where are you?", meant: ["Scout"] },
      { id: "p1", by: "Scout", text: "answer 3", answers: ["m4"] },
    ]);
    const found = (id: string) => bare.find((line) => line.id === id);
    const thanks = { id: "m7", by: "Bo", text: "thanks for that", to: ["Scout"], answers: ["p1"] };
    expect(found("m7")).toEqual({ ...thanks, meant: ["Scout"] });
    const toBo = { id: "m8", by: "Ann", text: "Bo, are you there?", to: ["Bo"] };
    expect(found("m8")).toEqual({ ...toBo, meant: [] });
    expect(found("m9")?.by).toBe("Ann 2");
    // Nobody said anything about it.
    expect(found("m11")).toEqual({ id: "m11", by: "Cy", text: "hello again Scout" });
  });

  test("`earshot eval` decides as the room did, and counts as the labels say", async () => {
    const { out } = await record("--since", from());
    const file = join(stateDir, "rooms.jsonl");
    writeFileSync(file, out);
    const json = JSON.parse((await earshot("eval", file, "--json")).out) as object;
    const labels = new Map(
      steps.map(([, , expected], index) => [`m${index + context.length + 1}`, expected]),
    );
    const counted = [...labels].map(([id, expected]) => [decided.get(id), expected] as const);
    const engaged = counted.filter(([decision]) => decision === "engage");
    expect(engaged.length).toBeGreaterThan(2);
    const right = engaged.filter(([, expected]) => expected === "engage").length;
    const meant = counted.filter(([, expected]) => expected === "engage").length;
    expect(json).toMatchObject({ rooms: 1, agents: 1, engaged: engaged.length, right, meant });
    const [room] = parseLabelledRooms(out);
    if (room === undefined) throw new Error("there is no room");
    const found = new Map<string, string>();
    scoreRoom(room, settingsIn(room, scenarioConfig({}, {})), ({ line, decision }) => {
      found.set(line.id, decision);
    });
    for (const [id, decision] of found) expect([id, decision]).toEqual([id, decided.get(id)]);
    expect([...found.keys()]).toEqual([...labels.keys()]);
  });

  test("the named conversation is written without labels, too; a time without labels is empty", async () => {
    const other = "agent:main:telegram:group:other";
    const named = await record("--since", "2000-01-01", "--conversation", other);
    expect(named.code).toBe(0);
    expect(parseLabelledRooms(named.out)).toMatchObject([
      { room: other, lines: [{ id: "x1", by: "Ann" }, { by: "Scout" }] },
    ]);
    expect(named.out).not.toContain("meant");
    const late = new Date(since + 30 * 86_400_000).toISOString();
    expect(await record("--since", late)).toMatchObject({
      code: 1,
      out: "",
      err: "No labelled messages in that time.\n",
    });
    const channel = await record("--since", from(), "--channel", "irc");
    expect(channel).toMatchObject({ code: 1, out: "" });
    const until = await record(
      "--since",
      from(),
      "--until",
      new Date(since + 20_000).toISOString(),
    );
    expect(parseLabelledRooms(until.out)[0]?.lines.map(({ id }) => id)).toEqual(["m1", "m2", "m3"]);
  });

  test("redacted it has other words and ids, and the same decisions", async () => {
    const { out } = await record("--since", from(), "--redact");
    const [plain] = parseLabelledRooms((await record("--since", from())).out);
    const [room] = parseLabelledRooms(out);
    for (const word of ["morning", "telegram"])
      expect(out).not.toMatch(new RegExp(`\\b${word}\\b`, "u"));
    if (room === undefined || plain === undefined) throw new Error("there is no room");
    // One short name or id may become another one, or by chance itself: all of them do not.
    const names = (of: typeof room) => [...new Set(of.lines.map(({ by }) => by))];
    expect(names(room)).toHaveLength(names(plain).length);
    expect(names(room)).not.toEqual(names(plain));
    expect(room.lines.map(({ id }) => id)).not.toEqual(plain.lines.map(({ id }) => id));
    const score = (one: typeof room) =>
      scoreRoom(one, settingsIn(one, scenarioConfig({}, {}))).score();
    expect(score(room)).toEqual(score(plain));
  });

  test("the daemon streams the same", async () => {
    const server = await startSmallServer();
    try {
      const world = await new World({ store: server.store, config }).start();
      await play(world);
      const get = (query: string) =>
        fetch(`${server.base}/api/record?since=0&${query}`, {
          headers: { authorization: `Bearer ${server.token}` },
        });
      let text = "";
      for await (const line of labelledText(server.store, { since: 0 })) text += line;
      expect(await (await get("labels=1")).text()).toBe(text);
      expect(parseLabelledRooms(text)[0]?.lines.length).toBeGreaterThan(steps.length);
      expect(await (await get("labels=0")).text()).not.toContain("meant");
    } finally {
      await server.stop();
    }
  });
});
