/**
 * Programs of a worker: the main thread starts them, bytes flow by credit over a port, and none
 * outlives the worker. The port here is real; both its ends are in this thread.
 */
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MessageChannel } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import {
  type Child,
  type ChildSpec,
  startChild,
} from "../../../src/adapters/agents/command/child.ts";
import {
  childrenBehind,
  type StartChild,
  serveChildren,
} from "../../../src/adapters/agents/command/child-proxy.ts";
import { alive, running } from "../../support/agents/alive.ts";

const program = join(import.meta.dirname, "../../support/agents/command-agent.mjs");
const spec = (...args: string[]): ChildSpec => ({
  command: process.execPath,
  args: [program, ...args],
  cwd: tmpdir(),
  env: [],
});
const turn = `${JSON.stringify({ type: "turn", said: "hello" })}\n`;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

let start: StartChild;
let lose: () => void;
let close: () => void;
/** Bytes handed to the worker's side. */
let posted: number;
beforeEach(() => {
  const { port1, port2 } = new MessageChannel();
  posted = 0;
  const gone = new Promise<void>((resolve) => {
    lose = resolve;
  });
  const post: Parameters<typeof serveChildren>[0] = (reported) => {
    posted += "output" in reported ? (reported.output?.length ?? 0) : 0;
    port1.postMessage(reported);
  };
  const answer = serveChildren(post, gone);
  port1.on("message", answer);
  start = childrenBehind(port2);
  close = () => port1.close();
});
afterEach(() => {
  lose();
  close();
});

async function outputOf(child: Child): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of child.output) parts.push(part);
  return Buffer.concat(parts).toString("utf8");
}

describe.each<[string, () => StartChild]>([
  ["here", () => startChild],
  ["over a port", () => start],
])("a program started %s", (_, how) => {
  test("reads its input, is heard to its end, and says how it ended", async () => {
    const child = how()(spec("echo"));
    child.write(turn);
    expect(await outputOf(child)).toContain('"text":"hello"');
    expect(await child.ended).toEqual({ code: 0, problem: null, stderr: "" });
  });

  test("is heard although it has ended long before anyone reads", async () => {
    const child = how()(spec("echo"));
    child.write(turn);
    await pause(1_500);
    expect(await outputOf(child)).toContain('"text":"hello"');
    expect(await child.ended).toEqual({ code: 0, problem: null, stderr: "" });
  });

  test("is heard on a thread that is busy nearly all the time", async () => {
    const busy = setInterval(() => {
      const until = performance.now() + 250;
      while (performance.now() < until);
    }, 5);
    onTestFinished(() => clearInterval(busy));
    const heard = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const child = how()({ ...spec(), command: "/bin/sh", args: ["-c", "echo said"] });
        return outputOf(child);
      }),
    );
    expect(heard).toEqual(Array(6).fill("said\n"));
  });

  test("tells its exit code and the end of its complaint, at most 4 kB", async () => {
    const child = how()(spec("crash"));
    const { code, problem, stderr } = await child.ended;
    expect([code, problem]).toEqual([3, "exited with code 3"]);
    expect(stderr).toMatch(/out of cheese \n$/);
    expect(stderr.length).toBe(4_096);
  });

  test.each([
    ["ENOENT", { command: "/no/such/program" }],
    ["ENOENT", { cwd: "/no/such/folder" }],
    ["EACCES", { command: tmpdir() }],
    ["E2BIG", { args: Array<string>(100).fill("x".repeat(65_000)) }],
    ["ERR_INVALID_ARG_VALUE", { args: ["a\0b"] }],
  ])("that cannot be started has ended, with the reason: %s", async (reason, over) => {
    const child = how()({ ...spec(), ...over });
    child.write(turn);
    expect(await outputOf(child)).toBe("");
    expect((await child.ended).problem).toBe(`could not be started (${reason})`);
    await child.stop();
  });

  test("ends when it is stopped, whatever it thinks of it, and a second stop is nothing", async () => {
    const child = how()(spec("stubborn"));
    const [first] =
      (await (async () => {
        for await (const part of child.output)
          return Buffer.from(part).toString("utf8").match(/\d+/g);
        return null;
      })()) ?? [];
    expect(running(Number(first))).toBe(true);
    await child.stop();
    expect(alive(Number(first))).toBe(false);
    await child.stop();
    expect((await child.ended).problem).toBe(null);
  });
});

describe("over a port", () => {
  test("a program that talks faster than it is read is held back, and loses nothing", async () => {
    const child = start(spec("flood"));
    await expect.poll(() => posted).toBeGreaterThan(262_143);
    await pause(200);
    const ahead = posted;
    // The window, and the one part that overran it.
    expect(ahead).toBeLessThan(262_144 + 65_537);
    const heard = await outputOf(child);
    expect(heard.split("\n")).toHaveLength(2_001);
    expect(posted).toBeGreaterThan(ahead);
    expect((await child.ended).problem).toBe(null);
  });

  test("every program of a lost worker ends, also one that was never read", async () => {
    const file = join(await mkdtemp(join(tmpdir(), "earshot-children-")), "pids");
    const stubborn = start(spec("stubborn", file));
    const flooding = start(spec("flood"));
    await expect.poll(() => posted).toBeGreaterThan(262_143);
    for await (const _ of stubborn.output) break;
    lose();
    const ends = await Promise.all([stubborn.ended, flooding.ended]);
    expect(ends.map(({ problem }) => problem)).toEqual([null, null]);
  });

  test("what is no order is refused and starts nothing", async () => {
    const posts: unknown[] = [];
    const answer = serveChildren((reported) => posts.push(reported), new Promise(() => undefined));
    const good = { id: 1, do: "start", spec: spec("silent") };
    for (const bad of [
      null,
      "start",
      { ...good, id: "1" },
      { ...good, spec: { ...good.spec, shell: true } },
      { ...good, spec: { ...good.spec, args: "silent" } },
      { id: 1, do: "exec", text: "id" },
    ])
      expect(() => answer(bad)).toThrow();
    answer({ id: 9, do: "write", text: "to nobody" });
    await pause(50);
    expect(posts).toEqual([]);
  });

  test("programs do not hear each other", async () => {
    const children = ["a", "b"].map((said) => {
      const child = start(spec("echo"));
      child.write(`${JSON.stringify({ said })}\n`);
      return child;
    });
    const heard = await Promise.all(children.map(outputOf));
    expect(heard.map((text) => /"text":"([ab])"/.exec(text)?.[1])).toEqual(["a", "b"]);
  });
});
