/** A node for tests: the real objects, with the settings of an empty config and what is performed handed to the test. */
import { planStep } from "../../../src/actors/effects/effect-planner.ts";
import { settingsFor } from "../../../src/actors/host/conversation-settings.ts";
import type { HostStep } from "../../../src/actors/protocol/host-protocol.ts";
import { parseConfig } from "../../../src/domain/config/index.ts";
import type { ConversationSettings } from "../../../src/domain/settings.ts";
import type { KeptWrite } from "../../../src/engines/restate/advance.ts";
import type { Performance } from "../../../src/engines/restate/conversation-object.ts";
import { type NodeOptions, openNode, type RestateNode } from "../../../src/engines/restate/node.ts";

const config = parseConfig({});
export const settingsOfNode = (key: string): ConversationSettings => settingsFor(config, key, 1);

/** The rows that the runtime plans, of the kinds that the object keeps. */
export function keptRows(
  steps: readonly HostStep[],
  settings: (key: string) => ConversationSettings = settingsOfNode,
): readonly KeptWrite[] {
  const plan = {
    sessions: {
      ofTurn: () => undefined,
      forget: () => undefined,
      number: (line: object) => ({ ...line, id: 1 }),
      opening: (who: object) => ({ ...who, kind: "session", op: "open", sessionId: "s" }),
    },
    agentOf: () => "main",
    unwritten: new Map(),
    commands: new Map(),
    settings,
    directory: { outbound: () => null },
  } as unknown as Parameters<typeof planStep>[1];
  return steps
    .flatMap((step) => planStep(step, plan).writes)
    .flatMap((write) =>
      write.kind === "deadline" || write.kind === "outbox" || write.kind === "run" ? [write] : [],
    );
}

interface TestNode extends RestateNode {
  /** What was performed, in order. */
  readonly performed: Performance[];
  /** How often it was asked to step. */
  steps(): number;
}

export async function openTestNode(
  options: Partial<NodeOptions> & { readonly now?: () => number } = {},
  settings: (key: string) => ConversationSettings = settingsOfNode,
): Promise<TestNode> {
  const performed: Performance[] = [];
  let steps = 0;
  const { now = Date.now, perform, ...more } = options;
  const node = await openNode({
    settings,
    plan: (done) => keptRows(done, settings),
    clock: {
      now: () => {
        steps += 1;
        return now();
      },
    },
    cfg: () => 1,
    onSaid: () => undefined,
    ...more,
    perform: async (performance) => {
      performed.push(performance);
      await perform?.(performance);
    },
  });
  return { ...node, performed, steps: () => steps };
}
