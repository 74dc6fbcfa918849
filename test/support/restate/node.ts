/** Nodes in the process of a test. */
import { createRuntimeEvents } from "../../../src/actors/protocol/runtime-events.ts";
import { createRuntime } from "../../../src/actors/runtime/runtime.ts";
import { createScriptedDriver } from "../../../src/adapters/agents/scripted/driver.ts";
import { openKeptStore } from "../../../src/adapters/stores/sqlite-store.ts";
import { createSystemClock } from "../../../src/adapters/system/clock.ts";
import { sha256 } from "../../../src/adapters/system/digest.ts";
import { createIds, createRandom } from "../../../src/adapters/system/ids.ts";
import { scenarioConfig } from "../../../src/domain/config/index.ts";
import type { AgentDriver, Clock, Log } from "../../../src/domain/ports/index.ts";
import { untold } from "../../../src/engines/restate/feed/node-mirror.ts";
import { type NodeOptions, openNode, type RestateNode } from "../../../src/engines/restate/node.ts";
import { createNodeNumbers } from "../../../src/engines/restate/numbers/node-numbers.ts";
import { readyDirectory } from "../runtime/ready-directory.ts";

/** Numbers of a node that is alone. */
export const ownNumbers = (clock: Clock) => createNodeNumbers({ clock, call: async () => 0 });

/** A node for tests of what it serves besides conversations. */
export const openTestNode = (options: Partial<NodeOptions> = {}): Promise<RestateNode> =>
  openNode({
    clock: createSystemClock(),
    log: () => undefined,
    retentionMs: () => 86_400_000,
    open: openKeptStore,
    rows: untold,
    numbers: ownNumbers(options.clock ?? createSystemClock()),
    create: () => {
      throw new Error("no conversation is active in this test");
    },
    onSaid: () => undefined,
    ...options,
  });

export interface TalkingNode extends RestateNode {
  /** Resolves when the conversation has been active, and is not any more. */
  rested(key: string): Promise<void>;
  /** Resolves when so many texts were sent in it. */
  says(key: string, count: number): Promise<void>;
  sent(key: string): readonly string[];
  /** Resolves when so many turns of the agent have begun. */
  begins(count: number): Promise<void>;
  /** How often it has become active. */
  activations(key: string): number;
}

const times = { lookMs: 25, restMs: 200 };
/** A message waits this long for more: longer than a conversation that rests is kept. */
const debounceMs = 1_500;

/**
 * A node with runtimes, an agent that says it is there, and a platform that takes everything.
 * @param port of another node whose calls it goes on with. @default a free one
 * @param times ms. `waitMs`: how long a message waits for more; `afterMs`: how long the agent thinks
 * @param parts of the node that are others than in most tests
 */
export async function openTalkingNode(
  port = 0,
  {
    waitMs = debounceMs,
    afterMs = 0,
  }: { readonly waitMs?: number; readonly afterMs?: number } = {},
  parts: Pick<Partial<NodeOptions>, "rows" | "numbers" | "retentionMs"> = {},
): Promise<TalkingNode> {
  const clock = createSystemClock();
  let turns = 0;
  const driver = createScriptedDriver({
    next: () => {
      turns += 1;
      changed();
      return { afterMs, steps: [{ text: "I am here." }] };
    },
  }) as AgentDriver;
  const active = new Set<string>();
  const activations = new Map<string, number>();
  const sent = new Map<string, string[]>();
  const waiting: (() => void)[] = [];
  const changed = () => {
    for (const look of waiting.splice(0)) look();
  };
  const until = async (holds: () => boolean) => {
    while (!holds()) await new Promise<void>((look) => waiting.push(look));
  };
  const config = scenarioConfig({
    agents: { defaults: { driver: { kind: "scripted" } } },
    messages: { inbound: { debounceMs: waitMs, debounceMaxMs: waitMs } },
  });
  const log: Log = () => undefined;
  const node = await openTestNode({
    ...parts,
    clock,
    times,
    port,
    create(key, own) {
      const runtime = createRuntime({
        ...own,
        ids: createIds(),
        random: createRandom(),
        digest: sha256,
        config,
        drivers: new Map([["scripted", driver]]),
        directory: readyDirectory(async ({ text }) => {
          sent.set(key, [...(sent.get(key) ?? []), text]);
          changed();
          return { messageIds: [`${key} ${text}`] };
        }),
        events: createRuntimeEvents(log),
        workers: 0,
        housekeeping: false,
      });
      active.add(key);
      activations.set(key, (activations.get(key) ?? 0) + 1);
      return {
        ...runtime,
        async stop() {
          await runtime.stop();
          active.delete(key);
          changed();
        },
      };
    },
  });
  return {
    ...node,
    rested: (key) => until(() => activations.has(key) && !active.has(key)),
    begins: (count) => until(() => turns >= count),
    says: (key, count) => until(() => (sent.get(key)?.length ?? 0) >= count),
    sent: (key) => sent.get(key) ?? [],
    activations: (key) => activations.get(key) ?? 0,
  };
}
