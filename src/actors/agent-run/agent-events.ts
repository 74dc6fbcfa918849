/**
 * What an attempt reads from its job and its agent
 * ================================================
 */

import { agentEventSchema } from "../../domain/ports/index.ts";
import { isNestedTooDeep } from "../../domain/ports/nesting.ts";
import { fillPrefix } from "../../machines/conversation/reply-addressing.ts";
import type { AgentReport } from "../../machines/events/events.ts";
import type { TurnJob } from "../protocol/host-link.ts";

/** A report of an attempt, without its time and turn. */
export type AttemptReport<Event = AgentReport> = Event extends unknown
  ? Omit<Event, "at" | "turnId">
  : never;

const toolInputUnitsMax = 8_192;

/** The prefix of this turn's answer. */
export function prefixOf({ order, agent, settings }: TurnJob): string {
  if (order.bare === true) return "";
  const { model } = { model: undefined, ...(agent.config as { model?: unknown } | null) };
  const configured = typeof model === "string" ? model : agent.kind;
  return fillPrefix(settings.responsePrefix, {
    model: order.model ?? configured,
    agent: agent.agentName,
    thinkLevel: order.thinking,
  });
}

/** A tool's input for an event: an object of limited size. */
export function inputOf(input: unknown): Readonly<Record<string, unknown>> {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return {};
  if (isNestedTooDeep(input)) return {};
  const json = JSON.stringify(input);
  if (json === undefined || json.length > toolInputUnitsMax) return {};
  return JSON.parse(json) as Record<string, unknown>;
}

const knownTypes = new Set(agentEventSchema.options.map(({ shape }) => shape.type.value));

/** An event of an unknown type, from an agent newer than this version: counted and skipped. */
export function isForeign(given: unknown): boolean {
  if (typeof given !== "object" || given === null || !("type" in given)) return false;
  return typeof given.type === "string" && !(knownTypes as ReadonlySet<string>).has(given.type);
}
