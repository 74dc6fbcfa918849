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
import type { SharedSource } from "../../adapters/stores/shared-rows-source.ts";
import { openKeptStore } from "../../adapters/stores/sqlite-store.ts";
import { createSystemClock } from "../../adapters/system/clock.ts";
import { sha256 } from "../../adapters/system/digest.ts";
import type { EarshotConfig } from "../../domain/config/index.ts";
import { EarshotError } from "../../domain/errors.ts";
import { engineLimits } from "../../domain/ports/engine/engine-limits.ts";
import { ingressCaller } from "../../engines/restate/calls/ingress-call.ts";
import { untold } from "../../engines/restate/feed/node-mirror.ts";
import { fillConversation } from "../../engines/restate/filling.ts";
import { openNode } from "../../engines/restate/node.ts";
import { registerNodes } from "../../engines/restate/registration.ts";
import {
  type Filled,
  fillCursors,
  fillRows,
  type SharedFillPorts,
} from "../../engines/restate/shared/filling.ts";
import { accessService, scheduleService } from "../../engines/restate/shared/wire.ts";
import { type MovedFile, moveFiles } from "./moved-files.ts";

export interface Moved {
  /** Session key of a conversation. */
  readonly key: string;
  readonly result: Filled;
  readonly rows: number;
}

/** What nodes share besides conversations. */
export interface MovedShared {
  /** `cursors`: how far the account has read. */
  readonly shared: "access" | "schedules" | "cursors";
  /** As `channel:account`; null: it is of no account. */
  readonly account: string | null;
  readonly result: Filled;
  readonly rows: number;
}

async function moveShared(
  { access, schedules, cursors }: SharedSource,
  ports: SharedFillPorts,
  onMoved: (moved: MovedShared) => void,
): Promise<void> {
  for (const [shared, service, rows] of [
    ["access", accessService, access],
    ["schedules", scheduleService, schedules],
  ] as const) {
    if (rows.length === 0) continue;
    const result = await fillRows(ports, service, rows);
    onMoved({ shared, account: null, result, rows: rows.length });
  }
  for (const { channel, account, values } of cursors) {
    const result = await fillCursors(ports, channel, account, values);
    const rows = Object.keys(values).length;
    onMoved({ shared: "cursors", account: `${channel}:${account}`, result, rows });
  }
}

/**
 * Gives to Restate what nodes share, files, and then each conversation, some at a time.
 * @param stateDir of the daemon
 * @param onMoved called with each, conversations in no order
 * @throws EarshotError EAR_PORT_TAKEN, EAR_HTTP_FAILED, EAR_HTTP_REFUSED, EAR_STORE_FAILED: it may be called again
 * and goes on with what is missing.
 */
export async function migrateToRestate(
  source: Pick<ConversationSource, "conversations" | "shared">,
  stateDir: string,
  config: Pick<EarshotConfig, "engine" | "messages">,
  onMoved: (moved: Moved | MovedShared | MovedFile) => void,
): Promise<void> {
  const { ingress, admin, host, port, nodes, identityKeys } = config.engine;
  const clock = createSystemClock();
  const node = await openNode({
    clock,
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
    const call = ingressCaller(ports.ingress);
    await moveShared(source.shared(), { call, digest: sha256 }, onMoved);
    // Before the rows that name them.
    await moveFiles({ clock, call, config, stateDir }, onMoved);
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
