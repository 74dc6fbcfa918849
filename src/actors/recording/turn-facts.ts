/** How a turn went: its times, tools and tokens, from the rows that its agent's reports became. */
import type { Millis } from "../../domain/message.ts";
import type { EventRow } from "../../domain/ports/index.ts";
import type {
  AgentToolFailed,
  AgentUsage,
  ConversationEvent,
} from "../../machines/events/events.ts";
import { decodeEvent, eventsIn } from "../protocol/event-codec.ts";
import type { ToolUse, TurnFacts } from "../protocol/why.ts";

type Counted = ToolUse & { readonly failed: number };

/** Tools of earshot itself report no call, only its effect: each failure of one was a call. */
function failedUse(use: Counted, { message }: AgentToolFailed): Counted {
  const failed = use.failed + 1;
  const error = message || use.error;
  const count = Math.max(use.count, failed);
  return { ...use, count, failed, ...(error === undefined ? {} : { error }) };
}

function shownUse({ failed, ...use }: Counted): ToolUse {
  return failed === 0 ? use : { ...use, failed };
}

/** The facts of a turn among these rows; undefined: it has not started. */
export function turnFacts(rows: readonly EventRow[], turnId: string): TurnFacts | undefined {
  let since: Millis | null = null;
  let firstTextMs: number | undefined;
  let tookMs: number | undefined;
  let usage: Omit<AgentUsage, "type" | "at" | "turnId"> | undefined;
  const tools = new Map<string, Counted>();
  const use = (name: string): Counted => tools.get(name) ?? { name, count: 0, failed: 0 };
  const follow = (event: ConversationEvent): void => {
    if (!("turnId" in event) || event.turnId !== turnId) return;
    const ms = event.at - (since ?? event.at);
    if (event.type === "lane.granted") since ??= event.at;
    else if (event.type === "agent.spoke" && event.what === "text") firstTextMs ??= ms;
    else if (event.type === "agent.text") firstTextMs ??= ms;
    else if (event.type === "agent.tool")
      tools.set(event.name, { ...use(event.name), count: use(event.name).count + 1 });
    else if (event.type === "agent.tool-failed")
      tools.set(event.name, failedUse(use(event.name), event));
    else if (event.type === "agent.usage") {
      const { type: _, at: __, turnId: ___, ...used } = event;
      usage = used;
    } else if (event.type === "agent.ended" || event.type === "agent.failed") tookMs = ms;
  };
  for (const row of rows) for (const event of eventsIn(decodeEvent(row))) follow(event);
  if (since === null) return undefined;
  return {
    tools: [...tools.values()].map(shownUse),
    ...(firstTextMs === undefined ? {} : { firstTextMs }),
    ...(tookMs === undefined ? {} : { tookMs }),
    ...(usage === undefined ? {} : { usage }),
  };
}
