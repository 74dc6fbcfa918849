/**
 * The OpenAPI document is true: every operation it lists is called on a real daemon, and each answer
 * is checked against the schema that the document gives for it. docs/api.md has them all, and all
 * codes of errors.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { errorStatus, refusalStatus } from "../../../src/daemon/http/api-error.ts";
import { messageBody, openHookDaemon } from "../../support/daemon/hook-daemon.ts";
import { root } from "../../support/docs.ts";

type JsonSchema = Parameters<typeof z.fromJSONSchema>[0];
interface Operation {
  readonly responses: Readonly<Record<string, Answer>>;
}
interface Answer {
  readonly content?: Readonly<Record<string, { readonly schema?: JsonSchema }>>;
}
type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

const roomKey = "agent:main:webhook:group:room";
const json = { "content-type": "application/json" };
const post = (body?: unknown): RequestInit =>
  body === undefined
    ? { method: "POST" }
    : { method: "POST", headers: json, body: JSON.stringify(body) };

/** The first object of a stream of events or lines. */
async function firstOf(response: Response): Promise<unknown> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  const isEvents = response.headers.get("content-type")?.startsWith("text/event-stream");
  for (let text = ""; reader !== undefined; ) {
    const { value, done } = await reader.read();
    text += decoder.decode(value, { stream: true });
    const line = isEvents ? /^data: (.*)\n/mu.exec(text)?.[1] : /^(.+)\n/u.exec(text)?.[1];
    if (line !== undefined || done) {
      reader.releaseLock();
      return JSON.parse(line ?? "null");
    }
  }
  return null;
}

