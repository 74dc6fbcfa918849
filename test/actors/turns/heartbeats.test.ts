/** Heartbeats through the whole runtime, on a simulated clock. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EarshotError } from "../../../src/domain/errors.ts";
import { hash52 } from "../../../src/domain/key.ts";
import type { AgentDriver, AgentTurn, Workspaces } from "../../../src/domain/ports/index.ts";
import { rounds } from "../../support/rounds.ts";
import { World } from "../../support/runtime/world.ts";

const minute = 60_000;
const heartbeat = { everyMs: 30 * minute };

/** Folders by name; what is an error is thrown. */
class Folders implements Workspaces {
  files: Record<string, string | Error> = {};
  readonly folder = (workspace: string) => workspace;
  readonly read = async (workspace: string): Promise<string | null> => {
    const found = this.files[workspace] ?? null;
    if (found instanceof Error) throw found;
    return found;
  };
}

const home = "<state>/agents/main";
const asks = "Look at the build.";

function worldWith(config: Record<string, unknown> = { heartbeat }, drivers: AgentDriver[] = []) {
  const folders = new Folders();
  folders.files[home] = asks;
  const world = new World({ config, prompts: true, drivers, ports: { workspaces: folders } });
  return { world, folders };
}

const prompts = (world: World) =>
  world.events("prompt").map((line) => ("text" in line ? String(line.text) : ""));
const outcomes = (world: World) =>
  world.events("agent_end").map((line) => ("outcome" in line ? line.outcome : ""));
const batches = (world: World) =>
  world
    .events("agent_start")
    .map((line) => ("batch" in line ? (line.batch as readonly string[]) : []));

/** Ann has written, and was answered. */
async function acquainted(world: World): Promise<void> {
  world.runs.push({ afterMs: 10, steps: [{ text: "Hello Ann" }] });
  await world.say("hi", { direct: true });
  await world.pass(10_000);
}

describe("an agent with a heartbeat", () => {
  test("is woken in its main session, asked for what its file says, and heard", async () => {
    const { world } = worldWith();
    await world.start();
    await acquainted(world);
    world.runs.push({ afterMs: 10, steps: [{ text: "The build is red." }] });
    await world.pass(30 * minute);
    expect(prompts(world).at(-1)).toContain(asks);
    expect(batches(world).at(-1)).toEqual([]);
    expect(outcomes(world)).toEqual(["replied", "replied"]);
    expect(world.sent.at(-1)).toMatchObject({
      text: "The build is red.",
      chat: "ann",
      replyTo: null,
    });
    expect(world.decisions()).toHaveLength(1);
    expect(world.typed.every(({ at }) => at < world.clock.now() - 20 * minute)).toBe(true);
    expect(world.reactions).toHaveLength(2);
    await world.runtime.stop();
  });

  test("that has nothing to say is not heard, and is woken again", async () => {
    const { world } = worldWith();
    await world.start();
    await acquainted(world);
    world.runs.push(
      { afterMs: 10, steps: [{ text: "HEART" }, { text: "BEAT_OK" }] },
      { afterMs: 10, steps: [{ text: "All is well. HEARTBEAT_OK" }] },
      { afterMs: 10, steps: [{ text: "NO_REPLY" }] },
    );
    await world.pass(91 * minute);
    expect(outcomes(world)).toEqual(["replied", "silent", "silent", "silent"]);
    expect(world.sent).toHaveLength(1);
    await world.runtime.stop();
  });

  test("does not show what it says before the end, whatever the stream mode", async () => {
    const { world } = worldWith({ heartbeat, stream: { mode: "draft", minChars: 16 } });
    await world.start();
    await acquainted(world);
    const sentBefore = world.sent.length + world.edited.length;
    const long = "All is well and there is nothing at all that needs you. ".repeat(3);
    world.runs.push({
      afterMs: 10,
      steps: [{ text: long }, { waitMs: 5_000 }, { text: long }, { text: "HEARTBEAT_OK" }],
    });
    await world.pass(31 * minute);
    expect(outcomes(world).at(-1)).toBe("replied");
    const later = world.sent.slice(sentBefore);
    expect(later.map(({ text }) => text.trim())).toEqual([(long + long).trim()]);
    expect(world.edited).toHaveLength(0);
    await world.runtime.stop();
  });

  test("gets the model that the config has for it, and is told that nobody asked", async () => {
    const turns: AgentTurn[] = [];
    const watching: AgentDriver = {
      kind: "watching",
      configSchema: { safeParse: (data: unknown) => ({ success: true, data }) } as never,
      open: () => ({
        capabilities: { steer: false, tools: false, images: false },
        async *run(turn) {
          turns.push(turn);
          yield { type: "text", text: "HEARTBEAT_OK" };
        },
      }),
    };
    const agents = { defaults: { driver: { kind: "watching" } } };
    const { world } = worldWith({ agents, heartbeat: { ...heartbeat, model: "small" } }, [
      watching,
    ]);
    await world.start();
    await acquainted(world);
    await world.pass(31 * minute);
    expect(turns.map(({ model, heartbeat: woken }) => [model, woken])).toEqual([
      [null, undefined],
      ["small", true],
    ]);
    // The token has no meaning for a person who asked.
    expect(world.sent.map(({ text }) => text)).toEqual(["HEARTBEAT_OK"]);
    await world.runtime.stop();
  });
});

