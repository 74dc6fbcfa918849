/**
 * Whether the server answers
 * ==========================
 * Looks every two seconds whether Restate answers at both of its addresses, and which version it is. Calls that
 * something rests on find out for themselves; this says it to people, also while nobody speaks. A node whose beats
 * are answered needs no other proof of the ingress.
 */
import { z } from "zod";
import type { Millis } from "../../../domain/message.ts";
import { engineLimits } from "../../../domain/ports/engine/engine-limits.ts";
import type { Clock, Log } from "../../../domain/ports/index.ts";
import { oneLine } from "../../../domain/sanitize.ts";
import { repeatedLook } from "./repeated-look.ts";

export interface ServerPorts {
  readonly clock: Clock;
  readonly log: Log;
  /** Base URLs. */
  readonly ingress: string;
  readonly admin: string;
  /** Whether calls were just answered: then the ingress is not looked at. @default it always is */
  readonly isAnswered?: () => boolean;
}

export interface ServerState {
  /** Null: it has not said so yet. */
  readonly version: string | null;
  /** Since when it does not answer, and why; null: it answers. */
  readonly failing: { readonly since: Millis; readonly why: string } | null;
}

export interface ServerWatch {
  state(): ServerState;
  /** Begins to look. */
  start(): void;
  stop(): Promise<void>;
}

class Refused extends Error {}

const versionSchema = z.object({ version: z.string().max(64) });
const shownUnitsMax = 200;

/**
 * Asks once. @returns its version
 * @throws Error that says what does not answer, why, and what to do.
 */
export async function lookAtServer(
  { ingress, admin }: Pick<ServerPorts, "ingress" | "admin">,
  signal?: AbortSignal,
): Promise<string> {
  await ask(`${ingress}/restate/health`, "engine.ingress", signal);
  return versionOf(admin, signal);
}

async function versionOf(admin: string, signal?: AbortSignal): Promise<string> {
  const path = `${admin}/version`;
  const text = await ask(path, "engine.admin", signal);
  const parsed = versionSchema.safeParse(jsonIn(text));
  if (parsed.success) return parsed.data.version;
  throw new Error(
    `Cannot use ${path}: it answers no version (${oneLine(text, shownUnitsMax)}). ` +
      "Correct engine.admin: something else listens there",
  );
}

async function ask(url: string, setting: string, signal?: AbortSignal): Promise<string> {
  const own = AbortSignal.timeout(engineLimits.serverLookMsMax);
  const ends = signal === undefined ? own : AbortSignal.any([own, signal]);
  try {
    const answer = await fetch(url, { signal: ends });
    const text = await answer.text();
    if (answer.ok) return text;
    throw new Refused(`it answers ${answer.status} (${oneLine(text, shownUnitsMax)})`);
  } catch (cause) {
    const why =
      cause instanceof Refused
        ? cause.message
        : own.aborted
          ? `no answer in ${engineLimits.serverLookMsMax} ms`
          : "there is no connection";
    throw new Error(
      `Cannot reach Restate at ${url}: ${why}. Start its server, or correct ${setting}`,
      { cause },
    );
  }
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

export function createServerWatch(ports: ServerPorts): ServerWatch {
  const { clock, log, isAnswered = () => false } = ports;
  let now: ServerState = { version: null, failing: null };

  async function look(signal: AbortSignal): Promise<void> {
    try {
      const version = isAnswered()
        ? await versionOf(ports.admin, signal)
        : await lookAtServer(ports, signal);
      if (now.failing !== null) log("info", "engine.reachable", { version });
      now = { version, failing: null };
    } catch (error) {
      if (signal.aborted) return;
      const why = (error as Error).message;
      if (now.failing === null) log("warn", "engine.unreachable", { error: why });
      now = { ...now, failing: { since: now.failing?.since ?? clock.now(), why } };
    }
  }

  return { state: () => now, ...repeatedLook(clock, engineLimits.serverLookMs, look) };
}
