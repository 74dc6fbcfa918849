/** Agents that are programs: real processes, and every way they may end. */
import { mkdtemp, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { commandDriver } from "../../../src/adapters/agents/command/driver.ts";
import type { AgentDriver } from "../../../src/domain/ports/index.ts";
import {
  agentContract,
  collect,
  openAgent,
  sampleTurn,
  spoken,
} from "../../../src/testing/agent-contract.ts";
import { alive, running } from "../../support/agents/alive.ts";

const program = join(import.meta.dirname, "../../support/agents/command-agent.mjs");
const driver = commandDriver as AgentDriver;
const config = (what: string, ...args: string[]) => ({
  command: process.execPath,
  args: [program, what, ...args],
});
const run = async (what: string, ...args: string[]) =>
  collect(await openAgent(driver, config(what, ...args)));

agentContract({
  name: "command",
  driver,
  speaking: async () => ({ config: config("echo"), answer: "heard hello" }),
  hanging: async () => config("hang"),
  failing: async () => config("error"),
  babbling: async () => config("babble"),
  calling: async (name, input) => config("tool", name, JSON.stringify(input)),
});

describe("command driver", () => {
  test("gives the program the whole turn, and no more of the environment than it may see", async () => {
    process.env.EARSHOT_TEST_NAMED = "named";
    process.env.EARSHOT_TEST_OTHER = "other";
    const images = [{ mime: "image/png", name: "a.png", data: new Uint8Array([1, 2, 3]) }];
    const tools = [{ name: "look", description: "Look.", inputSchema: { type: "object" } }];
    const turn = sampleTurn({ images, tools, model: "small", thinking: "low" });
    const agent = await openAgent(driver, { ...config("turn"), images: true });
    const reported = JSON.parse(spoken(await collect(agent, turn)));
    const { callTool: _, ...rest } = turn;
    const sent = [{ mime: "image/png", name: "a.png", data: "AQID" }];
    expect(reported).toEqual({ ...rest, images: sent, type: "turn" });

    const seen = await openAgent(driver, { ...config("env"), env: ["EARSHOT_TEST_NAMED"] });
    const names = spoken(await collect(seen)).split(" ");
    expect(names).toContain("EARSHOT_TEST_NAMED");
    expect(names).toContain("PATH");
    const allowed = ["EARSHOT_TEST_NAMED", "HOME", "LANG", "PATH", "TZ"];
    expect(names.filter((name) => !allowed.includes(name))).toEqual([]);
  });

  test("passes arguments as they are: there is no shell to read them", async () => {
    const odd = ["$HOME", "; touch /tmp/x", "`id`", "a b", '"'];
    expect(JSON.parse(spoken(await run("args", ...odd)))).toEqual(odd);
  });

  test("runs in the agent's workspace if there is one, else beside the config file", async () => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), "earshot-command-")));
    const own = driver.configSchema.parse({ ...config("cwd"), baseDir: folder });
    const open = (workspace?: string) =>
      driver.open({
        agentId: "main",
        agentName: "Scout",
        ...(workspace === undefined ? {} : { workspace }),
        config: own,
        now: () => 0,
        sleep: async () => undefined,
      });
    expect(spoken(await collect(await open("/")))).toBe("/");
    expect(spoken(await collect(await open("./missing")))).toBe(folder);
    expect(spoken(await collect(await open()))).toBe(folder);
  });

  test("a program that ends well without a word is silent", async () => {
    expect(await run("silent")).toEqual([]);
  });

  test("reads characters that are cut anywhere, a last line without an end, and closed output", async () => {
    expect(spoken(await run("split"))).toBe("grüß 👋");
    expect(spoken(await run("unfinished"))).toBe("no line end");
    expect(await run("closes")).toEqual([{ type: "text", text: "done" }]);
  });

  test("passes over an event of a kind it does not know", async () => {
    expect(await run("foreign")).toEqual([{ type: "text", text: "dry" }]);
  });

  test("reads everything of a program that says much and ends at once", async () => {
    expect(spoken(await run("flood"))).toHaveLength(2_000 * 501);
  });

  test("a program that waits for the end of its input gets it, if it takes nothing more", async () => {
    const agent = await openAgent(driver, { ...config("eof"), tools: false });
    expect(spoken(await collect(agent))).toBe("read hello");
    expect(agent.capabilities.tools).toBe(false);
  });

  test.each([
    [
      "a line that is not JSON, showing it harmlessly",
      "garbage",
      /not JSON \(received "Traceback .*\(most/,
    ],
    ["an event of a wrong shape", "shape", /not an event .*words/],
    ["bytes that are not UTF-8", "bytes", /not UTF-8/],
    ["a line without end", "long", /a line is over 2097152 bytes/],
    ["an exit code, with the end of its complaint", "crash", /exited with code 3: .*out of cheese/],
    ["a signal", "killed", /was ended by SIGSEGV/],
    ["its own error", "error", /^no luck$/],
  ])("fails the turn at %s", async (_, what, message) => {
    const events = await run(what);
    const errors = events.flatMap((event) => (event.type === "error" ? [event.message] : []));
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatch(message);
    expect(errors[0]).not.toContain("\u001b");
    expect(events.at(-1)?.type).toBe("error");
  });

  test("names a program that cannot be started", async () => {
    const events = await collect(await openAgent(driver, { command: "no-such-program-here" }));
    expect(events).toEqual([
      expect.objectContaining({
        message: "The program no-such-program-here could not be started (ENOENT)",
      }),
    ]);
  });

  test("a named secret does not come back through the program's complaint", async () => {
    process.env.EARSHOT_TEST_SECRET = "canary-4711";
    const crash = { ...config("crash", "canary-4711"), env: ["EARSHOT_TEST_SECRET"] };
    const events = await collect(await openAgent(driver, crash));
    expect(JSON.stringify(events)).toContain("[redacted]");
    expect(JSON.stringify(events)).not.toContain("canary-4711");
  });

  test("a steered message reaches a program that takes it, and comes too late afterwards", async () => {
    const agent = await openAgent(driver, { ...config("steered"), steer: true });
    const texts: string[] = [];
    for await (const event of agent.run(sampleTurn(), { signal: new AbortController().signal })) {
      if (event.type !== "text") continue;
      if (event.text === "ready") expect(agent.steer?.("01TURN", "and the window")).toBe(true);
      texts.push(event.text);
    }
    expect(texts.join("")).toBe("ready steer: and the window");
    expect(agent.steer?.("01TURN", "too late")).toBe(false);
  });

  test("an abort ends a program that ignores every signal, and what it has started", async () => {
    const agent = await openAgent(driver, config("stubborn"));
    const stop = new AbortController();
    let pids: number[] = [];
    let abortedAt = 0;
    const ended = (async () => {
      for await (const event of agent.run(sampleTurn(), { signal: stop.signal })) {
        if (event.type === "text") pids = event.text.split(" ").map(Number);
        abortedAt = performance.now();
        stop.abort(new Error("stopped"));
      }
    })();
    await expect(ended).rejects.toThrow("stopped");
    expect(performance.now() - abortedAt).toBeLessThan(1_000);
    expect(pids).toHaveLength(2);
    await expect.poll(() => pids.filter(running)).toEqual([]);
    expect(alive(pids[0] as number)).toBe(false);
  });

  test("what a program leaves behind ends with it, and does not keep the turn open", async () => {
    const [, pid] = spoken(await run("litter")).split(" ");
    await expect.poll(() => running(Number(pid))).toBe(false);
    const [, apart] = spoken(await run("litter", "detached")).split(" ");
    expect(running(Number(apart))).toBe(true);
    process.kill(Number(apart), "SIGKILL");
  });

  test("closing the agent ends its running programs", async () => {
    const agent = await openAgent(driver, config("stubborn"));
    let pids: number[] = [];
    for await (const event of agent.run(sampleTurn(), { signal: new AbortController().signal })) {
      if (event.type !== "text") continue;
      pids = event.text.split(" ").map(Number);
      await agent.close?.();
    }
    expect(pids.length).toBe(2);
    await expect.poll(() => pids.filter(running)).toEqual([]);
    expect(alive(pids[0] as number)).toBe(false);
  });
});
