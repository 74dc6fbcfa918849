/**
 * Turns that kill their host, in a whole runtime with a real worker thread: the other rooms of that
 * host pause once and go on, turns that only shared the thread are answered, and the killer has one
 * outcome.
 */

import { afterEach, expect, test } from "vitest";
import type { Runtime } from "../../../src/actors/protocol/runtime.ts";
import { createRuntimeEvents } from "../../../src/actors/protocol/runtime-events.ts";
import { createRuntime } from "../../../src/actors/runtime/runtime.ts";
import { scenarioConfig } from "../../../src/domain/config/index.ts";
import { inboundSchema } from "../../../src/domain/message.ts";
import type { StreamLine } from "../../../src/domain/stream.ts";
import { builtUrl } from "../../support/built/files.ts";
import { readyDirectory } from "../../support/runtime/ready-directory.ts";
import { systemPorts } from "../../support/runtime/system-ports.ts";
import { createTestStore } from "../../support/runtime/test-store.ts";

let runtime: Runtime;
const lines: StreamLine[] = [];
const sent: string[] = [];

async function start(): Promise<void> {
  const send = async ({ text, route }: { text: string; route: { chat: { id: string } } }) => {
    sent.push(`${route.chat.id}: ${text}`);
    return { messageIds: [`p${sent.length}`] };
  };
  runtime = createRuntime({
    ...systemPorts(),
    store: createTestStore(),
    config: scenarioConfig({
      agents: { defaults: { driver: { kind: "odd" } } },
      messages: { ackReaction: "", inbound: { debounceMs: 5, debounceMaxMs: 20 } },
      errors: { notifyRoom: "never" },
    }),
    drivers: new Map(),
    hostModule: builtUrl("test/host-module").href,
    directory: readyDirectory(send),
    events: createRuntimeEvents(() => undefined, { line: (line) => lines.push(line) }),
    workers: 1,
  });
  await runtime.start();
}

afterEach(async () => {
  await runtime.stop();
  lines.length = 0;
  sent.length = 0;
});

let ids = 0;
const say = (room: string, text: string) => {
  ids += 1;
  const message = inboundSchema.parse({
    channel: "telegram",
    id: `m${ids}`,
    author: { id: "ann" },
    text,
    chat: { id: room, kind: "group" },
    mentions: [{ id: "bot", isSelf: true }],
  });
  const options = { wait: "decision" } as const;
  return runtime.ingest("telegram", "default", [{ type: "message", message }], options);
};
const ends = (room: string) =>
  lines.flatMap((line) =>
    "event" in line && line.event === "agent_end" && String(line.key).endsWith(`:${room}`)
      ? [`${String(line.outcome)} ${String(line.reason ?? "")}`.trim()]
      : [],
  );
const lost = () => lines.filter((line) => "system" in line && line.system === "host.lost");
const starts = (room: string) =>
  lines.filter(
    (line) =>
      "event" in line && line.event === "agent_start" && String(line.key).endsWith(`:${room}`),
  );
async function until(holds: () => boolean, what: string): Promise<void> {
  for (let tries = 0; tries < 2_000 && !holds(); tries += 1)
    await new Promise((resolve) => setTimeout(resolve, 10));
  expect(holds(), `${what}: ${JSON.stringify(sent)} ${JSON.stringify(lines.slice(-8))}`).toBe(true);
}

test.each(["exit", "loop"])(
  "a turn that kills its host by %s costs the other rooms one pause, and ends failed once",
  async (word) => {
    await start();
    await say("calm", "nap");
    await until(() => starts("calm").length === 1, "the calm turn");
    await say("bad", word);
    await until(() => lost().length === 1, "the host is lost");
    // The killer is tried again elsewhere, while these rooms are decided and answered.
    for (let n = 1; n <= 3; n += 1) {
      await say(`other${n}`, "sleep");
      await until(() => sent.includes(`other${n}: done`), "an answer");
    }
    await until(() => ends("calm").length === 1 && ends("bad").length === 1, "both ends");
    // A turn has its outcome when its agent ends; what it said is on its way then.
    await until(() => sent.some((text) => text.startsWith("calm")), "the calm answer");
    expect(ends("bad")).toEqual(["failed host-lost"]);
    expect(ends("calm")).toEqual(["replied"]);
    expect(sent.filter((text) => text.startsWith("calm"))).toEqual(["calm: napped, try 2"]);
    expect(lost()).toHaveLength(1);
    expect(runtime.status().hosts).toMatchObject([{ state: "ready", restarts: 1 }]);
    expect(runtime.status().turns).toEqual({ running: 0, waiting: 0 });
  },
  600_000,
);