describe("nobody is woken", () => {
  test("where nobody has ever spoken", async () => {
    const { world } = worldWith();
    await world.start();
    await world.pass(120 * minute);
    expect(world.events("agent_start")).toEqual([]);
    expect(world.logged.filter(({ event }) => event === "heartbeat.skipped")).toHaveLength(4);
    await world.runtime.stop();
  });

  test("by default", async () => {
    const { world } = worldWith({});
    await world.start();
    await acquainted(world);
    await world.pass(24 * 60 * minute);
    expect(world.events("agent_start")).toHaveLength(1);
    await world.runtime.stop();
  });

  test.each([
    ["there is no HEARTBEAT.md", undefined],
    ["it asks for nothing", "# Heartbeat\n<!-- nothing yet -->\n- [ ]\n"],
    ["it cannot be read", new EarshotError("EAR_STATE_UNSAFE", "Cannot read it as it is a link")],
  ])("while %s; once that changes, the next one is", async (_, text) => {
    const { world, folders } = worldWith();
    if (text === undefined) delete folders.files[home];
    else folders.files[home] = text;
    await world.start();
    await acquainted(world);
    await world.pass(65 * minute);
    expect(world.events("agent_start")).toHaveLength(1);
    folders.files[home] = asks;
    world.runs.push({ afterMs: 10, steps: [{ text: "HEARTBEAT_OK" }] });
    await world.pass(30 * minute);
    expect(world.events("agent_start")).toHaveLength(2);
    await world.runtime.stop();
  });

  test("when the file was emptied after the heartbeat fell due: its turn is silent", async () => {
    const { world, folders } = worldWith();
    await world.start();
    await acquainted(world);
    let reads = 0;
    const read = folders.read;
    Object.assign(folders, {
      read: (workspace: string) => {
        reads += 1;
        return reads > 1 ? Promise.resolve(null) : read(workspace);
      },
    });
    await world.pass(31 * minute);
    expect(outcomes(world)).toEqual(["replied", "silent"]);
    expect(prompts(world)).toHaveLength(1);
    await world.runtime.stop();
  });
});

