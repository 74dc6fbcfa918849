/**
 * An answer has an outbox row of its own, named after its command: it belongs to no turn, grants no
 * credit and is in no transcript.
 */
import { hash52 } from "../../domain/key.ts";
import type { OutboxRow } from "../../domain/ports/index.ts";
import type { CommandAsked } from "../../machines/events/events.ts";
import type { Configs } from "../journal/config-versions.ts";
import type { TextBody } from "../outbox/row-body.ts";
import type { HostStep } from "../protocol/host-protocol.ts";

export interface CommandAnswer {
  readonly asked: CommandAsked;
  readonly step: Pick<HostStep, "conv" | "key" | "at">;
  readonly text: string;
  /** Number of the answer to one command, from 0. */
  readonly index?: number;
}

export function commandRow(
  configs: Pick<Configs, "settings">,
  { asked, step, text, index = 0 }: CommandAnswer,
): OutboxRow {
  const { conv, key, at } = step;
  const { route, messageId } = asked;
  const { replyTo, turn } = configs.settings(key);
  const replies = replyTo === "auto" ? route.chat.kind !== "direct" : replyTo !== "off";
  const expiresAt = at + turn.replyAgeMsMax;
  const body: TextBody = {
    route,
    text,
    replyTo: replies ? messageId : null,
    quote: false,
    expiresAt,
  };
  // Deterministic: the same after a restart and in a replay.
  const id = `command-${hash52(JSON.stringify([conv, at, messageId])).toString(36)}`;
  return {
    id: `${id}:${index}`,
    conv,
    key,
    turnId: id,
    index,
    kind: "notice",
    state: "pending",
    createdAt: at,
    dueAt: at,
    attempts: 0,
    doubts: 0,
    messageIds: null,
    error: null,
    body: JSON.stringify(body),
  };
}
