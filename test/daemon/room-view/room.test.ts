/**
 * Reading along in one room of a real daemon: the transcript as it was heard, the state as the
 * machine has it, live frames, and what a reader is given who comes back.
 */
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type {
  RoomEntry,
  RoomFrame,
  RoomState,
  RoomView,
} from "../../../src/daemon/api-types/room.ts";
import { type Daemon, startDaemon } from "../../../src/daemon/daemon.ts";
import { newFolder } from "../../support/daemon/folder.ts";
import {
  call,
  openFrames,
  roomCall,
  roomKey,
  say,
  viewOf,
  writeRoomConfig,
} from "../../support/daemon/room-daemon.ts";

const stateDir = newFolder();
let daemon: Daemon;
beforeAll(async () => {
  writeRoomConfig(stateDir, [
    { steps: [{ text: "Three things." }] },
    { steps: [{ text: "Staging runs " }, { waitMs: 900 }, { text: "212 since 10:07." }] },
    { steps: [{ tool: "skip_response" }] },
  ]);
  daemon = await start();
});
afterAll(() => daemon.stop({ drainMs: 0 }));
const start = () =>
  startDaemon({ stateDir, port: 0, workers: 0, env: {}, writeLog: () => undefined });

const entryText = (entry: RoomEntry): string => {
  if (entry.kind === "heard")
    return `${entry.author.name}: ${entry.text} [${entry.verdict?.decision} ${entry.verdict?.rule}]`;
  if (entry.kind === "said") return `said: ${entry.text} [${entry.status}]`;
  if (entry.kind === "command") return `command: ${entry.text}`;
  return entry.kind === "ended" ? `ended: ${entry.outcome}` : entry.kind;
};
const stateIn = (frame: RoomFrame): RoomState =>
  frame.type === "open" ? frame.view.state : frame.state;
const entriesIn = (frames: readonly RoomFrame[]) =>
  frames.flatMap((frame) => (frame.type === "open" ? frame.view.history.entries : frame.entries));

