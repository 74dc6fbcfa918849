/** Agents that speak ACP: a real subprocess on the other side, well behaved and otherwise. */
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { acpDriver } from "../../../src/adapters/agents/acp/driver.ts";
import { defaultPermissionPolicy } from "../../../src/domain/permission.ts";
import type { AgentDriver, AgentPort, AgentTurn } from "../../../src/domain/ports/index.ts";
import {
  agentContract,
  collect,
  openAgent,
  sampleTurn,
  spoken,
} from "../../../src/testing/agent-contract.ts";
import { running } from "../../support/agents/alive.ts";
import { builtFile } from "../../support/built/files.ts";

const program = builtFile("test/acp-agent");
const driver = acpDriver as AgentDriver;
let log: string;
let agents: AgentPort[] = [];
beforeEach(async () => {
  log = join(await mkdtemp(join(tmpdir(), "earshot-acp-")), "log");
});
afterEach(async () => {
  await Promise.all(agents.map((agent) => agent.close?.()));
  agents = [];
});

const config = (what: string) => ({ command: process.execPath, args: [program, what] });
const open = async (what = "", over: object = {}): Promise<AgentPort> => {
  const args = [program, what, log];
  const agent = await openAgent(driver, { command: process.execPath, args, ...over });
  agents.push(agent);
  return agent;
};
/** A turn whose prompt ends with an order to the agent. */
const reported = (act: string, over: Partial<AgentTurn> = {}): AgentTurn =>
  sampleTurn({ prompt: `Ann: hello\ndo: ${act}`, ...over });