describe("its words go", () => {
  test("to where somebody was heard last, after a restart, too", async () => {
    const { world } = worldWith();
    await world.start();
    await acquainted(world);
    world.runs.push({ afterMs: 10, steps: [{ text: "Hello Bob" }] });
    const bob = {
      author: { id: "bob", name: "Bob" },
      chat: { id: "bob", kind: "direct" as const },
    };
    await world.say("hi", bob);
    await world.pass(10_000);
    await world.restart();
    world.runs.push({ afterMs: 10, steps: [{ text: "The build is red." }] });
    await world.pass(31 * minute);
    expect(world.sent.map(({ chat }) => chat)).toEqual(["ann", "bob", "bob"]);
    await world.runtime.stop();
  });

  test("to a room, where the config wakes the agent in that room", async () => {
    const key = "agent:main:telegram:group:room";
    const { world } = worldWith({ conversations: { [key]: { heartbeat } } });
    await world.start();
    await world.say("good morning, everybody");
    await world.pass(1_000);
    expect(world.decisions()).toMatchObject([{ decision: "observe" }]);
    world.runs.push({ afterMs: 10, steps: [{ text: "Stand-up in five minutes." }] });
    await world.pass(31 * minute);
    expect(world.sent).toMatchObject([{ chat: "room", text: "Stand-up in five minutes." }]);
    expect(world.events("agent_start")).toMatchObject([{ key, batch: [] }]);
    await world.runtime.stop();
  });

  test("to a room in which nobody has spoken since the config wakes the agent there", async () => {
    const key = "agent:main:telegram:group:room";
    const { world } = worldWith({});
    await world.start();
    await world.say("good morning, everybody");
    await world.pass(1_000);
    await world.restart({ conversations: { [key]: { heartbeat } } });
    for (const text of ["Stand-up in five minutes.", "Stand-up now."]) {
      world.runs.push({ afterMs: 10, steps: [{ text }] });
      await world.pass(31 * minute);
    }
    expect(world.sent.map(({ chat, text }) => [chat, text])).toEqual([
      ["room", "Stand-up in five minutes."],
      ["room", "Stand-up now."],
    ]);
    await world.runtime.stop();
  });
});

describe("over time", () => {
  test("a restart neither forgets nor repeats one", async () => {
    const { world } = worldWith();
    await world.start();
    await acquainted(world);
    world.runs.push({ afterMs: 10, steps: [{ text: "one" }] });
    await world.pass(31 * minute);
    for (let restarts = 0; restarts < 5; restarts += 1) {
      await world.restart();
      await world.pass(4 * minute);
    }
    expect(world.events("agent_start")).toHaveLength(2);
    world.runs.push({ afterMs: 10, steps: [{ text: "two" }] });
    await world.pass(10 * minute);
    expect(world.sent.map(({ text }) => text)).toEqual(["Hello Ann", "one", "two"]);
    await world.runtime.stop();
  });

  test("one that was under way when the process ended is done once", async () => {
    const { world } = worldWith();
    await world.start();
    await acquainted(world);
    world.runs.push({ afterMs: 60_000, steps: [{ text: "never said" }] });
    await world.pass(30 * minute);
    expect(world.events("agent_start")).toHaveLength(2);
    world.runs.push({ afterMs: 10, steps: [{ text: "The build is red." }] });
    await world.restart();
    await world.pass(5 * minute);
    expect(world.sent.map(({ text }) => text)).toEqual(["Hello Ann", "The build is red."]);
    expect(outcomes(world)).toEqual(["replied", "replied"]);
    await world.runtime.stop();
  });

  test("a turn that runs is not disturbed, and one heartbeat comes after it", async () => {
    const { world } = worldWith({ heartbeat: { everyMs: minute }, turn: { idleMs: 600_000 } });
    await world.start();
    world.runs.push(
      { afterMs: 5 * minute, steps: [{ text: "That took long." }] },
      { afterMs: 10, steps: [{ text: "HEARTBEAT_OK" }] },
    );
    await world.say("work", { direct: true });
    await world.pass(5 * minute + 20_000);
    expect(batches(world).map((batch) => batch.length)).toEqual([1, 0]);
    expect(outcomes(world)).toEqual(["replied", "silent"]);
    await world.runtime.stop();
  });

  test("a config that is read again turns it on, off, and to another pace", async () => {
    const { world } = worldWith({});
    await world.start();
    await acquainted(world);
    const { scenarioConfig } = await import("../../../src/domain/config/index.ts");
    const withPace = (everyMs: number) =>
      scenarioConfig({
        agents: { defaults: { driver: { kind: "scripted" } } },
        heartbeat: { everyMs },
      });
    await world.runtime.reload(withPace(10 * minute));
    await world.pass(25 * minute);
    expect(world.events("agent_start")).toHaveLength(3);
    await world.runtime.reload(withPace(0));
    await world.pass(60 * minute);
    expect(world.events("agent_start")).toHaveLength(3);
    await world.runtime.stop();
  });
});

