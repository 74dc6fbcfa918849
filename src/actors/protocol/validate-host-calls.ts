/**
 * A host runs agents, and agents are other people's programs, so input from its port is checked
 * like input from a socket: only known calls, with arguments of their form and of bounded size.
 * Everything else is refused and counted, and a host with too many refusals is ended.
 * turn-dispatcher.ts checks that a turn belongs to the host, validate-results.ts checks the answer
 * to a batch.
 */
import type { Endpoint } from "comlink";
import { z } from "zod";
import { limits } from "../../domain/limits.ts";
import { outgoingChoicesSchema, outgoingMediaSchema } from "../../domain/outgoing.ts";
import { failureKinds } from "../../domain/stream.ts";
import { answeringOnly, type HostEvents } from "./host-link.ts";
import type { TurnDelta, TurnDraft, TurnReport } from "./host-protocol.ts";
import { inspected } from "./validate-inspection.ts";

const count = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
const at = z.number().min(0).max(Number.MAX_SAFE_INTEGER);
const id = z.string().min(1).max(limits.idUnitsMax);
const text = z.string().max(limits.agentBytesMax);
const own = { at, turnId: id };

const reported = z.discriminatedUnion("type", [
  z.strictObject({ ...own, type: z.literal("agent.started"), attempt: count }),
  z.strictObject({
    ...own,
    type: z.literal("agent.spoke"),
    what: z.enum(["text", "reasoning"]),
  }),
  z.strictObject({
    ...own,
    type: z.literal("agent.text"),
    index: count,
    from: count,
    to: count,
    text,
    mentions: z.array(id).max(limits.mentionsCountMax),
    draft: z.literal(true).exactOptional(),
    edits: count.exactOptional(),
    aside: z.enum(["reasoning", "status"]).exactOptional(),
    prefix: text.exactOptional(),
    target: z.string().max(limits.idUnitsMax).exactOptional(),
    media: outgoingMediaSchema.exactOptional(),
    choices: outgoingChoicesSchema.exactOptional(),
  }),
  z.strictObject({ ...own, type: z.literal("agent.message-ended") }),
  z.strictObject({
    ...own,
    type: z.literal("agent.tool"),
    name: text,
    input: z.record(z.string(), z.unknown()),
  }),
  z.strictObject({ ...own, type: z.literal("agent.tool-failed"), name: text, message: text }),
  z.strictObject({
    ...own,
    type: z.literal("agent.usage"),
    inputTokens: count,
    outputTokens: count,
    costUsd: z.number().exactOptional(),
  }),
  z.strictObject({ ...own, type: z.literal("agent.ended"), silent: z.boolean() }),
  z.strictObject({
    ...own,
    type: z.literal("agent.failed"),
    code: z.enum(["error", "idle-timeout", "total-timeout", "aborted", "host-lost", "too-long"]),
    kind: z.enum(failureKinds).exactOptional(),
    message: text,
    unsent: text.exactOptional(),
  }),
  z.strictObject({ ...own, type: z.literal("disengage") }),
  z.strictObject({ ...own, type: z.literal("skip") }),
]);

const turn = { conv: count, key: z.string().min(1), turnId: id };
const report = z.strictObject({ ...turn, n: count, attempt: count, event: reported });
const delta = z.strictObject({ ...turn, text });
const draft = z.strictObject({ ...turn, index: count, text });
const question = z.strictObject({ ...turn, tool: z.string().max(64), input: z.unknown() });
const line = z.tuple([
  z.enum(["trace", "debug", "info", "warn", "error", "fatal"]),
  z.string().max(limits.labelShownUnitsMax),
  z.record(z.string(), z.unknown()).optional(),
]);

const names: ReadonlySet<string> = new Set<keyof HostEvents>([
  "onReports",
  "onDelta",
  "onDraft",
  "onInspect",
  "ask",
  "onLog",
]);

/** Called for each refused call, with a short reason. */
export type Refused = (what: string) => void;

/** The same handlers behind a check of the form of each call. */
export function guardEvents(events: HostEvents, refused: Refused): HostEvents {
  /** What is wrong with a value, in short; null: it has the form. */
  const wrongIn = (schema: z.ZodType, value: unknown): string | null => {
    const { error } = schema.safeParse(value);
    return error === undefined ? null : error.issues[0]?.path.join(".") || "its form";
  };
  const taken = <Value>(what: string, schema: z.ZodType, value: unknown): value is Value => {
    const wrong = wrongIn(schema, value);
    if (wrong !== null) refused(`${what}: ${wrong}`);
    return wrong === null;
  };
  return {
    onReports(input) {
      if (!Array.isArray(input)) return refused("a report: no list");
      // A wrong item must not discard the others, as a turn must be able to end; the call is refused once.
      const wrongs: string[] = [];
      const good = input.filter((item): item is TurnReport => {
        const wrong = wrongIn(report, item);
        if (wrong !== null) wrongs.push(wrong);
        return wrong === null;
      });
      if (wrongs.length > 0)
        refused(`a report: ${wrongs[0]}${wrongs.length > 1 ? ` (of ${wrongs.length})` : ""}`);
      if (good.length > 0) events.onReports(good);
    },
    onDelta(input) {
      if (taken<TurnDelta>("a delta", delta, input)) events.onDelta(input);
    },
    onDraft(input) {
      if (taken<TurnDraft>("a draft", draft, input)) events.onDraft(input);
    },
    onInspect(input) {
      const frames = inspected(input);
      if (frames === null) refused("a look into conversations: its form");
      else events.onInspect(frames);
    },
    async ask(input) {
      if (!taken("a question", question, input)) return "Refused: nobody could read the question.";
      return events.ask(input);
    },
    onLog(...input) {
      if (taken("a line of the log", line, input)) events.onLog(...input);
    },
  };
}

interface Call {
  readonly type?: unknown;
  readonly path?: unknown;
  readonly argumentList?: unknown;
}

/**
 * A port that passes only calls, and no answers to those that nobody waits for. comlink follows any path
 * that it is sent, also to constructors and prototypes, creates objects, sets fields and opens further ports.
 */
export function onlyCalls(port: Endpoint, refused: Refused): Endpoint {
  type Listener = Parameters<Endpoint["addEventListener"]>[1];
  const filters = new Map<Listener, Listener>();
  return {
    ...answeringOnly(port),
    addEventListener(type, listener) {
      const filtered = (event: Event) => {
        if (!isCall((event as MessageEvent).data)) return refused("a message that is no call");
        if (typeof listener === "function") listener(event);
        else listener.handleEvent(event);
      };
      filters.set(listener, filtered);
      port.addEventListener(type, filtered);
    },
    removeEventListener(type, listener) {
      port.removeEventListener(type, filters.get(listener) ?? listener);
      filters.delete(listener);
    },
  };
}

function isCall(data: unknown): boolean {
  if (typeof data !== "object" || data === null) return false;
  const { type, path, argumentList } = data as Call;
  return (
    type === "APPLY" &&
    Array.isArray(path) &&
    path.length === 1 &&
    names.has(path[0]) &&
    Array.isArray(argumentList) &&
    argumentList.every(
      (argument: unknown) => (argument as { type?: unknown } | null)?.type === "RAW",
    )
  );
}