describe("one room", () => {
  test("there is nothing to show of a room in which nothing was heard, or that is no room", async () => {
    expect((await roomCall(daemon, "")).status).toBe(404);
    expect((await roomCall(daemon, "/live")).status).toBe(404);
    expect((await call(daemon, "/api/rooms/kitchen")).status).toBe(400);
  });

  test("the transcript has what was heard with its decision, and what was said with its credit", async () => {
    expect(await say(daemon, "m1", "ann", "Build 212 is green.")).toBe("engage solo-human");
    const frames = await openFrames(daemon);
    await frames.until((frame) =>
      entriesIn([frame]).some((one) => one.kind === "said" && one.status === "sent"),
    );
    await frames.close();
    expect(await say(daemon, "m2", "bo", "nice")).toBe("observe default");
    expect(await say(daemon, "m3", "relay", "Deploy 212: done")).toBe("observe default");
    const { history, title, agent, state } = await viewOf(daemon);
    expect({ title, agent: agent.name }).toEqual({ title: "#release-room", agent: "Scout" });
    expect(history.entries.map(entryText)).toEqual([
      "Ann: Build 212 is green. [engage solo-human]",
      "turn",
      "ended: replied",
      "said: Three things. [sent]",
      "Bo: nice [observe default]",
      "Relay: Deploy 212: done [observe default]",
    ]);
    const said = history.entries.find(({ kind }) => kind === "said");
    expect(said).toMatchObject({ credited: [{ name: "Ann", ms: 900_000 }] });
    expect(state).toMatchObject({
      attention: "observing",
      turn: null,
      turns: 1,
      bots: 1,
      guard: { state: "clear" },
      humans: { count: 2, source: "who has spoken" },
      credits: [{ who: { name: "Ann" }, held: false }],
      buffer: { used: 2, size: 20, dropped: 0 },
    });
    expect(state.buffer.newest.map(({ text }) => text)).toEqual(["Deploy 212: done", "nice"]);
  });

  test("a running turn is told as it runs: its states, its route, its words so far", async () => {
    const frames = await openFrames(daemon);
    const opened = await frames.next();
    expect(opened.type).toBe("open");
    expect(await say(daemon, "m4", "cy", "scout, is staging safe?")).toBe("engage alias");
    const running = await frames.until(
      // Words so far come at once, what was journalled a moment later.
      (frame) => frame.writing !== null && stateIn(frame).typing,
    );
    expect(running).toMatchObject({
      writing: { text: "Staging runs" },
      state: {
        attention: "engaged.running",
        typing: true,
        turn: { turn: 2, place: "here", batch: [{ id: "m4", author: { name: "Cy" } }] },
        credits: [{ who: { name: "Cy" }, endsAt: expect.any(Number) }, { who: { name: "Ann" } }],
        buffer: { used: 0 },
      },
    });
    const over = await frames.until((frame) => stateIn(frame).attention === "observing");
    expect(stateIn(over).trail.map(({ attention }) => attention)).toContain("engaged.running");
    expect(over).toMatchObject({ writing: null });
    await frames.close();
    const lines = entriesIn(frames.seen).map(entryText);
    expect(lines.slice(-4)).toEqual([
      "Cy: scout, is staging safe? [engage alias]",
      "turn",
      "ended: replied",
      "said: Staging runs 212 since 10:07. [sent]",
    ]);
    expect(new Set(lines).size).toBe(lines.length - 2);
  });

  test("a label is shown live and in the history, and one that cannot be is refused", async () => {
    const before = await viewOf(daemon);
    const frames = await openFrames(daemon, before.upTo);
    const label = (body: object) => roomCall(daemon, "/label", body);
    const answer = await label({ id: "m2", expected: "engage" });
    expect(await answer.json()).toMatchObject({ label: { expected: "engage", by: "operator" } });
    const frame = await frames.until((one) => entriesIn([one]).length > 0);
    await frames.close();
    const shown = { kind: "labelled", id: "m2", expected: "engage", by: "operator" };
    expect(entriesIn([frame])).toMatchObject([shown]);
    await label({ id: "m2", expected: null });
    const { history, state } = await viewOf(daemon);
    const taken = { ...shown, expected: null };
    const labels = history.entries.filter(({ kind }) => kind === "labelled");
    expect(labels).toMatchObject([shown, taken]);
    expect({ ...state, now: 0, seq: 0 }).toEqual({ ...before.state, now: 0, seq: 0 });
    expect((await label({ id: "nobody", expected: "engage" })).status).toBe(404);
    expect((await label({ id: "m2", expected: "perhaps" })).status).toBe(400);
  });

  test("a reader that comes back is given what it missed, and nothing twice", async () => {
    const { upTo } = await viewOf(daemon);
    await say(daemon, "m5", "dee", "@Bo lunch?", { mentions: ["bo"] });
    const frames = await openFrames(daemon, upTo);
    const first = await frames.next();
    expect(first.type).toBe("more");
    expect(entriesIn([first]).map(entryText)).toEqual([
      "Dee: @Bo lunch? [observe mentions-others]",
    ]);
    await frames.close();
    const ahead = await openFrames(daemon, upTo + 1_000_000);
    expect((await ahead.next()).type).toBe("open");
    await ahead.close();
  });

  test("a command, an edit and a removal are entries that name what they are about", async () => {
    const place = {
      channel: "webhook",
      account: "default",
      chat: { id: "release", kind: "group" },
    };
    const before = (await viewOf(daemon)).upTo;
    const thread = null;
    const chat = { id: "release", kind: "group" } as const;
    await daemon.runtime.ingest("webhook", "default", [
      { type: "edit", edit: { ...place, chat, thread, id: "m5", text: "@Bo lunch at one?" } },
      { type: "delete", deletion: { ...place, chat, thread, id: "m2" } },
    ]);
    const frames = await openFrames(daemon, before);
    await frames.until(() => entriesIn(frames.seen).length >= 2);
    expect(entriesIn(frames.seen)).toMatchObject([
      { kind: "edited", id: "m5", text: "@Bo lunch at one?" },
      { kind: "deleted", id: "m2" },
    ]);
    expect(stateIn(frames.seen.at(-1) as RoomFrame).buffer.newest[0]?.text).toBe(
      "@Bo lunch at one?",
    );
    await frames.close();
  });

  test("whoever looks on is let go when the token is replaced", async () => {
    const frames = await openFrames(daemon);
    await frames.next();
    const file = join(stateDir, "token");
    const token = readFileSync(file, "utf8");
    writeFileSync(file, "another-token-of-thirty-two-letters", { mode: 0o600 });
    await expect(frames.until(() => false)).rejects.toThrow(/ended|terminated/);
    writeFileSync(file, token, { mode: 0o600 });
  });

  test("older lines come in pages that fit together, back to the first", async () => {
    const { history } = await viewOf(daemon);
    const pages: RoomEntry[][] = [];
    let before: number | null = Number.MAX_SAFE_INTEGER;
    while (before !== null) {
      const answer = await roomCall(daemon, `/history?limit=2&before=${before}`);
      const page = (await answer.json()) as typeof history;
      pages.unshift([...page.entries]);
      ({ before } = page);
    }
    expect(pages.length).toBeGreaterThan(3);
    expect(pages.flat().map(({ seq }) => seq)).toEqual(history.entries.map(({ seq }) => seq));
  });

  test("and on to the newest, from whatever number a page ends with", async () => {
    const { history, upTo } = await viewOf(daemon);
    for (const limit of [1, 2, 500]) {
      const pages: RoomEntry[][] = [];
      let after = 0;
      while (after < upTo) {
        const answer = await roomCall(daemon, `/history?limit=${limit}&after=${after}`);
        const page = (await answer.json()) as typeof history;
        expect(page.upTo).toBeGreaterThan(after);
        expect(page.before).toBe(after + 1);
        pages.push([...page.entries]);
        after = page.upTo;
      }
      expect(pages.flat()).toEqual(history.entries);
    }
    const ahead = await roomCall(daemon, `/history?after=${upTo + 5}`);
    expect(await ahead.json()).toMatchObject({ entries: [], upTo: upTo + 5 });
  });

  test("after a restart the room is what it was, from its record and the journal", async () => {
    const before = await viewOf(daemon);
    await daemon.stop();
    daemon = await start();
    const after = await viewOf(daemon);
    const credits = (entry: RoomEntry) =>
      entry.kind === "said" ? { ...entry, credited: [] } : entry;
    expect(after.history.entries.map(credits)).toEqual(before.history.entries.map(credits));
    const lasting = ({ attention, guard, credits, buffer, turns }: RoomState) => ({
      attention,
      guard,
      credits,
      buffer,
      turns,
    });
    expect(lasting(after.state)).toEqual(lasting(before.state));
    expect(after.key).toBe(roomKey);
  });

  test("a ladder is walked from the record where that is older, and agrees with what was decided", async () => {
    const heard = () =>
      viewOf(daemon).then(({ history }) =>
        history.entries.flatMap((one) => (one.kind === "heard" ? one : [])),
      );
    const [old] = await heard();
    expect(await say(daemon, "m9", "bo", "scout, one more thing")).toBe("engage alias");
    expect(await say(daemon, "m10", "ann", "@Bo and another", { mentions: ["bo"] })).toBe(
      "observe addressed-elsewhere",
    );
    for (const { id, seq } of [old, ...(await heard()).slice(-2)].flatMap((one) => one ?? [])) {
      const [whole] = await daemon.runtime.why(id);
      const [quick] = await daemon.runtime.why(id, seq);
      expect(quick?.explanation?.verdict.rule).toBe(quick?.recorded?.rule);
      expect(quick?.explanation).toEqual(whole?.explanation);
    }
    expect(await daemon.runtime.why("m9", 1)).toEqual([]);
    const answer = await call(daemon, `/api/why/m9?seq=1`);
    expect(answer.status).toBe(404);
  });
});

