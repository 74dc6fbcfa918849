// The traces of docs/operate/observe.md as a user has them: the packed earshot and the real
// OpenTelemetry SDK from the registry, installed, set up and started by the commands of that page,
// sending to a receiver of OTLP over HTTP here. Arguments: the Node binary to use, and another
// version of the SDK.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { root } from "./prepare.mjs";

const node = process.argv[2] ?? process.execPath;
const version = process.argv[3];
const folder = mkdtempSync(join(tmpdir(), "earshot-otel-"));
const app = join(folder, "app");
const word = "canary-word";
const say = (line) => process.stderr.write(`otel: ${line}\n`);
const check = (holds, words) => {
  if (!holds) throw new Error(words);
};

const page = readFileSync(join(root, "docs", "operate", "observe.md"), "utf8");
const traces = page.slice(page.indexOf("## Traces"), page.indexOf("## Logs"));
const block = (language, start) =>
  [...traces.matchAll(/```(\w+)\n([^`]+)```/g)].find(
    ([, named, text]) => named === language && text.startsWith(start),
  )?.[2] ?? "";
const install = block("sh", "npm install").replaceAll(/@0[.]\d+[.]\d+/g, (at) =>
  version === undefined ? at : `@${version}`,
);
const start = block("sh", "NODE_OPTIONS").trim();
const tabled = [...traces.matchAll(/^\| `(earshot\.\w+)` \|/gm)].map(([, name]) => name);
check(
  install !== "" && start !== "" && tabled.length > 5,
  "docs/operate/observe.md has another form",
);

function must(command, args, options = {}) {
  const done = spawnSync(command, args, { cwd: app, encoding: "utf8", ...options });
  check(done.status === 0, `${command} ${args.join(" ")} failed\n${done.stdout}\n${done.stderr}`);
  return done.stdout.trim();
}

/** Takes what an exporter posts; the spans as OTLP's JSON form has them, with their resource. */
function startReceiver() {
  const spans = [];
  const wrong = [];
  const server = createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const sent = Buffer.concat(parts);
    const body = request.headers["content-encoding"] === "gzip" ? gunzipSync(sent) : sent;
    const { url, headers } = request;
    if (url !== "/v1/traces" || headers["content-type"] !== "application/json") wrong.push(url);
    else
      for (const { resource, scopeSpans } of JSON.parse(String(body)).resourceSpans)
        for (const { scope, spans: some } of scopeSpans)
          for (const span of some) {
            const of = { service: plain(resource.attributes)["service.name"], scope: scope.name };
            spans.push({ ...span, ...of, attributes: plain(span.attributes) });
          }
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () =>
      resolve({ spans, wrong, port: server.address().port, close: () => server.close() }),
    );
  });
}

/** OTLP's list of typed values as an object. */
const plain = (attributes = []) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

async function until(what, probe, ms = 30_000) {
  const end = Date.now() + ms;
  for (;;) {
    const found = await probe().catch(() => null);
    if (found) return found;
    check(Date.now() < end, `gave up waiting for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** The daemon by the command of the page, but for where the spans go. */
async function withDaemon(port, use) {
  const state = join(folder, `state-${port}`);
  mkdirSync(state, { mode: 0o700, recursive: true });
  const path = [dirname(node), join(app, "node_modules", ".bin"), process.env.PATH];
  const env = {
    ...{ HOME: folder, PATH: path.join(delimiter) },
    ...{ EARSHOT_STATE_DIR: state, PORT: "4880" },
  };
  const command = start.replace("127.0.0.1:4318", `127.0.0.1:${port}`);
  const stdio = ["ignore", "ignore", "ignore"];
  const daemon = spawn("sh", ["-c", `exec env ${command}`], { cwd: app, env, stdio });
  const exited = new Promise((resolve) =>
    daemon.on("exit", (code, signal) => resolve(code ?? signal)),
  );
  const base = "http://127.0.0.1:4880";
  try {
    await until("readiness", async () => (await fetch(`${base}/readyz`)).ok);
    const token = readFileSync(join(state, "token"), "utf8").trim();
    await use(async (message) => {
      const answer = await fetch(`${base}/api/inbound?wait=decision`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ author: { id: "u1", name: word }, text: word, ...message }),
      });
      check(answer.ok, `inbound answered ${answer.status}: ${await answer.text()}`);
    }, base);
    daemon.kill("SIGTERM");
    const late = new Promise((resolve) => setTimeout(() => resolve("late"), 45_000).unref());
    const code = await Promise.race([exited, late]);
    check(code === 0, `SIGTERM ended the daemon with ${code}`);
  } finally {
    daemon.kill("SIGKILL");
  }
}