describe("people", () => {
  /** Answers people with their own words, after a while; heartbeats take longer. */
  const echo: AgentDriver = {
    kind: "echo",
    configSchema: { safeParse: (data: unknown) => ({ success: true, data }) } as never,
    open: ({ sleep }) => ({
      capabilities: { steer: false, tools: false, images: false },
      async *run(turn, { signal }) {
        await sleep(turn.heartbeat ? 90_000 : 3_000, signal);
        const words = turn.heartbeat
          ? "I looked, and this is what I found. ".repeat(12)
          : turn.said;
        yield { type: "text", text: words };
      },
    }),
  };
  const agents = { defaults: { driver: { kind: "echo" } } };

  /** What the room sees of people's messages: decisions, their turns and answers, each with its time. */
  async function history(pauses: readonly number[], everyMs: number) {
    const { world } = worldWith({ agents, heartbeat: { everyMs } }, [echo]);
    await world.start();
    for (const [index, pause] of pauses.entries()) {
      await world.pass(pause);
      await world.say(`line ${index}`, { direct: true, id: `line ${index}` });
    }
    await world.pass(10 * minute);
    const beats = new Set<number>();
    const seen = world.lines.filter((line) => {
      if ("event" in line && line.event === "agent_start") {
        const { batch, turn } = line as { batch: readonly string[]; turn: number };
        if (batch.length === 0) beats.add(turn);
        return batch.length > 0;
      }
      if ("event" in line && line.event === "agent_end") return !beats.has(line.turn as number);
      if ("out" in line && line.out === "send") return String(line.text).startsWith("line");
      return "decision" in line || ("out" in line && line.out !== "typing");
    });
    await world.runtime.stop();
    const reported = seen.map(({ t, ...line }) => {
      const { turn: _, id, ...rest } = line as { turn?: number; id?: string };
      return { t, ...rest, ...("decision" in line ? { id } : {}) };
    });
    return { reported, beats: beats.size };
  }

  test("are heard, answered and told in time as if there were no heartbeats", async () => {
    const pause = fc.oneof(
      fc.integer({ min: 0, max: 1_500 }),
      fc.constantFrom(499, 500, 501, 3_000, 59_999, 60_000, 60_001),
      fc.integer({ min: 20_000, max: 4 * minute }),
    );
    const numRuns = rounds(5, 15);
    let beats = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(pause, { minLength: 1, maxLength: 8 }), async (pauses) => {
        const without = await history(pauses, 0);
        const woken = await history(pauses, minute);
        beats += woken.beats;
        expect(woken.reported).toEqual(without.reported);
        expect(without.beats).toBe(0);
      }),
      // So that some are heard for certain.
      { numRuns, examples: [[[3 * minute, 500, 4 * minute]]] },
    );
    expect(beats).toBeGreaterThan(4);
  });
});

