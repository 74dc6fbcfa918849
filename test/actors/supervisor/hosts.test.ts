/** The same runtime with real worker threads, real time and a real SQLite file. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Runtime } from "../../../src/actors/protocol/runtime.ts";
import { createRuntimeEvents } from "../../../src/actors/protocol/runtime-events.ts";
import { createRuntime } from "../../../src/actors/runtime/runtime.ts";
import { drivers } from "../../../src/adapters/agents/index.ts";
import { openSqliteStore } from "../../../src/adapters/stores/sqlite-store.ts";
import { scenarioConfig } from "../../../src/domain/config/index.ts";
import { inboundSchema } from "../../../src/domain/message.ts";
import type { Store } from "../../../src/domain/ports/index.ts";
import type { StreamLine } from "../../../src/domain/stream.ts";
import { inTurn } from "../../support/rounds.ts";
import { readyDirectory } from "../../support/runtime/ready-directory.ts";
import { systemPorts } from "../../support/runtime/system-ports.ts";

let folder = "";
let store: Store;
let runtime: Runtime;
const lines: StreamLine[] = [];
const sent: string[] = [];

const send = async ({ text }: { text: string }) => {
  sent.push(text);
  return { messageIds: [`p${sent.length}`] };
};

async function start(workers: number): Promise<void> {
  store = await openSqliteStore({ path: join(folder, "earshot.db") });
  runtime = createRuntime({
    ...systemPorts(),
    store,
    config: scenarioConfig({
      agents: {
        defaults: { driver: { kind: "scripted", runs: [{ steps: [{ text: "from the host" }] }] } },
      },
      messages: { inbound: { debounceMs: 10, debounceMaxMs: 50 } },
    }),
    drivers,
    directory: readyDirectory(send),
    events: createRuntimeEvents(() => undefined, { line: (line) => lines.push(line) }),
    workers,
  });
  await runtime.start();
}
async function stop(): Promise<void> {
  await runtime.stop({ drainMs: 5_000 });
  await store.close();
}

const say = (id: string, peer: string) =>
  runtime.ingest(
    "telegram",
    "default",
    [
      {
        type: "message",
        message: inboundSchema.parse({
          channel: "telegram",
          chat: { id: peer, kind: "group" },
          id,
          author: { id: "ann" },
          mentions: [{ id: "bot", isSelf: true }],
          text: "hello",
        }),
      },
    ],
    { wait: "decision" },
  );
async function until(holds: () => boolean, what: string): Promise<void> {
  for (let tries = 0; tries < 1_000 && !holds(); tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(holds(), what).toBe(true);
}
const ended = () => lines.filter((line) => "event" in line && line.event === "agent_end");

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "earshot-hosts-"));
  lines.length = 0;
  sent.length = 0;
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test.each(inTurn([0, 2], 1))(
  "with %i workers a message is decided, answered by its host and sent",
  async (workers) => {
    await start(workers);
    const [heard] = await say("m1", "room");
    expect(heard?.receivers[0]?.verdict).toMatchObject({ decision: "engage", rule: "mention" });
    await until(() => sent.length === 1 && ended().length === 1, "answered");
    expect(sent).toEqual(["from the host"]);
    const [why] = await runtime.why("m1");
    expect(why?.fate).toMatchObject({ turn: 1, outcome: "replied" });
    await stop();
  },
);

test("a host that crashes in traffic loses and doubles no decision", async () => {
  await start(1);
  const rooms = Array.from({ length: 40 }, (_, index) => `r${index}`);
  const first = Promise.all(rooms.map((room) => say(`a-${room}`, room)));
  await runtime.crashHost();
  await first;
  await Promise.all(rooms.map((room) => say(`b-${room}`, room)));
  const decided = lines.flatMap((line) => ("decision" in line ? [line.id] : []));
  expect(new Set(decided).size).toBe(80);
  expect(decided).toHaveLength(80);
  await stop();
});

test("records written by one process are continued by the next", async () => {
  await start(0);
  for (const room of ["r1", "r2", "r3"]) await say(`m-${room}`, room);
  await until(() => ended().length === 3, "three answers");
  await stop();

  await start(0);
  expect(await store.dirty(10)).toEqual([]);
  expect(await store.meta("sweptSeq")).toBe(String(await store.lastSeq()));
  await say("m-again", "r1");
  await until(() => ended().length === 4, "a fourth answer");
  const turns = ended().flatMap((line) => ("turn" in line ? [line.turn] : []));
  expect(turns).toEqual([1, 1, 1, 2]);
  await stop();
});
