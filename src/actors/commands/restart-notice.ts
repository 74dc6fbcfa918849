/**
 * The notice after a restart
 * ==========================
 * The author of `/restart` gets a message when it is done. The notice is stored before the shutdown and
 * becomes an outbox row in the first commit of the next start, so it is sent once, also if that
 * start follows a crash.
 */
import type { Millis } from "../../domain/message.ts";
import type { OutboxRow, Store, StoreWrite } from "../../domain/ports/index.ts";
import type { CommandAsked } from "../../machines/events/events.ts";
import type { TextBody } from "../outbox/row-body.ts";
import type { HostStep } from "../protocol/host-protocol.ts";
import type { CommandPorts } from "./ports.ts";
import { commandRow } from "./reply-row.ts";

const name = "restart";

/** Stores the notice. */
export async function recordRestartNotice(
  ports: CommandPorts,
  asked: CommandAsked,
  step: HostStep,
): Promise<void> {
  const row = commandRow(ports.configs, { asked, step, text: "I am back.", index: 1 });
  await ports.keep([{ kind: "meta", name, value: JSON.stringify(row) }]);
}

/** The writes of the first commit after a restart. */
export async function restartNoticeWrites(
  store: Store,
  now: Millis,
): Promise<readonly StoreWrite[]> {
  const noted = await store.meta(name);
  if (noted === null || noted === "") return [];
  const row = JSON.parse(noted) as OutboxRow;
  const body = JSON.parse(row.body) as TextBody;
  const late = now - row.createdAt;
  const renewed: TextBody = { ...body, expiresAt: body.expiresAt + Math.max(0, late) };
  return [
    {
      kind: "outbox",
      row: { ...row, createdAt: now, dueAt: now, body: JSON.stringify(renewed) },
    },
    { kind: "meta", name, value: "" },
  ];
}