const noted = (): Record<string, unknown>[] =>
  existsSync(log)
    ? readFileSync(log, "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line))
    : [];
/** A session that has spoken before. */
const transcript = [{ role: "user" as const, text: "before", at: 1 }];

agentContract({
  name: "acp",
  driver,
  speaking: async () => ({ config: config("echo"), answer: /^heard [\s\S]*Ann: hello$/ }),
  hanging: async () => config("hang"),
  failing: async () => config("error"),
  babbling: async () => config("babble"),
});

/** Aborts a turn at its first word; how long it then took to end, ms. */
async function abortedTurn(agent: AgentPort, turn: AgentTurn): Promise<number> {
  const stop = new AbortController();
  let abortedAt = Number.NaN;
  const read = async () => {
    for await (const _ of agent.run(turn, { signal: stop.signal })) {
      abortedAt = performance.now();
      stop.abort(new Error("stopped"));
    }
  };
  await expect(read()).rejects.toThrow("stopped");
  return performance.now() - abortedAt;
}

describe("acp driver", () => {
  test("tells thoughts, tool calls and messages apart", async () => {
    const agent = await open();
    expect(await collect(agent, reported("think"))).toEqual([
      { type: "reasoning", text: "hm" },
      { type: "text", text: "so" },
      { type: "message-end" },
    ]);
    expect(await collect(agent, reported("tools"))).toEqual([
      { type: "text", text: "Looking." },
      { type: "message-end" },
      { type: "tool-start", name: "Read file", input: { path: "a.txt" } },
      { type: "tool-end", name: "Read file", ok: true },
      { type: "tool-start", name: "Write file", input: undefined },
      { type: "tool-end", name: "Write file", ok: false, error: "a.txt is read-only" },
      { type: "text", text: "Found." },
      { type: "message-end" },
    ]);
  });

  test("tells a new session its instructions and its past, and a known one only what is new", async () => {
    const agent = await open();
    const first = JSON.parse(spoken(await collect(agent, reported("blocks", { transcript }))));
    expect(first.map(({ text }: { text: string }) => text)).toEqual([
      "You are Scout.",
      "## Earlier in this conversation\n\nuser: before",
      "Ann: hello\ndo: blocks",
    ]);
    const second = JSON.parse(spoken(await collect(agent, reported("blocks", { transcript }))));
    expect(second).toHaveLength(1);
  });

  test("keeps one session a key, and begins anew when ours was reset", async () => {
    const agent = await open();
    const say = async (sessionKey: string, past = transcript) =>
      spoken(await collect(agent, reported("remember", { sessionKey, transcript: past }))).split(
        " ",
      );
    const [first, one] = await say("a", []);
    const [other] = await say("b");
    const [again, two] = await say("a");
    expect([one, two]).toEqual(["1", "2"]);
    expect(again).toBe(first);
    expect(other).not.toBe(first);
    const [fresh, count] = await say("a", []);
    expect(fresh).not.toBe(first);
    expect(count).toBe("1");
    expect(noted()).toContainEqual({ close: first });
  });

  test("forgets the session unused for longest, and tells the agent", async () => {
    const agent = await open("", { sessions: 2 });
    for (const sessionKey of ["a", "b", "a", "c"])
      await collect(agent, reported("remember", { sessionKey, transcript }));
    const opened = noted().flatMap((line) => ("new" in line ? [line.new] : []));
    expect(opened).toHaveLength(3);
    await expect.poll(() => noted().at(-1)).toEqual({ close: opened[1] });
  });

  test("runs turns of two sessions side by side", async () => {
    const agent = await open();
    const turns = ["a", "b"].map((sessionKey) =>
      collect(agent, reported("slow", { sessionKey, turnId: sessionKey })),
    );
    const answers = (await Promise.all(turns)).map(spoken);
    expect(answers).toEqual(["one two three", "one two three"]);
    expect(noted().filter((line) => "initialize" in line)).toHaveLength(1);
  });

  const chosen = (optionId: string) => ({ outcome: "selected", optionId });

  test.each([
    ["deny", { ask: chosen("no"), "ask only-yes": { outcome: "cancelled" } }],
    ["allow", { ask: chosen("yes") }],
    ["allowlist", { "ask read": chosen("yes"), "ask execute": chosen("no"), ask: chosen("no") }],
  ])("answers requests for permission by policy: %s", async (permissions, outcomes) => {
    const agent = await open("", { permissions });
    for (const [act, outcome] of Object.entries(outcomes))
      expect(
        JSON.parse(spoken(await collect(agent, reported(act, { sessionKey: act })))),
        act,
      ).toEqual(outcome);
  });

  const sessions = [
    ["full, from owners", { exec: { security: "full" }, owned: true }, null, "yes"],
    ["full, from others", { exec: { security: "full" }, owned: false }, "deny", "no"],
    ["a list that misses", { exec: { security: "allowlist" }, owned: true }, null, "no"],
    ["a miss, asked", { exec: { security: "allowlist", ask: "on-miss" } }, "once", "yes"],
    ["a miss, for good", { exec: { security: "allowlist", ask: "on-miss" } }, "always", "always"],
    ["each, asked", { exec: { security: "full", ask: "always" }, owned: true }, "deny", "no"],
    ["elevated", { elevated: "full", owned: true }, null, "yes"],
    ["elevated, asked", { elevated: "ask" }, "once", "yes"],
    ["elevated, refused", { elevated: "ask" }, "deny", "no"],
  ] as const;

  test("answers each time as the session says then", async () => {
    const agent = await open();
    for (const [name, said, owner, optionId] of sessions) {
      const asked: object[] = [];
      const over: Partial<AgentTurn> = {
        sessionKey: name,
        permissions: { ...defaultPermissionPolicy, ...said },
        askOwner: async (request) => {
          asked.push(request);
          return owner ?? "deny";
        },
      };
      const answer = JSON.parse(spoken(await collect(agent, reported("ask execute", over))));
      expect(answer, name).toEqual(chosen(optionId));
      expect(asked, name).toEqual(owner === null ? [] : [{ kind: "execute", title: "rm -rf" }]);
    }
  });

  test("allows nothing more once its turn was stopped while an owner was asked", async () => {
    const agent = await open();
    const stop = new AbortController();
    const over: Partial<AgentTurn> = {
      permissions: { ...defaultPermissionPolicy, elevated: "ask" },
      askOwner: async () => {
        stop.abort(new Error("stopped"));
        return "always";
      },
    };
    const events = await collect(agent, reported("ask execute", over), stop.signal);
    expect(events).toMatchObject([{ type: "error", message: "Error: stopped" }]);
    expect(JSON.stringify(noted())).not.toContain("always");
    expect(spoken(await collect(agent, reported("ask")))).toContain("no");
  });

  test("offers neither files nor a terminal, and refuses when asked all the same", async () => {
    const agent = await open();
    expect(spoken(await collect(agent, reported("file")))).toMatch(/not found/i);
    expect(noted()[0]).toEqual({
      initialize: expect.objectContaining({ fs: { readTextFile: false, writeTextFile: false } }),
    });
    expect(JSON.stringify(noted()[0])).not.toMatch(/true/);
  });

  test("passes pictures to an agent that takes them, and to no other", async () => {
    const images = [{ mime: "image/png", name: "a.png", data: new Uint8Array([1, 2, 3]) }];
    const blocks = async (what: string) =>
      JSON.parse(
        spoken(await collect(await open(what), reported("blocks", { images }))),
      ) as object[];
    expect((await blocks("")).at(-1)).toEqual({
      type: "image",
      mimeType: "image/png",
      data: "AQID",
    });
    expect(JSON.stringify(await blocks("blind"))).not.toContain("image");
  });

  test("chooses model and thinking where the agent offers a choice, and goes back afterwards", async () => {
    const agent = await open();
    const values = async (over: Partial<AgentTurn>) =>
      JSON.parse(spoken(await collect(agent, reported("config", { transcript, ...over }))));
    expect(await values({})).toEqual({});
    expect(await values({ model: "large", thinking: "high" })).toEqual({
      model: "large",
      effort: "high",
    });
    expect(await values({ thinking: "max" })).toEqual({ model: "small", effort: "medium" });
    const wrong = await collect(agent, reported("config", { model: "huge" }));
    expect(wrong).toEqual([expect.objectContaining({ message: expect.stringMatching(/"huge"/) })]);
  });

  test("an abort is told to the agent and leaves the session usable", async () => {
    const agent = await open();
    await abortedTurn(agent, reported("hang", { transcript }));
    expect(noted().at(-1)).toHaveProperty("cancel");
    expect(spoken(await collect(agent, reported("remember", { transcript })))).toMatch(/ 2$/);
  });

  test("an agent that does not stop when told loses its process, and the next turn gets another", async () => {
    const agent = await open();
    const pidOf = async () =>
      Number(/^s(\d+)-/.exec(spoken(await collect(agent, reported("remember"))))?.[1]);
    const pid = await pidOf();
    expect(await abortedTurn(agent, reported("deaf"))).toBeLessThan(1_000);
    await expect.poll(() => running(pid), { timeout: 3_000 }).toBe(false);
    expect(await pidOf()).not.toBe(pid);
  });

  test("a crash fails the turn as one to try again, and the next turn starts the program anew", async () => {
    const agent = await open();
    const events = await collect(agent, reported("crash"));
    expect(spoken(events)).toBe("half an ans");
    expect(events.at(-1)).toEqual({
      type: "error",
      retryable: true,
      kind: "crashed",
      message: expect.stringMatching(/exited with code 3: fatal: out of cheese/),
    });
    expect(spoken(await collect(agent, reported("echo")))).toMatch(/^heard/);
  });

  test("after a crash the session is loaded, without telling its past to the room", async () => {
    const agent = await open("loads");
    const [id] = spoken(await collect(agent, reported("remember", { transcript }))).split(" ");
    await collect(agent, reported("crash", { transcript }));
    const after = spoken(await collect(agent, reported("remember", { transcript })));
    expect(after).toBe(`${id} 1`);
    expect(noted().at(-1)).toEqual({ load: id });
  });

  test("passes over what is no message, on any line", async () => {
    const agent = await open("stray");
    expect(spoken(await collect(agent, reported("garbage")))).toBe("before after");
  });

  test("reads everything of an agent that says much", async () => {
    const agent = await open();
    let heard = 0;
    for await (const event of agent.run(reported("flood"), {
      signal: new AbortController().signal,
    })) {
      if (event.type !== "text") continue;
      heard += event.text.length;
      if (heard % 20_000 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    }
    expect(heard).toBe(100_000);
  });

  test.each([
    ["end_turn", null],
    ["max_tokens", /said nothing before its limit \(max_tokens\)/],
    ["refusal", /refused to answer/],
    ["cancelled", /cancelled the turn itself/],
  ])("an answer without a word that stops with %s", async (reason, message) => {
    const events = await collect(await open(), reported(`stop ${reason}`));
    if (message === null) expect(events).toEqual([]);
    else
      expect(events).toEqual([
        expect.objectContaining({ message: expect.stringMatching(message) }),
      ]);
  });

  test.each([
    ["a program that is no such agent", "mute", /did not answer initialize within 400 ms/],
    ["an agent that opens no session", "stuck", /did not answer session\/new within 3000 ms/],
    ["a program that only prints", "chatter", /it said "tick tock"/],
    ["a program that ends at once", "early", /exited with code 2: config file not found/],
    ["another version of the protocol", "future", /another version of the protocol, received 99/],
    ["a line without end", "monster", /a line is over 2097152 bytes/],
    ["an agent that wants a login", "login", /log in with the program itself first/],
  ])("names what is wrong: %s", async (_, what, message) => {
    const startMs = { mute: 400, stuck: 3_000 }[what] ?? 30_000;
    const agent = await open(what, { startMs });
    const events = await collect(agent, reported(what === "monster" ? "monster" : "echo"));
    expect(events).toEqual([
      expect.objectContaining({ type: "error", message: expect.stringMatching(message) }),
    ]);
  });

  test("says what to install when the protocol's library is missing", async () => {
    const hook = `export async function resolve(name, context, next) {
      if (name.startsWith("@agentclientprotocol/"))
        throw Object.assign(new Error("not here"), { code: "ERR_MODULE_NOT_FOUND" });
      return next(name, context); }`;
    const url = (code: string) => `data:text/javascript,${encodeURIComponent(code)}`;
    const register = `import { register } from "node:module"; register(${JSON.stringify(url(hook))});`;
    const here = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
    const script = `const { acpDriver: driver } = await import(${here("../../../src/adapters/agents/acp/driver.ts")});
      const config = driver.configSchema.parse({ command: "node" });
      await driver.open({ agentId: "main", config }).catch(({ message }) => console.log(message));`;
    const node = [
      "--import",
      "tsx",
      "--import",
      url(register),
      "--input-type=module",
      "-e",
      script,
    ];
    const { stdout } = await promisify(execFile)(process.execPath, node);
    expect(stdout.trim()).toBe(
      'Cannot open agent "main": the package of its driver "acp" is missing. ' +
        "Run npm install @agentclientprotocol/sdk",
    );
  });

  test("closing the agent ends its program", async () => {
    const agent = await open();
    const [id] = spoken(await collect(agent, reported("remember"))).split(" ");
    const pid = Number(/^s(\d+)-/.exec(id ?? "")?.[1]);
    expect(running(pid)).toBe(true);
    await agent.close?.();
    expect(running(pid)).toBe(false);
  });
});