describe("a session that ends when nobody has used it", () => {
  const session = { reset: { mode: "idle", idleMinutes: 60 } };

  test("is not kept alive by heartbeats", async () => {
    const { world } = worldWith({ heartbeat, session });
    await world.start();
    await acquainted(world);
    const first = await world.runtime.session("agent:main:main");
    for (let beats = 0; beats < 3; beats += 1)
      world.runs.push({ afterMs: 10, steps: [{ text: "The build is red." }] });
    await world.pass(95 * minute);
    expect(world.sent).toHaveLength(4);
    await acquainted(world);
    const second = await world.runtime.session("agent:main:main");
    expect(second?.sessionId).not.toBe(first?.sessionId);
    await world.runtime.stop();
  });

  test("goes on where somebody has, heartbeats in between or not", async () => {
    const { world } = worldWith({ heartbeat, session });
    await world.start();
    await acquainted(world);
    const first = await world.runtime.session("agent:main:main");
    for (let talks = 0; talks < 3; talks += 1) {
      world.runs.push({ afterMs: 10, steps: [{ text: "HEARTBEAT_OK" }] });
      await world.pass(50 * minute);
      world.runs.length = 0;
      await acquainted(world);
    }
    expect(await world.runtime.session("agent:main:main")).toMatchObject({
      sessionId: first?.sessionId,
    });
    await world.runtime.stop();
  });
});

test("the status says when agents are woken next, and nothing where none is", async () => {
  const { world } = worldWith();
  await world.start();
  const at = world.clock.now() + heartbeat.everyMs;
  expect(world.runtime.status().heartbeats).toEqual([{ key: "agent:main:main", at }]);
  await world.pass(heartbeat.everyMs + minute);
  expect(world.runtime.status().heartbeats[0]?.at).toBe(at + heartbeat.everyMs);
  await world.runtime.stop();
  const { world: off } = worldWith({});
  await off.start();
  expect(off.runtime.status().heartbeats).toEqual([]);
  await off.runtime.stop();
});

test("however often the process ends, each that fell due is one turn with one end", async () => {
  const slow: AgentDriver = {
    kind: "slow",
    configSchema: { safeParse: (data: unknown) => ({ success: true, data }) } as never,
    open: ({ sleep }) => ({
      capabilities: { steer: false, tools: false, images: false },
      async *run(turn, { signal }) {
        await sleep(turn.heartbeat ? 2 * minute : 10, signal);
        yield { type: "text", text: `said in ${turn.turnId}` };
      },
    }),
  };
  const agents = { defaults: { driver: { kind: "slow" } } };
  const pause = fc.oneof(
    fc.integer({ min: 0, max: 25 * minute }),
    fc.constantFrom(10 * minute - 1, 10 * minute, 10 * minute + 1, 12 * minute),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(pause, { minLength: 1, maxLength: 8 }), async (pauses) => {
      const { world } = worldWith({ agents, heartbeat: { everyMs: 10 * minute } }, [slow]);
      await world.start();
      const from = world.clock.now();
      await world.say("hi", { direct: true });
      await world.pass(1_000);
      for (const time of pauses) {
        await world.pass(time);
        await world.restart();
      }
      await world.pass(8 * minute);
      const started = world.events("agent_start").map((line) => ("turn" in line ? line.turn : 0));
      const ended = world.events("agent_end").map((line) => ("turn" in line ? line.turn : 0));
      const beats = Math.floor((world.clock.now() - from) / (10 * minute));
      expect(new Set(started).size).toBe(started.length);
      expect(new Set(ended).size).toBe(ended.length);
      const rows = await world.store.tail(hash52("agent:main:main"), 0);
      expect(rows.filter(({ body }) => body.includes('"heartbeat.due"'))).toHaveLength(beats);
      // Two that fall due while one is tried again are one.
      expect(started.length).toBeLessThanOrEqual(beats + 1);
      expect(started.length).toBeGreaterThanOrEqual(Math.min(beats, 1) + 1);
      const said = world.sent.map(({ text }) => text);
      expect(new Set(said).size).toBe(said.length);
      await world.runtime.stop();
    }),
    { numRuns: rounds(5, 20) },
  );
});
