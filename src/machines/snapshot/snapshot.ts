/**
 * The record
 * ==========
 * A conversation as one short line of text, so that a hundred thousand idle rooms are rows and not
 * objects: `[record version, machine version, states, fields]`. The states are "attention|guard",
 * with "|lock" behind them while the lock is not open. An idle room that has spoken with two people
 * fits in 200 bytes beside its buffer.
 *
 * A record is not trusted: version, form and sense are checked, and what does not pass is refused
 * rather than guessed at; its owner then rebuilds the conversation from the journal. Settings are
 * not in it: they belong to the config version in force.
 */
import { z } from "zod";
import { EarshotError } from "../../domain/errors.ts";
import { type ConversationSettings, withOverride } from "../../domain/settings.ts";
import { type ConversationContext, newContext } from "../conversation/context.ts";
import { owesTurn } from "../conversation/guards.ts";
import {
  type Attention,
  attentionOf,
  attentions,
  type ConversationValue,
  chartValue,
  guardStates,
  locks,
} from "../conversation/states.ts";
import { fieldsSchema, readFields, writeFields } from "./snapshot-codec.ts";
import { upgradeV1 } from "./snapshot-v1.ts";
import { upgradeV2 } from "./snapshot-v2.ts";

/** Form of the line itself. */
export const snapshotVersion = 1;
/** States of the chart and meaning of its context. Versions 1 and 2 are still read. */
export const machineVersion = 3;

const recordSchema = z.tuple([z.number(), z.number(), z.string(), z.unknown()]);

/** The conversation as a line of JSON. */
export function writeSnapshot(value: ConversationValue, context: ConversationContext): string {
  const { lock, guard } = value;
  const states = `${attentionOf(value)}|${guard}${lock === "granting" ? "" : `|${lock}`}`;
  return JSON.stringify([snapshotVersion, machineVersion, states, writeFields(context)]);
}

/**
 * Brings a record back, under the given settings.
 * @throws EarshotError EAR_RECORD_INVALID when it is of another version, damaged, or makes no
 * sense.
 */
export function readSnapshot(
  record: string,
  settings: ConversationSettings,
): { readonly value: ConversationValue; readonly context: ConversationContext } {
  const found = statesAndFields(parseJson(record));
  const attention = attentions.find((one) => one === found.attention);
  const guard = guardStates.find((one) => one === found.guard);
  const lock = locks.find((one) => one === found.lock);
  if (attention === undefined || guard === undefined || lock === undefined)
    throw invalid("its state is not known");
  const fields = fieldsSchema.safeParse(found.fields);
  if (!fields.success) throw wrongForm(fields.error);
  const remembered = readFields(fields.data, newContext(settings));
  const context = { ...remembered, settings: withOverride(settings, remembered.override) };
  const problem = contradiction(attention, context);
  if (problem !== null) throw invalid(problem);
  return { value: chartValue(attention, lock, guard), context };
}

function statesAndFields(json: unknown) {
  const parsed = recordSchema.safeParse(json);
  if (!parsed.success) throw wrongForm(parsed.error);
  const [version, machine, states, fields] = parsed.data;
  const [attention = "", guard = "", lock = "granting", ...more] = states.split("|");
  if (more.length > 0) throw invalid("its state is not known");
  if (version === snapshotVersion && machine === machineVersion)
    return { attention, guard, lock, fields };
  if (version !== snapshotVersion || (machine !== 1 && machine !== 2))
    throw invalid(`it is of version ${version}.${machine}`);
  const second = machine === 2 ? { attention, lock, fields } : upgradeV1({ attention, fields });
  const upgraded = second === null ? null : upgradeV2(second);
  if (second === null || upgraded === null) throw invalid("its state is not that of its turn");
  return { ...upgraded, lock: second.lock, guard };
}

function parseJson(record: string): unknown {
  try {
    return JSON.parse(record);
  } catch (cause) {
    throw invalid("it is not JSON", cause);
  }
}

/** What the state promises and the context must keep. */
function contradiction(attention: Attention, context: ConversationContext): string | null {
  const { run, inbox, forming, typing, quietAt } = context;
  const isOwed = owesTurn(context);
  const pending = inbox.length + forming.length > 0;
  switch (attention) {
    case "observing":
      return run !== null || pending || typing !== null || isOwed
        ? "it observes with work pending"
        : null;
    case "engaged.gathering":
      if (run !== null || !pending) return "it gathers nothing";
      return inbox.length > 0 && quietAt === null
        ? "it gathers with a line that waits for nothing"
        : null;
    case "engaged.waiting":
      return run !== null || (inbox.length === 0 && !isOwed)
        ? "it waits with nothing in line"
        : null;
    case "engaged.running":
      return run === null ? "it runs without a turn" : null;
    case "engaged.settling":
      return run === null || run.open.length === 0 ? "it settles nothing" : null;
  }
}

function wrongForm(error: z.ZodError): EarshotError {
  return invalid(`its form is wrong at ${error.issues[0]?.path.join(".") || "the top"}`);
}

function invalid(reason: string, cause?: unknown): EarshotError {
  return new EarshotError("EAR_RECORD_INVALID", `Cannot restore a conversation: ${reason}`, {
    cause,
  });
}
