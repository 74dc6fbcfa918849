/**
 * What one answered message costs: rows of the journal, and trips between the main thread and its
 * host. A trip is a batch of events with its answer, the order of a run, or a batch of reports. What
 * pages are shown while an answer grows (deltas) and the watchdog's pings are none.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MessagePort } from "node:worker_threads";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createRuntimeEvents } from "../../../src/actors/protocol/runtime-events.ts";
import { createRuntime } from "../../../src/actors/runtime/runtime.ts";
import { drivers } from "../../../src/adapters/agents/index.ts";
import { openSqliteStore } from "../../../src/adapters/stores/sqlite-store.ts";
import { scenarioConfig } from "../../../src/domain/config/index.ts";
import { inboundSchema } from "../../../src/domain/message.ts";
import { readyDirectory } from "../../support/runtime/ready-directory.ts";
import { systemPorts } from "../../support/runtime/system-ports.ts";

const trips: string[] = [];
let folder = "";

/** The method that a comlink message calls; undefined for an answer. */
const methodOf = (message: { readonly type?: string; readonly path?: readonly string[] } | null) =>
  message?.type === "APPLY" ? message.path?.at(-1) : undefined;
const counted: ReadonlySet<string | undefined> = new Set(["apply", "run", "onReports"]);

function count(message: Parameters<typeof methodOf>[0]): void {
  const method = methodOf(message);
  if (method !== undefined && counted.has(method)) trips.push(method);
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "earshot-one-answer-"));
  const { postMessage, addEventListener } = MessagePort.prototype as MessagePort & EventTarget;
  vi.spyOn(MessagePort.prototype, "postMessage").mockImplementation(function (
    this: MessagePort,
    ...args: Parameters<typeof postMessage>
  ) {
    count(args[0]);
    return postMessage.apply(this, args);
  });
  vi.spyOn(MessagePort.prototype as unknown as EventTarget, "addEventListener").mockImplementation(
    function (
      this: EventTarget,
      ...[type, listener, options]: Parameters<typeof addEventListener>
    ) {
      // The port hears each message from its host once, however many listeners it has.
      if (type === "message" && typeof listener === "function")
        addEventListener.call(this, type, (event) => count((event as MessageEvent).data), options);
      return addEventListener.call(this, type, listener, options);
    },
  );
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

interface Cost {
  readonly rows: readonly string[];
  readonly trips: readonly string[];
}

/** What the second answer of a chat costs: the first one has loaded what is loaded once. */
async function costOf(chat: { id: string; kind: "direct" | "group" }, mentioned: boolean) {
  const rows: string[] = [];
  const store = await openSqliteStore({ path: join(folder, "earshot.db") });
  const commit = store.commit.bind(store);
  store.commit = async (writes) => {
    for (const write of writes) if (write.kind === "event") rows.push(JSON.parse(write.body).type);
    return commit(writes);
  };
  const run = {
    afterMs: 20,
    steps: [{ text: "Hello " }, { waitMs: 20 }, { text: "Ann." }, { messageEnd: true }],
  };
  const driver = { kind: "scripted", runs: [run, run] };
  const runtime = createRuntime({
    ...systemPorts(),
    store,
    config: scenarioConfig({
      agents: { defaults: { driver } },
      ...(mentioned ? {} : { engagement: { activation: "always" } }),
    }),
    drivers,
    directory: readyDirectory(async () => ({ messageIds: [`p${rows.length}`] })),
    events: createRuntimeEvents(() => undefined),
    workers: 1,
  });
  await runtime.start();
  const say = async (id: string): Promise<Cost> => {
    rows.length = 0;
    trips.length = 0;
    const message = inboundSchema.parse({
      channel: "telegram",
      chat,
      id,
      author: { id: "ann" },
      mentions: mentioned ? [{ id: "bot", isSelf: true }] : [],
      text: "is the build green?",
    });
    await runtime.ingest("telegram", "default", [{ type: "message", message }]);
    const delivered = () => expect(rows).toContain("delivery.sent");
    await vi.waitFor(delivered, { timeout: 20_000, interval: 10 });
    await runtime.settled();
    return { rows: [...rows], trips: [...trips] };
  };
  await say("m1");
  const cost = await say("m2");
  await runtime.stop();
  await store.close();
  return cost;
}

test.each(["direct", "group"] as const)("a question in a %s chat", async (kind) => {
  const { rows, trips } = await costOf({ id: "ann", kind }, true);
  expect(rows).toEqual([
    "message.received",
    "deadline.due",
    "lane.granted",
    "agent.reported",
    "delivery.sent",
  ]);
  expect(trips).toEqual(["apply", "apply", "run", "onReports", "apply", "apply"]);
});

test("a message whose answer shows typing with its first words", async () => {
  const { rows, trips } = await costOf({ id: "room", kind: "group" }, false);
  expect(rows.length).toBeLessThanOrEqual(6);
  expect(trips.filter((what) => what === "apply").length).toBeLessThanOrEqual(6);
});
