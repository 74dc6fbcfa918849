/**
 * Traces with an SDK that brings its own copy of the API, older than ours: one trace a message,
 * linked where several are answered at once, without a word of the room; and none at all, at no
 * cost, where nobody has registered an SDK.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { type Daemon, startDaemon } from "../../../src/daemon/daemon.ts";
import { findTracer } from "../../../src/daemon/observability/tracer.ts";
import { builtMain, builtUrl } from "../../support/built/files.ts";
import { newFolder } from "../../support/daemon/folder.ts";
import { copyOfApi, registerTracing, type SeenSpan } from "../../support/daemon/tracing.ts";
import { rounds } from "../../support/rounds.ts";

const patience = { timeout: 60_000, interval: 50 };
const registry = Symbol.for("opentelemetry.js.api.1");
const canary = "canary-words";
const toUs = { mentions: [{ id: "self", isSelf: true }] };
const aside = { mentions: [{ id: "zoe" }] };
const configText = `{
  agents: { list: [{ id: "main", driver: { kind: "guide" } }] },
  channels: { webhook: {} },
  messages: { inbound: { debounceMs: 1500 } },
  workers: { loopMs: 60000 },
}`;

async function openDaemon(): Promise<string> {
  const stateDir = join(newFolder(), "state");
  await mkdir(stateDir, { mode: 0o700 });
  await writeFile(join(stateDir, "earshot.json5"), configText, { mode: 0o600 });
  return stateDir;
}

const said = (id: string, more: object = {}) => ({
  id,
  chat: { id: "g1", kind: "group", title: canary },
  text: canary,
  author: { id: "ann", name: canary },
  ...more,
});

async function post(base: string, token: string, body: unknown): Promise<void> {
  const answer = await fetch(`${base}/api/inbound?wait=decision`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(await answer.text());
}

/** How many workers with the API of each version. */
const versions = [
  ["1.4.0", 1],
  ["1.10.0", rounds(0, 1)],
  ["1.99.0", rounds(0, 1)],
] as const;

describe.each(versions)("with an SDK of API %s, workers %i", (version, workers) => {
  afterEach(() => {
    delete (globalThis as { [registry]?: unknown })[registry];
  });

  test("a message is one trace, from the intake to the last delivery", async () => {
    const api = await import(await copyOfApi(newFolder(), version));
    const spans = registerTracing(api);
    const logged: Record<string, unknown>[] = [];
    const daemon = await startDaemon({
      stateDir: await openDaemon(),
      port: 0,
      workers,
      env: {},
      logLevel: "debug",
      writeLog: (line) => void logged.push(JSON.parse(line) as Record<string, unknown>),
    });
    const say = (body: unknown) => post(daemon.base, daemon.token, body);
    await say(said("m1", aside));
    await say([said("m2", toUs), said("m3", toUs)]);
    await say(said("m1", aside));
    const whole = () => spans.length > 10 && spans.every(({ end }) => end !== null);
    await expect.poll(whole, patience).toBe(true);

    const roots = spans.filter(({ parentId }) => parentId === null);
    expect(roots.map(({ name }) => name)).toEqual(Array(4).fill("earshot.message"));
    const traceOf = (id: string) =>
      roots.find(({ attributes }) => attributes["earshot.message.id"] === id) as SeenSpan;
    const names = (root: SeenSpan) =>
      spans
        .filter(({ traceId, parentId }) => traceId === root.traceId && parentId !== null)
        .map(({ name }) => name.replace("earshot.", ""));
    const common = ["admission", "journal", "decision"];
    expect(names(traceOf("m1"))).toEqual(common);
    const [lead, other] = ["m2", "m3"]
      .map(traceOf)
      .sort((a, b) => names(b).length - names(a).length) as [SeenSpan, SeenSpan];
    expect(names(lead).slice(0, 6)).toEqual([...common, "queue", "turn", "agent"]);
    expect(new Set(names(lead).slice(6))).toEqual(new Set(["delivery"]));
    expect(names(other)).toEqual([...common, "queue"]);
    const copy = roots.findLast(({ attributes }) => attributes["earshot.message.id"] === "m1");
    expect(copy?.attributes).toMatchObject({ "earshot.decision": "duplicate" });

    const of = (root: SeenSpan, name: string) =>
      spans.find(
        (span) => span.traceId === root.traceId && span.name === `earshot.${name}`,
      ) as SeenSpan;
    const turn = of(lead, "turn");
    expect(turn.links).toEqual([other.traceId]);
    expect(turn.attributes).toMatchObject({
      "earshot.turn.outcome": "replied",
      "earshot.turn.messages": 2,
      "earshot.agent.id": "main",
    });
    expect(of(lead, "decision").attributes).toMatchObject({
      "earshot.decision": "engage",
      "earshot.rule": "mention",
    });
    expect(of(lead, "delivery").attributes).toMatchObject({ "earshot.delivery.status": "sent" });
    expect(of(lead, "delivery").parentId).toBe(turn.spanId);
    expect(of(lead, "agent").parentId).toBe(turn.spanId);

    // The order of the spans, and the last delivery ends it.
    const order = ["admission", "journal", "decision", "queue", "turn", "agent", "delivery"];
    const starts = order.map((name) => of(lead, name).start);
    expect(starts).toEqual([...starts].sort((a, b) => a - b));
    for (const root of [lead, other])
      expect(root.end).toBeGreaterThanOrEqual(of(lead, "delivery").end as number);
    for (const span of spans) expect(span.end).toBeGreaterThanOrEqual(span.start);
    expect((of(lead, "queue").end as number) - of(lead, "queue").start).toBeGreaterThan(100);

    expect(JSON.stringify(spans)).not.toContain(canary);
    const line = (msg: string, more: object = {}) =>
      logged.find((one) => one.msg === msg && Object.entries(more).every(([k, v]) => one[k] === v));
    expect(line("decision", { id: lead.attributes["earshot.message.id"] })?.trace_id).toBe(
      lead.traceId,
    );
    expect(line("turn")?.trace_id).toBe(lead.traceId);
    expect(line("send")?.trace_id).toBe(lead.traceId);
    await daemon.stop({ drainMs: 0 });
  });
});

