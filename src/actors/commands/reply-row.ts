/**
 * The row of an answer
 * ====================
 * An outbox row of its own for what a command is answered with, named by what asked for it: it belongs to
 * no turn, grants no credit and is in no transcript.
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
  /** Counts the answers to one command from 0. */
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
  // The same for the same order, in every life and in every replay.
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