/** Addresses and bodies for every operation; what others need comes before them. */
async function calls(api: (path: string, init?: RequestInit) => Promise<Response>) {
  const read = async <Form>(path: string, init?: RequestInit) =>
    (await (await api(path, init)).json()) as Form;
  const key = encodeURIComponent(roomKey);
  const said = { ...JSON.parse(messageBody("s1", "hi")), channel: "webhook" };
  const lines = [{ t: 0, in: said }];
  const file = {
    method: "POST",
    headers: { "content-type": "application/jsonl" },
    body: `${JSON.stringify({ t: 0, in: said })}\n`,
  };
  const { id: recording, rules } = await read<{
    id: string;
    rules: string;
  }>("/api/what-if/recordings", post({ since: 0, name: "all" }));
  const { label } = await read<{ label: string }>("/api/claims", post({ role: "member" }));
  const upload = { method: "POST", headers: { "content-type": "text/plain" }, body: "words" };
  const { id: kept } = await read<{ id: string }>("/api/webchat/uploads?name=a.txt", upload);
  const to = { channel: "webhook", chat: { id: "room", kind: "group" } };
  const tea = { name: "tea", cron: "0 16 * * *", to, text: "Tea?" };
  await api("/api/schedules", post(tea));
  const live = await api("/api/rooms/live");
  const { view } = (await firstOf(live)) as { view: string };
  return {
    "POST /api/inbound": ["/api/inbound?wait=decision", post(JSON.parse(messageBody("m2")))],
    "GET /api/events": ["/api/events"],
    "GET /api/record": ["/api/record?since=0"],
    "GET /api/search": ["/api/search?text=hello&limit=5"],
    "GET /api/rooms": ["/api/rooms?limit=5"],
    "GET /api/rooms/live": ["/api/rooms/live"],
    "GET /api/rooms/{key}": [`/api/rooms/${key}`],
    "GET /api/rooms/{key}/history": [`/api/rooms/${key}/history?limit=1`],
    "GET /api/rooms/{key}/live": [`/api/rooms/${key}/live`],
    "GET /api/rooms/{key}/transitions": [`/api/rooms/${key}/transitions`],
    "POST /api/rooms/{key}/actions": [
      `/api/rooms/${key}/actions`,
      post({ does: "activation", level: null }),
    ],
    "POST /api/rooms/{key}/label": [
      `/api/rooms/${key}/label`,
      post({ id: "m1", expected: "observe" }),
    ],
    "GET /api/health": ["/api/health"],
    "GET /api/needs": ["/api/needs"],
    "GET /api/config": ["/api/config"],
    "POST /api/config/plan": ["/api/config/plan", post({ path: "context.size", value: "9" })],
    "GET /api/setup": ["/api/setup"],
    "POST /api/setup/try": [
      "/api/setup/try",
      post({ agent, driver: { kind: "command", command: "echo", args: ["hi"] } }),
    ],
    "POST /api/setup/plan": ["/api/setup/plan", post({ agent, driver: null, channel: null })],
    "POST /api/checks": ["/api/checks", post()],
    "GET /api/health/live": ["/api/health/live"],
    "GET /api/status": ["/api/status"],
    "GET /api/channels": ["/api/channels"],
    "GET /api/conversations": ["/api/conversations"],
    "GET /api/why/{messageId}": ["/api/why/m1"],
    "GET /api/prompts/{messageId}": ["/api/prompts/m1"],
    "GET /api/outbox": ["/api/outbox?state=sent,dead,pending"],
    "GET /api/outbound": ["/api/outbound"],
    "GET /api/schedules": ["/api/schedules"],
    "POST /api/schedules": ["/api/schedules", post({ ...tea, name: "coffee" })],
    "POST /api/schedules/{name}/pause": ["/api/schedules/tea/pause", post()],
    "POST /api/schedules/{name}/resume": ["/api/schedules/tea/resume", post()],
    "POST /api/schedules/{name}/remove": ["/api/schedules/tea/remove", post()],
    "POST /api/send": [
      "/api/send",
      post({ channel: "webhook", chat: { id: "room", kind: "group" }, text: "hello" }),
    ],
    "GET /api/quarantine": ["/api/quarantine"],
    "GET /api/commands": ["/api/commands"],
    "POST /api/simulate": ["/api/simulate", post({ lines })],
    "GET /api/sessions": ["/api/sessions?all=1"],
    "GET /api/sessions/{key}": [`/api/sessions/${key}`],
    "GET /api/sessions/{key}/transcript": [`/api/sessions/${key}/transcript`],
    "POST /api/sessions/{key}/compact": [`/api/sessions/${key}/compact`, post()],
    "PATCH /api/sessions/{key}": [
      `/api/sessions/${key}`,
      { ...post({ verbose: "on", exec: { ask: "always" } }), method: "PATCH" },
    ],
    "POST /api/sessions/{key}/reset": [`/api/sessions/${key}/reset`, post()],
    "GET /api/pairings": ["/api/pairings"],
    "GET /api/claims": ["/api/claims"],
    "POST /api/claims": ["/api/claims", post({ role: "owner" })],
    "POST /api/claims/{label}/revoke": [`/api/claims/${encodeURIComponent(label)}/revoke`, post()],
    "POST /api/inspect/tickets": ["/api/inspect/tickets", post({ key: roomKey })],
    "POST /api/what-if/recordings": [
      "/api/what-if/recordings",
      post({ since: 0, until: Date.now(), name: "again" }),
    ],
    "POST /api/what-if/files": ["/api/what-if/files?name=x", file],
    "POST /api/what-if/run": ["/api/what-if/run", post({ recording, rules })],
    "POST /api/what-if/tune": [
      "/api/what-if/tune",
      post({ since: 0, measure: "precision", atLeast: 0.9 }),
    ],
    "POST /api/what-if/ladders": ["/api/what-if/ladders", post({ recording, rules, n: 0 })],
    "POST /api/webchat/uploads": ["/api/webchat/uploads?name=b.txt", upload],
    "GET /api/webchat/uploads/{id}": [`/api/webchat/uploads/${kept}`],
    "DELETE /api/webchat/uploads/{id}": [`/api/webchat/uploads/${kept}`, { method: "DELETE" }],
    "POST /api/rooms/live/{view}": [`/api/rooms/live/${view}`, post({ find: "room" })],
    "POST /api/what-if/plan": ["/api/what-if/plan", post({ rules: "{ context: { size: 9 } }" })],
  } satisfies Record<string, Call> as Record<string, Call>;
}
const agent = { name: "Scout", purpose: "", aliases: [] };
type Call = readonly [path: string, init?: RequestInit];

/**
 * Operations on what only a fault or a stranger leaves behind. Here there is none of it, so the
 * documented refusal is checked; test/daemon/api has tests of their successes.
 */
