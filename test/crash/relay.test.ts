/**
 * kill -9 in rooms whose agents answer one after the other: whatever dies, no agent is called
 * before those ahead of it are done, every agent is called in the end, and the others get each
 * answer exactly once. EARSHOT_SEED repeats a run's choices.
 */
import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { decodeEvent } from "../../src/actors/protocol/event-codec.ts";
import { openSqliteStore } from "../../src/adapters/stores/sqlite-store.ts";
import { builtFile } from "../support/built/files.ts";
import { childFlags } from "../support/child-flags.ts";
import { inTurn, rounds } from "../support/rounds.ts";
import { askBusy, type FromChild, relayAgents, relayRooms, type ToChild } from "./protocol.ts";
import { chance } from "./world.ts";

const seed = Number(process.env.EARSHOT_SEED ?? Math.floor(Math.random() * 2 ** 31));
const kills = rounds(1, 6);
/** A minute of looks on an idle machine: then it will never come to rest. */
const looksMax = 1_200;

/** An agent was asked about a message. */
interface Asked {
  readonly agent: string;
  readonly id: string;
}

class Rooms {
  readonly asked: Asked[] = [];
  readonly said: string[] = [];
  readonly acked = new Set<string>();
  readonly #folder: string;
  readonly #workers: number;
  readonly #random: () => number;
  #process: ChildProcess | null = null;

  constructor(folder: string, workers: number, random: () => number) {
    this.#folder = folder;
    this.#workers = workers;
    this.#random = random;
  }