describe("without an SDK", () => {
  test("there is no tracer, and lines of the log name no trace", async () => {
    expect(findTracer("0.0.0-test")).toBeNull();
    const logged: string[] = [];
    const daemon: Daemon = await startDaemon({
      stateDir: await openDaemon(),
      port: 0,
      workers: 0,
      env: {},
      writeLog: (line) => void logged.push(line),
    });
    await post(daemon.base, daemon.token, said("m1", aside));
    expect(logged.some((line) => line.includes('"decision"'))).toBe(true);
    expect(logged.join("")).not.toContain("trace_id");
    await daemon.stop({ drainMs: 0 });
  });
});

/** The packages that the example imports: they write each span to the file as it ends. */
async function standInSdk(folder: string, file: string): Promise<void> {
  const tracing = builtUrl("test/tracing").href;
  const put = `(told) => appendFileSync(${JSON.stringify(file)}, JSON.stringify(told) + "\\n")`;
  const packages = {
    "sdk-node": `
      import { appendFileSync } from "node:fs";
      import * as api from "@opentelemetry/api";
      import { registerTracing } from ${JSON.stringify(tracing)};
      const put = ${put};
      export class NodeSDK {
        start() { registerTracing(api, put); }
        async shutdown() { put({ name: "shutdown" }); }
      }`,
    "exporter-trace-otlp-http": "export class OTLPTraceExporter {}",
  };
  for (const [name, text] of Object.entries(packages)) {
    const path = join(folder, "node_modules", "@opentelemetry", name);
    await mkdir(path, { recursive: true });
    await writeFile(join(path, "package.json"), '{"type":"module","main":"index.js"}');
    await writeFile(join(path, "index.js"), text);
  }
}

describe("as a process", () => {
  const children = new Set<ChildProcess>();
  afterEach(() => {
    for (const child of children) child.kill("SIGKILL");
  });

  test("the example of the docs is all it takes, and a stop ends what is open", async () => {
    const folder = newFolder();
    const stateDir = await openDaemon();
    await copyOfApi(folder, "1.9.0");
    const file = join(folder, "spans.jsonl");
    await standInSdk(folder, file);
    const page = await readFile(
      resolve(import.meta.dirname, "../../../docs/operate/observe.md"),
      "utf8",
    );
    const [, example = ""] = /```js\n(\/\/ otel\.mjs\n[^`]+)```/.exec(page) ?? [];
    const module = join(folder, "otel.mjs");
    await writeFile(module, example);
    const child = spawn(
      process.execPath,
      [builtMain, "start", "--port", "0", "--state-dir", stateDir],
      {
        env: {
          PATH: process.env.PATH,
          HOME: folder,
          NODE_OPTIONS: `--import ${module}`,
        },
        stdio: ["ignore", "pipe", "ignore"],
      },
    );
    children.add(child);
    const address = await new Promise<string>((found) => {
      let out = "";
      child.stdout?.on("data", (data) => {
        out += String(data);
        const printed = /http:\S+\/(?= \(for)/.exec(out)?.[0];
        if (printed !== undefined) found(printed);
      });
    });
    const base = address.slice(0, -1);
    const token = await readFile(join(stateDir, "token"), "utf8");
    await post(base, token, said("m1", toUs));
    const spans = async () =>
      (await readFile(file, "utf8").catch(() => ""))
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as SeenSpan);
    const roots = async () => (await spans()).filter(({ parentId }) => parentId === null);
    await expect.poll(async () => (await roots()).length, patience).toBe(1);
    await post(base, token, said("m2", toUs));
    child.kill("SIGTERM");
    await new Promise((ended) => child.once("close", ended));
    expect((await roots()).map(({ attributes }) => attributes["earshot.message.id"])).toEqual([
      "m1",
      "m2",
    ]);
    const all = await spans();
    // The SDK was flushed after the last span.
    expect(all.pop()?.name).toBe("shutdown");
    expect(new Set(all.map(({ traceId }) => traceId)).size).toBe(2);
  });
});
