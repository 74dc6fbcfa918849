/**
 * A call that fails again and again is known from then on until it has stored rows or is over, whatever else it stores:
 * marks of its attempts and what people say meanwhile are no progress. One that goes on is not known, however often it had
 * failed before.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SimulatedClock } from "../../../../src/actors/simulation/simulated-clock.ts";
import { engineLimits } from "../../../../src/domain/ports/engine/engine-limits.ts";
import {
  createFailingCalls,
  type FailingCalls,
} from "../../../../src/engines/restate/calls/failing-calls.ts";

/** What the server says of one call. */
interface Call {
  key: string;
  retries: number;
  failure: string | null;
  modified: string;
  revision: number | null;
  service?: string;
}

const key = "agent:main:webhook:group:#ann's";
const stuck = (): Call => ({
  key,
  retries: 7,
  failure: "[500 Internal] no such table\n  at once",
  modified: "2026-01-01T00:00:10",
  revision: 3,
});
const first = Date.parse("2026-01-01T00:00:10Z");
let calls: Map<string, Call>;
let clock: SimulatedClock;
let failing: FailingCalls;
let logged: string[];
let looks: number;
/** Called before a revision is read. */
let onRevision: () => void;
const server = createServer(async (request, response) => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const { query } = JSON.parse(Buffer.concat(parts).toString()) as { query: string };
  response.end(JSON.stringify({ rows: answer(query) }));
});

function answer(query: string): readonly object[] {
  if (query.includes("FROM sys_invocation_state")) {
    if (query.includes("retry_count >=")) looks += 1;
    return [...calls].map(([id, { retries, failure }]) => ({
      id,
      retry_count: retries,
      last_failure: failure,
    }));
  }
  if (query.includes("FROM sys_invocation_status"))
    return [...calls]
      .filter(([id]) => query.includes(`'${id}'`))
      .map(([id, { key: of, modified, service = "conversation" }]) => ({
        id,
        target_service_name: service,
        target_service_key: of,
        target_handler_name: "run",
        modified_at: modified,
      }));
  onRevision();
  const [, quoted = ""] = /service_key = '((?:[^']|'')*)' AND/u.exec(query) ?? [];
  const of = [...calls.values()].find((call) => call.key === quoted.replaceAll("''", "'"));
  return typeof of?.revision === "number" ? [{ value_utf8: String(of.revision) }] : [];
}

beforeEach(async () => {
  calls = new Map();
  logged = [];
  looks = 0;
  onRevision = () => undefined;
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  clock = new SimulatedClock(first + 60_000);
  failing = createFailingCalls({
    clock,
    log: (_, event) => void logged.push(event),
    admin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    object: "conversation",
    handler: "run",
  });
});
afterEach(async () => {
  await failing.stop();
  await new Promise((done) => server.close(done));
  server.closeAllConnections();
});

/** Resolves when it has looked twice more, so that what changed before is known. */
async function look(): Promise<void> {
  failing.start();
  const after = looks + 2;
  await expect
    .poll(() => {
      if (looks < after) clock.advanceTo(clock.now() + engineLimits.failingCallsLookMs);
      return looks;
    })
    .toBeGreaterThanOrEqual(after);
}
const shown = () => failing.list().map(({ since, failures, why }) => ({ since, failures, why }));

test("what people say to it and the marks of its attempts do not make it look as if it went on", async () => {
  calls.set("inv_1", stuck());
  await look();
  expect(shown()).toEqual([{ since: first, failures: 7, why: "no such table" }]);
  // An attempt that stores something has no failure until it ends.
  calls.set("inv_1", { ...stuck(), retries: 8, failure: "", modified: "2026-01-01T00:00:40" });
  await look();
  expect(shown()).toEqual([{ since: first, failures: 8, why: "no such table" }]);
  calls.set("inv_1", { ...stuck(), retries: 9, failure: "[500] worse", revision: 3 });
  await look();
  expect(shown()).toEqual([{ since: first, failures: 9, why: "worse" }]);
  expect(logged).toEqual(["engine.failing-call"]);
});

test("it is forgotten when it has stored rows or is over, and counts from then when it fails again", async () => {
  calls.set("inv_1", { ...stuck(), revision: null });
  await look();
  expect(shown()).toHaveLength(1);
  calls.set("inv_1", { ...stuck(), failure: null, modified: "2026-01-01T00:01:00", revision: 1 });
  await look();
  expect(shown()).toEqual([]);
  calls.set("inv_1", { ...stuck(), modified: "2026-01-01T00:01:00", revision: 1 });
  await look();
  expect(shown()).toMatchObject([{ since: Date.parse("2026-01-01T00:01:00Z") }]);
  calls.clear();
  await look();
  expect(shown()).toEqual([]);
});

test("where the server's clock is ahead it fails since it was seen, not in some time to come", async () => {
  calls.set("inv_1", { ...stuck(), modified: "2027-01-01T00:00:00" });
  const seenFrom = clock.now();
  await look();
  const [{ since } = { since: 0 }] = shown();
  expect(since).toBeGreaterThanOrEqual(seenFrom);
  expect(since).toBeLessThanOrEqual(clock.now());
});

test("one that stores rows while it is looked at goes on", async () => {
  calls.set("inv_1", stuck());
  onRevision = () => calls.set("inv_1", { ...stuck(), failure: "", revision: 4 });
  await look();
  expect(shown()).toEqual([]);
});

test("a call that goes on is none, however often it had failed before", async () => {
  calls.set("inv_1", { ...stuck(), failure: "" });
  await look();
  expect(shown()).toEqual([]);
  expect(logged).toEqual([]);
});

test("calls of other objects take no place from conversations, of which so many are shown", async () => {
  for (let index = 0; index < engineLimits.failingCallsShown; index += 1)
    calls.set(`inv_other${index}`, { ...stuck(), service: "inbox" });
  for (let index = 0; index <= engineLimits.failingCallsShown; index += 1)
    calls.set(`inv_own${index}`, { ...stuck(), key: `agent:main:webhook:group:#${index}` });
  await look();
  expect(shown()).toHaveLength(engineLimits.failingCallsShown);
});