const refused: Readonly<Record<string, Call>> = {
  "POST /api/config/write": [
    "/api/config/write",
    post({ path: "context.size", value: "9", token: "old" }),
  ],
  "POST /api/config/undo": ["/api/config/undo", post({ copy: "none", token: "old" })],
  "POST /api/setup/models": [
    "/api/setup/models",
    post({ provider: "openai-compatible", baseUrl: "http://127.0.0.1:1/v1" }),
  ],
  "POST /api/setup/channel": ["/api/setup/channel", post({ id: "none", fields: {} })],
  "POST /api/setup/write": [
    "/api/setup/write",
    post({ answers: { agent, driver: null, channel: null }, token: "old" }),
  ],
  "POST /api/needs/{id}/{action}": ["/api/needs/none/allow", post()],
  "POST /api/outbox/{id}/resend": ["/api/outbox/none:0/resend", post()],
  "POST /api/outbox/{id}/drop": ["/api/outbox/none:0/drop", post()],
  "POST /api/channels/{channel}/{account}/retry": ["/api/channels/none/none/retry", post()],
  "POST /api/quarantine/{seq}/retry": ["/api/quarantine/1/retry", post()],
  "POST /api/quarantine/{seq}/drop": ["/api/quarantine/1/drop", post()],
  "POST /api/pairings/{code}/approve": ["/api/pairings/ABCDEFGH/approve", post()],
  "POST /api/pairings/revoke": ["/api/pairings/revoke", post({ code: "ABCDEFGH" })],
  "POST /api/what-if/apply": [
    "/api/what-if/apply",
    post({ rules: "{ context: { size: 9 } }", token: "old" }),
  ],
  "POST /api/what-if/undo": ["/api/what-if/undo", post({ undo: { copy: null, token: "old" } })],
  "POST /hooks/{channel}/{account}": ["/hooks/none/none", post({})],
};

test("every operation answers as the document says", async () => {
  const door = await openHookDaemon({
    engagement: { activation: "always" },
    channels: { webhook: { groupPolicy: "open" }, webchat: { accounts: { default: {} } } },
  });
  const heard = await door.api("/api/inbound", {
    method: "POST",
    headers: json,
    body: messageBody("m1", "hello"),
  });
  expect(heard.status).toBe(200);
  await door.daemon.runtime.settled();

  const document = await (await door.api("/api/openapi.json")).json();
  const successes = await calls((path, init) => door.api(path, init));
  const error = document.components.responses.Error as Answer;
  const failures: string[] = [];
  const uncalled: string[] = [];
  for (const [path, operations] of Object.entries(document.paths as Paths))
    for (const [method, operation] of Object.entries(operations)) {
      const name = `${method.toUpperCase()} ${path}`;
      const call = successes[name] ?? refused[name];
      if (call === undefined) {
        uncalled.push(name);
        continue;
      }
      const response = await door.api(...call);
      if (response.ok === name in refused) failures.push(`${name}: ${response.status}`);
      const documented = operation.responses[String(response.status)];
      const answer = documented !== undefined && "$ref" in documented ? error : documented;
      failures.push(
        ...(await problemsOf(response, answer)).map((problem) => `${name}: ${problem}`),
      );
    }
  expect(failures).toEqual([]);
  expect(uncalled).toEqual([]);
});

const page = readFileSync(join(root, "docs/api.md"), "utf8");

test("the page has every operation of the document, with the fields of its query", async () => {
  const door = await openHookDaemon({});
  const document = await (await door.api("/api/openapi.json")).json();
  const paths = Object.entries(document.paths as Record<string, Record<string, Described>>);
  expect(paths.length).toBeGreaterThan(50);
  const untold = paths.flatMap(([path, operations]) => {
    const route = path.replace(/\{(\w+)\}/gu, ":$1");
    const [parent, last] = [route.slice(0, route.lastIndexOf("/")), route.split("/").pop()];
    const isShown = page.includes(route) || (page.includes(parent) && page.includes(`\`/${last}`));
    const fields = Object.values(operations)
      .flatMap(({ parameters }) => parameters)
      .filter((one) => one.in === "query" && !new RegExp(`[?&\`]${one.name}\\b`, "u").test(page))
      .map(({ name }) => `${path}: ${name}`);
    return isShown ? fields : [path, ...fields];
  });
  expect(untold).toEqual([]);
});
interface Described {
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
}

test("the page has every code of an error, beside its status", () => {
  const rows = page.split("\n").filter((line) => /^\| \d{3} \|/u.test(line));
  const codes = Object.entries({ ...refusalStatus, ...errorStatus, internal: 500 });
  const untold = codes.filter(
    ([code, status]) =>
      !rows.some((row) => row.startsWith(`| ${status} |`) && row.includes(`\`${code}\``)),
  );
  expect(untold).toEqual([]);
});

/** What an answer has that the document does not say of it. */
async function problemsOf(response: Response, documented: Answer | undefined): Promise<string[]> {
  const type = (response.headers.get("content-type") ?? "").split(";")[0] ?? "";
  const content = documented?.content?.[type];
  if (content === undefined)
    return [`${response.status} ${type} ${(await response.text()).slice(0, 200)}`];
  if (content.schema === undefined) return [];
  const answer = type === "application/json" ? await response.json() : await firstOf(response);
  const { error } = z.fromJSONSchema(content.schema).safeParse(answer);
  await response.body?.cancel().catch(() => undefined);
  return error === undefined ? [] : [z.prettifyError(error)];
}