/** The trace of a message is whole: the spans of the page's table, each below the right one. */
function checkTrace(spans, id, names) {
  const [top, ...more] = spans.filter(({ attributes }) => attributes["earshot.message.id"] === id);
  check(top !== undefined && more.length === 0, `${id} has ${more.length + 1} traces`);
  const own = spans.filter(({ traceId }) => traceId === top.traceId);
  const seen = [...new Set(own.map(({ name }) => name))].sort();
  check(`${seen}` === `${[...names].sort()}`, `the trace of ${id} has ${seen}`);
  const turn = own.find(({ name }) => name === "earshot.turn");
  for (const span of own) {
    const below = ["earshot.agent", "earshot.delivery"].includes(span.name) ? turn : top;
    const parent = span === top ? "" : below.spanId;
    check((span.parentSpanId ?? "") === parent, `${span.name} is not below its parent`);
    const [from, to] = [BigInt(span.startTimeUnixNano), BigInt(span.endTimeUnixNano)];
    check(from > 0n && to >= from, `${span.name} ends before it starts`);
    check(to <= BigInt(top.endTimeUnixNano), `${span.name} ends after its trace`);
    check(span.service === "earshot" && span.scope === "earshot", `${span.name} is not ours`);
    check((span.status.code ?? 0) === 0, `${span.name} failed`);
  }
  return (name) => own.find((span) => span.name === name).attributes;
}

function checkAttributes(of, expected) {
  for (const [name, wanted] of Object.entries(expected))
    for (const [attribute, value] of Object.entries(wanted)) {
      const found = of(name)[`earshot.${attribute}`];
      const isIt = value instanceof RegExp ? value.test(found) : String(found) === value;
      check(isIt, `${name} has ${attribute} ${found}`);
    }
}

async function main() {
  mkdirSync(app);
  writeFileSync(join(app, "package.json"), '{"name":"app","private":true}');
  const tarball = must("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: root });
  must("npm", ["install", "--silent", "--ignore-scripts", "--omit=dev", join(folder, tarball)]);
  must("sh", ["-c", `${install.trim()} --silent --ignore-scripts`]);
  writeFileSync(join(app, "otel.mjs"), block("js", "// otel.mjs"));
  const sdk = join(app, "node_modules", "@opentelemetry", "sdk-node", "package.json");
  say(`installed, SDK ${JSON.parse(readFileSync(sdk, "utf8")).version}`);

  const { spans, wrong, port, close } = await startReceiver();
  await withDaemon(port, async (post) => {
    const room = { id: "g1", kind: "group", title: word };
    await post({ id: "aside", chat: room, mentions: [{ id: "zoe" }] });
    await post({ id: "asked", chat: { id: "d1", kind: "direct" } });
    // The batch of the SDK goes every five seconds.
    await until("spans", async () => spans.some(({ name }) => name === "earshot.delivery"));
    await post({ id: "last", chat: { id: "d1", kind: "direct" } });
  });
  close();
  check(wrong.length === 0, `posted to ${wrong}`);
  const heard = ["earshot.message", "earshot.admission", "earshot.journal", "earshot.decision"];
  checkAttributes(checkTrace(spans, "aside", heard), {
    "earshot.decision": { decision: "observe", "session.key": /^agent:main:webhook:group:g1$/ },
  });
  checkAttributes(checkTrace(spans, "asked", tabled), {
    "earshot.message": { channel: "webhook", account: "default", "chat.kind": "direct" },
    "earshot.decision": { decision: "engage", rule: "dm", credit: /^\w+$/ },
    "earshot.turn": { "turn.outcome": "replied", "turn.number": "1", "agent.id": "main" },
    "earshot.delivery": { "delivery.status": "sent", "delivery.id": /^.+:\d+$/ },
  });
  say(`${spans.length} spans: every name of the table, each below its parent`);
  const last = spans.find(({ attributes }) => attributes["earshot.message.id"] === "last");
  check(last !== undefined, "what was under way at SIGTERM was not sent");
  check(!JSON.stringify(spans).includes(word), "a word of the room is in a span");
  say("SIGTERM sent what was left, and ended the daemon with exit code 0");
  await withDaemon(port, async (post) => post({ id: "m1", chat: { id: "d1", kind: "direct" } }));
  say("nobody who receives: the daemon works and stops all the same");
}

try {
  await main();
  say(`ok on ${must(node, ["--version"])}`);
} catch (error) {
  say(`failed: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
