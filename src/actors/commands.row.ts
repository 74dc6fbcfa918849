/**
 * The row of an answer
 * ====================
 * An outbox row of its own for what a command is answered with, numbered by the journal: it belongs to
 * no turn, grants no credit and is in no transcript.
 */
import type { OutboxRow } from "../domain/ports.ts";
import type { CommandAsked } from "../machines/events.ts";
import type { Configs } from "./configs.ts";
import type { TextBody } from "./outbox.body.ts";
import type { HostStep } from "./protocol.ts";

export interface CommandAnswer {
  readonly asked: CommandAsked;
  readonly step: Pick<HostStep, "conv" | "key" | "seq" | "at">;
  readonly text: string;
  /** Counts the answers to one command from 0. */
  readonly index?: number;
}

export function commandRow(
  configs: Pick<Configs, "settings">,
  { asked, step, text, index = 0 }: CommandAnswer,
): OutboxRow {
  const { conv, key, seq, at } = step;
  const { route, messageId } = asked;
  const { replyTo, turn } = configs.settings(key);
  const replies = replyTo === "auto" ? route.chat.kind !== "direct" : replyTo !== "off";
  const expiresAt = at + turn.replyAgeMsMax;
  const body: TextBody = {
    ...{ route, text, replyTo: replies ? messageId : null, quote: false, expiresAt },
  };
  const id = `command-${seq}`;
  return {
    ...{ id: `${id}:${index}`, conv, key, turnId: id, index, kind: "notice", state: "pending" },
    ...{ createdAt: at, dueAt: at, attempts: 0, doubts: 0, messageIds: null, error: null },
    body: JSON.stringify(body),
  };
}
