/**
 * The conversations of a daemon that does not run are given to an engine
 * ======================================================================
 * While it runs it stands in for the node of this machine, so that Restate has somebody to call and no node is
 * in a room meanwhile: a conversation that becomes active waits for the node that starts afterwards.
 */
import type {
  ConversationSource,
  WholeConversation,
} from "../../adapters/stores/conversation-rows.ts";
import { openKeptStore } from "../../adapters/stores/sqlite-store.ts";
import { createSystemClock } from "../../adapters/system/clock.ts";
import { sha256 } from "../../adapters/system/digest.ts";
import type { EarshotConfig } from "../../domain/config/index.ts";
import { EarshotError } from "../../domain/errors.ts";
import { engineLimits } from "../../domain/ports/engine/engine-limits.ts";
import { untold } from "../../engines/restate/feed/node-mirror.ts";
import { type Filled, fillConversation } from "../../engines/restate/filling.ts";
import { openNode } from "../../engines/restate/node.ts";
import { registerNodes } from "../../engines/restate/registration.ts";

export interface Moved {
  readonly key: string;
  readonly result: Filled;
  readonly rows: number;
}

/**
 * Gives each conversation to Restate, some at a time.
 * @param onMoved called with each, in no order
 * @throws EarshotError EAR_PORT_TAKEN, EAR_HTTP_FAILED, EAR_HTTP_REFUSED, EAR_STORE_FAILED: it may be called again
 * and goes on with what is missing.
 */
export async function migrateToRestate(
  source: Pick<ConversationSource, "conversations">,
  { ingress, admin, host, port, nodes, identityKeys }: EarshotConfig["engine"],
  onMoved: (moved: Moved) => void,
): Promise<void> {
  const node = await openNode({
    clock: createSystemClock(),
    log: () => undefined,
    host,
    port,
    identityKeys,
    // None of them is active here.
    retentionMs: () => Number.POSITIVE_INFINITY,
    open: openKeptStore,
    rows: untold,
    numbers: {
      above: async () => undefined,
      next() {
        throw new EarshotError("EAR_ASSERT", "Cannot number a row here: nothing is stepped.");
      },
    },
    create() {
      throw new EarshotError(
        "EAR_HOST_LOST",
        "Cannot step a conversation here: the others are being moved. A node does, once one has started.",
      );
    },
    onSaid: () => undefined,
  });
  const trimmed = (url: string) => url.replace(/\/$/u, "");
  const ports = { ingress: trimmed(ingress), digest: sha256 };
  const waiting = source.conversations()[Symbol.iterator]();
  let failure: unknown = null;
  const carry = async () => {
    for (let one = waiting.next(); !one.done && failure === null; one = waiting.next()) {
      const { key, rows, dueAt }: WholeConversation = one.value;
      const result = await fillConversation(ports, key, rows, dueAt);
      onMoved({ key, result, rows: rows.length });
    }
  };
  try {
    await registerNodes(trimmed(admin), nodes ?? `http://${host}:${node.port}`);
    const carried = Array.from({ length: engineLimits.fillsAtOnce }, () =>
      carry().catch((error: unknown) => {
        failure ??= error;
      }),
    );
    await Promise.all(carried);
  } finally {
    await node.close();
  }
  if (failure !== null) throw failure;
}
