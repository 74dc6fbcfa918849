/**
 * An answer has an outbox row of its own, named after its command: it belongs to no turn, grants no
 * credit and is in no transcript.
 */
import { hash52 } from "../../domain/key.ts";
import { limits } from "../../domain/limits.ts";
import type { OutboxRow } from "../../domain/ports/index.ts";
import type { CommandAsked } from "../../machines/events/events.ts";
import type { Configs } from "../journal/config-versions.ts";
import type { ReactionBody, TextBody } from "../outbox/row-body.ts";
import type { HostStep } from "../protocol/host-protocol.ts";

export interface CommandAnswer {
  readonly asked: CommandAsked;
  readonly step: Pick<HostStep, "conv" | "key" | "at">;
  readonly text: string;
  /** Number of the answer to one command, from 0. */
  readonly index?: number;
}

/** The reaction that acknowledges a command where words would only disturb. */
export const acknowledgement = "👌";

/** A command's answer as a reaction on its message. */
export function commandReaction({ asked, step }: Omit<CommandAnswer, "text">): OutboxRow {
  const { route, messageId: message } = asked;
  const expiresAt = step.at + limits.reactionAgeMsMax;
  const body: ReactionBody = { route, message, emoji: acknowledgement, expiresAt };
  return { ...rowOf(asked, step, 0), kind: "react", body: JSON.stringify(body) };
}

export function commandRow(
  configs: Pick<Configs, "settings">,
  { asked, step, text, index = 0 }: CommandAnswer,
): OutboxRow {
  const { route, messageId } = asked;
  const { replyTo, turn } = configs.settings(step.key);
  const replies = replyTo === "auto" ? route.chat.kind !== "direct" : replyTo !== "off";
  const expiresAt = step.at + turn.replyAgeMsMax;
  const body: TextBody = {
    route,
    text,
    replyTo: replies ? messageId : null,
    quote: false,
    expiresAt,
  };
  return { ...rowOf(asked, step, index), kind: "notice", body: JSON.stringify(body) };
}

function rowOf(
  { messageId }: CommandAsked,
  { conv, key, at }: CommandAnswer["step"],
  index: number,
): Omit<OutboxRow, "kind" | "body"> {
  // Deterministic: the same after a restart and in a replay.
  const id = `command-${hash52(JSON.stringify([conv, at, messageId])).toString(36)}`;
  return {
    id: `${id}:${index}`,
    conv,
    key,
    turnId: id,
    index,
    state: "pending",
    createdAt: at,
    dueAt: at,
    attempts: 0,
    doubts: 0,
    messageIds: null,
    error: null,
  };
}
