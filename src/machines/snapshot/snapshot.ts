/**
 * The record
 * ==========
 * A conversation as one short line of text, so that a hundred thousand idle rooms are rows and not
 * objects. What is at its default is left out, moments are counted from one base, and an idle room
 * that has spoken with two people fits in 200 bytes beside its buffer.
 *
 * A record is trusted by nobody: version, form and sense are checked, and what does not pass is
 * refused rather than guessed at; its owner then rebuilds the conversation from the journal.
 * Settings are not in it: they belong to the config version in force.
 */
import { EarshotError } from "../../domain/errors.ts";
import { type ConversationSettings, withOverride } from "../../domain/settings.ts";
import { type ConversationContext, newContext } from "../conversation/context.ts";
import { compact, expand } from "./snapshot-codec.ts";
import { type Attention, attentions, guardStates, recordSchema } from "./snapshot-schema.ts";

/** Form of the line itself. */
export const recordVersion = 1;
/** States of the chart and meaning of its context. */
export const machineVersion = 1;

type Guard = ConversationContext["guard"];
type Running = "open" | "disengaged" | "skipped";
/** The chart's state value as XState has it. */
export type ConversationValue = {
  attention: "observing" | { engaged: "gathering" | "waiting" | "settling" | { running: Running } };
  guard: Guard;
};

/** The conversation as a line of JSON. */
export function writeRecord(value: ConversationValue, context: ConversationContext): string {
  const state = `${attentionOf(value)}|${value.guard}`;
  return JSON.stringify([recordVersion, machineVersion, state, compact(context)]);
}

/** Where attention is, as a dotted path. */
export function attentionOf({ attention }: ConversationValue): Attention {
  if (attention === "observing") return attention;
  const { engaged } = attention;
  return typeof engaged === "string" ? `engaged.${engaged}` : `engaged.running.${engaged.running}`;
}

function chartValue(attention: Attention, guard: Guard): ConversationValue {
  const running = attention.startsWith("engaged.running.");
  const last = attention.slice(attention.lastIndexOf(".") + 1);
  if (attention === "observing") return { attention, guard };
  const engaged = running ? { running: last as Running } : (last as "waiting");
  return { attention: { engaged }, guard };
}

/**
 * Brings a record back, under the given settings.
 * @throws EarshotError EAR_RECORD_INVALID when it is of another version, damaged, or makes no
 * sense.
 */
export function readRecord(
  record: string,
  settings: ConversationSettings,
): { readonly value: ConversationValue; readonly context: ConversationContext } {
  const parsed = recordSchema.safeParse(parseJson(record));
  if (!parsed.success) {
    const first = parsed.error.issues[0];
    throw invalid(`its form is wrong at ${first?.path.join(".") || "the top"}`);
  }
  const [version, machine, state, fields] = parsed.data;
  if (version !== recordVersion || machine !== machineVersion)
    throw invalid(`it is of version ${version}.${machine}`);
  const [attentionName, guardName] = state.split("|");
  const attention = attentions.find((one) => one === attentionName);
  const guard = guardStates.find((one) => one === guardName);
  if (attention === undefined || guard === undefined) throw invalid("its state is not known");
  const remembered = expand(fields);
  const context = {
    ...newContext(settings),
    ...remembered,
    settings: withOverride(settings, remembered.override),
    guard,
  };
  const problem = contradiction(attention, context);
  if (problem !== null) throw invalid(problem);
  return { value: chartValue(attention, guard), context };
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
  const pending = inbox.length + forming.length > 0;
  if (attention === "observing")
    return run !== null || pending || typing !== null || context.heartbeat !== null
      ? "it observes with work pending"
      : null;
  if (attention === "engaged.gathering" && (run !== null || !pending)) return "it gathers nothing";
  if (attention === "engaged.gathering" && inbox.length > 0 && quietAt === null)
    return "it gathers with a line that waits for nothing";
  if (
    attention === "engaged.waiting" &&
    (run !== null || (inbox.length === 0 && context.heartbeat === null))
  )
    return "it waits with nothing in line";
  if (attention.startsWith("engaged.running") && (run === null || run.ended))
    return "it runs without a turn";
  if (attention.startsWith("engaged.running") && run?.lock !== attention.split(".")[2])
    return "its turn has another lock";
  if (attention === "engaged.settling" && (!run?.ended || run.open.length === 0))
    return "it settles nothing";
  return null;
}

function invalid(reason: string, cause?: unknown): EarshotError {
  return new EarshotError("EAR_RECORD_INVALID", `Cannot restore a conversation as ${reason}`, {
    cause,
  });
}