test("what another agent of this daemon says is a line of its own, without a decision", async () => {
  const folder = newFolder();
  const driver = { kind: "scripted", runs: [{ steps: [{ text: "Rover, listen." }] }] };
  const agents = {
    list: ["Scout", "Rover"].map((name) => ({ id: name.toLowerCase(), name, driver })),
  };
  writeRoomConfig(folder, [], { agents, broadcast: { "webhook:release": ["scout", "rover"] } });
  const server = await startDaemon({
    stateDir: folder,
    port: 0,
    workers: 0,
    env: {},
    writeLog: () => undefined,
  });
  await say(server, "m1", "ann", "@Scout hello", { mentions: ["bo"] });
  await say(server, "m2", "bo", "scout?");
  const overheard = async () => {
    const path = encodeURIComponent("agent:rover:webhook:group:release");
    const view = (await (await call(server, `/api/rooms/${path}`)).json()) as RoomView;
    return view.history.entries.find((one) => one.kind === "heard" && one.fellow === true);
  };
  await expect.poll(overheard, { timeout: 60_000 }).toMatchObject({
    verdict: null,
    text: "Rover, listen.",
    author: { name: "Scout" },
  });
  await server.stop({ drainMs: 0 });
});

test("a part that fails after its agent has ended changes the outcome, live and in the view", async () => {
  const folder = newFolder();
  let refuse: () => void = () => undefined;
  const refused = new Promise<void>((resolve) => {
    refuse = resolve;
  });
  const receiver = createServer((_, response) => {
    void refused.then(() => response.writeHead(400).end());
  }).listen(0, "127.0.0.1");
  await once(receiver, "listening");
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const channels = { webhook: { accounts: { default: { url, secret: "of-some-length-1234" } } } };
  writeRoomConfig(folder, [{ steps: [{ text: "Done." }] }], { channels });
  const server = await startDaemon({
    stateDir: folder,
    port: 0,
    workers: 0,
    env: {},
    logLevel: "fatal",
  });
  try {
    await say(server, "m1", "ann", "scout, is it done?");
    const frames = await openFrames(server);
    const ended = () => entriesIn(frames.seen).findLast((one) => one.kind === "ended");
    await frames.until(() => ended() !== undefined);
    expect(ended()).toMatchObject({ outcome: "replied" });
    refuse();
    await frames.until(() => ended()?.outcome === "undelivered");
    await frames.close();
    const { history } = await viewOf(server);
    expect(history.entries.findLast((one) => one.kind === "ended")).toMatchObject({
      outcome: "undelivered",
    });
  } finally {
    await server.stop({ drainMs: 0 });
    receiver.close();
  }
});