  async start(): Promise<void> {
    const env = {
      ...process.env,
      NODE_OPTIONS: "",
      EARSHOT_CRASH_AT: "",
      EARSHOT_CRASH_RELAY: "1",
      EARSHOT_CRASH_WORKERS: String(this.#workers),
    };
    const stdio = ["ignore", "ignore", "ignore", "ipc"] as const;
    const child = fork(builtFile("test/crash-child"), [this.#folder], {
      execArgv: [...childFlags],
      env,
      stdio: [...stdio],
    });
    this.#process = child;
    await new Promise<void>((ready, failed) => {
      child.once("exit", (code) => failed(new Error(`it ended before it was ready (${code})`)));
      child.on("message", (message: FromChild) => {
        if (message.type === "ready") ready();
        else if (message.type === "acked") this.acked.add(message.id);
        else if (message.type === "ask") this.#answer(child, message);
      });
    });
    for (const id of this.said) if (!this.acked.has(id)) this.#say(id);
  }

  #answer(child: ChildProcess, asked: Extract<FromChild, { type: "ask" }>): void {
    const { call, what, text, chat } = asked;
    const agent = chat.split(":")[1] ?? "";
    if (what === "agent") for (const id of text.split("\n")) this.asked.push({ agent, id });
    const answer = what === "send" ? `p${call}` : `${agent} on ${text.replaceAll("\n", " ")}`;
    setTimeout(() => notify(child, { type: "answer", call, answer }), this.#random() * 15);
  }

  async traffic(lines: number): Promise<void> {
    for (let line = 0; line < lines; line += 1) {
      this.said.push(`m${this.said.length}`);
      this.#say(this.said.at(-1) as string);
      await new Promise((done) => setTimeout(done, 5 + this.#random() * 25));
    }
  }

  #say(id: string): void {
    const room = relayRooms[Number(id.slice(1)) % relayRooms.length] as string;
    const inbound = {
      channel: "telegram",
      chat: { id: room, kind: "direct" as const },
      id,
      text: id,
      author: { id: room, name: room },
    };
    notify(this.#process, { type: "say", inbound });
  }

  async kill(): Promise<void> {
    this.#process?.kill("SIGKILL");
    await this.#gone();
  }

  /** Waits until all is over, as the process says several times, and ends it properly. */
  async end(): Promise<void> {
    for (let calm = 0, seen = -1, looks = 0; calm < 4; looks += 1) {
      const isStill = seen === this.asked.length && this.acked.size === this.said.length;
      seen = this.asked.length;
      const busy = await askBusy(this.#process as ChildProcess);
      calm = isStill && busy === 0 ? calm + 1 : 0;
      if (looks > looksMax) {
        const state = `${busy} busy, ${this.acked.size} of ${this.said.length} taken`;
        throw new Error(`it does not come to rest: ${state}, seed ${seed}`);
      }
      await new Promise((done) => setTimeout(done, 50));
    }
    notify(this.#process, { type: "stop" });
    await this.#gone();
  }

  async #gone(): Promise<void> {
    const child = this.#process;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    await new Promise((done) => child.once("exit", done));
  }

  /** Agents asked about a message before one ahead of them was asked for the last time. */
  early(): string[] {
    const wrong: string[] = [];
    for (const id of this.said) {
      const times = relayAgents.map((agent) =>
        this.asked.flatMap((one, at) => (one.agent === agent && one.id === id ? [at] : [])),
      );
      for (let place = 1; place < times.length; place += 1) {
        const last = times[place - 1]?.at(-1) ?? -1;
        const first = times[place]?.[0] ?? Number.POSITIVE_INFINITY;
        if (first < last) wrong.push(`${id}: ${relayAgents[place]}`);
      }
    }
    return wrong;
  }

  /** Messages that an agent was never asked about. */
  missed(): string[] {
    const all = new Set(this.asked.map(({ agent, id }) => `${agent} ${id}`));
    return this.said.flatMap((id) =>
      relayAgents.flatMap((agent) => (all.has(`${agent} ${id}`) ? [] : [`${agent} ${id}`])),
    );
  }
}

// A process that is being killed takes nothing any more; what it missed is said again.
const notify = (to: ChildProcess | null, message: ToChild) => {
  if (to?.connected === true) to.send(message, () => undefined);
};

/** Messages whose turn was killed as often as a turn is tried, before its agent was asked. */
async function killedTooOften(folder: string): Promise<Set<string>> {
  const store = await openSqliteStore({ path: join(folder, "earshot.db") });
  const found = new Set<string>();
  for (const { sessionId, agentId } of await store.sessions({ all: true, limit: 1_000 })) {
    const lines = await store.transcript({ sessionId, limit: 100_000 });
    const lost = new Set(
      lines.flatMap(({ role, text, turnId }) =>
        role === "note" && text === "failed: host-lost" ? [turnId] : [],
      ),
    );
    for (const { turnId, messageId } of lines)
      if (messageId !== undefined && lost.has(turnId)) found.add(`${agentId} ${messageId}`);
  }
  await store.close();
  return found;
}

/** How often each delivered answer was passed on to the two others. */
async function reportedTwice(folder: string): Promise<{ sent: number; wrong: string[] }> {
  const store = await openSqliteStore({ path: join(folder, "earshot.db") });
  const sent = await store.outboxByState(["sent"], 1_000_000);
  const reported = new Map<string, number>();
  for (const row of await store.scan(0, 1_000_000)) {
    const event = decodeEvent(row);
    if (event.type !== "fellow.spoke") continue;
    const words = `${event.message.chat.id} ${event.message.text}`;
    reported.set(words, (reported.get(words) ?? 0) + 1);
  }
  await store.close();
  const answers = sent.filter(({ kind }) => kind === "reply");
  const wrong = answers.flatMap(({ body }) => {
    const { route, text } = JSON.parse(body) as { route: { chat: { id: string } }; text: string };
    const times = reported.get(`${route.chat.id} ${text}`) ?? 0;
    return times === relayAgents.length - 1 ? [] : [`${text}: ${times}`];
  });
  return { sent: answers.length, wrong };
}

test("the judge sees who comes too early, and who is left out", () => {
  const rooms = new Rooms("", 0, () => 0);
  rooms.said.push("m0", "m1");
  for (const agent of ["scout", "rover", "scout"]) rooms.asked.push({ agent, id: "m0" });
  for (const agent of relayAgents) rooms.asked.push({ agent, id: "m1" });
  expect(rooms.early()).toEqual(["m0: rover"]);
  expect(rooms.missed()).toEqual(["medic m0"]);
});

describe.each(inTurn([0, 1], 1))("agents in turn, killed, with %i worker threads", (workers) => {
  test("kills at random instants break no order, leave nobody out, and notify everything once", async () => {
    const folder = mkdtempSync(join(tmpdir(), "earshot-relay-"));
    const random = chance(seed + workers);
    const rooms = new Rooms(folder, workers, random);
    for (let kill = 0; kill < kills; kill += 1) {
      await rooms.start();
      await rooms.traffic(3 + Math.floor(random() * 10));
      await rooms.kill();
    }
    await rooms.start();
    await rooms.end();
    const { sent, wrong } = await reportedTwice(folder);
    const lost = await killedTooOften(folder);
    rmSync(folder, { recursive: true, force: true });
    expect(rooms.early(), `seed ${seed}`).toEqual([]);
    const missed = rooms.missed().filter((one) => !lost.has(one));
    expect(missed, `seed ${seed}`).toEqual([]);
    expect(wrong, `seed ${seed}`).toEqual([]);
    expect(rooms.said.length).toBeGreaterThan(kills);
    expect(sent).toBeGreaterThan(rooms.said.length);
  });
});
