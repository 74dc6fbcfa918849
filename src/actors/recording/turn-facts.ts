/** How a turn went: its times, tools and tokens, from the rows that its agent's reports became. */
import type { Millis } from "../../domain/message.ts";
import type { EventRow } from "../../domain/ports/index.ts";
import type { AgentUsage, ConversationEvent } from "../../machines/events/events.ts";
import { decodeEvent, eventsIn } from "../protocol/event-codec.ts";
import type { TurnFacts } from "../protocol/why.ts";

/** The facts of a turn among these rows; undefined: it has not started. */
export function turnFacts(rows: readonly EventRow[], turnId: string): TurnFacts | undefined {
  let since: Millis | null = null;
  let firstTextMs: number | undefined;
  let tookMs: number | undefined;
  let usage: Omit<AgentUsage, "type" | "at" | "turnId"> | undefined;
  const tools = new Map<string, number>();
  const follow = (event: ConversationEvent): void => {
    if (!("turnId" in event) || event.turnId !== turnId) return;
    const ms = event.at - (since ?? event.at);
    if (event.type === "lane.granted") since ??= event.at;
    else if (event.type === "agent.spoke" && event.what === "text") firstTextMs ??= ms;
    else if (event.type === "agent.text") firstTextMs ??= ms;
    else if (event.type === "agent.tool") tools.set(event.name, (tools.get(event.name) ?? 0) + 1);
    else if (event.type === "agent.usage") {
      const { type: _, at: __, turnId: ___, ...used } = event;
      usage = used;
    } else if (event.type === "agent.ended" || event.type === "agent.failed") tookMs = ms;
  };
  for (const row of rows) for (const event of eventsIn(decodeEvent(row))) follow(event);
  if (since === null) return undefined;
  return {
    tools: [...tools].map(([name, count]) => ({ name, count })),
    ...(firstTextMs === undefined ? {} : { firstTextMs }),
    ...(tookMs === undefined ? {} : { tookMs }),
    ...(usage === undefined ? {} : { usage }),
  };
}
