/**
 * Manages the process and the sessions by key, and runs a turn as one prompt. An agent that does
 * not stop when cancelled loses its session, and its process once no other turn uses it.
 */
import type { StopReason } from "@agentclientprotocol/sdk";
import type { AgentEvent, AgentPort, AgentTurn } from "../../../domain/ports/index.ts";
import { unlessAborted, within } from "../../../domain/ports/within.ts";
import { createSystemClock } from "../../system/clock.ts";
import type { ChildSpec } from "../command/child.ts";
import { agentFailed } from "../shared/lines.ts";
import { failure } from "../shared/wire.ts";
import type { AcpConfig } from "./config.ts";
import { judgeOf } from "./permissions.ts";
import { AcpProcess, type AcpSdk } from "./process.ts";
import { type AcpSession, configure, loadedSession, newSession, promptOf } from "./session.ts";
import { UpdateQueue } from "./updates.ts";

/** Time for the agent to confirm a cancellation, ms. */
const cancelMsMax = 500;

export function createAcpAgent(sdk: AcpSdk, config: AcpConfig, program: ChildSpec): AgentPort {
  const agent = new AcpAgent(sdk, config, program);
  return {
    capabilities: { steer: false, tools: false, images: config.images },
    run: (turn, { signal }) => agent.run(turn, signal),
    close: () => agent.close(),
  };
}

class AcpAgent {
  readonly #sdk: AcpSdk;
  readonly #config: AcpConfig;
  readonly #program: ChildSpec;
  /** By session key, least recently used first. */
  readonly #sessions = new Map<string, AcpSession>();
  readonly #processes = new Set<AcpProcess>();
  #current: Promise<AcpProcess> | null = null;

  constructor(sdk: AcpSdk, config: AcpConfig, program: ChildSpec) {
    this.#sdk = sdk;
    this.#config = config;
    this.#program = program;
  }

  async *run(turn: AgentTurn, signal: AbortSignal): AsyncGenerator<AgentEvent> {
    signal.throwIfAborted();
    let process: AcpProcess | null = null;
    try {
      process = await unlessAborted(this.#ready(), signal);
      process.turns += 1;
      const session = await unlessAborted(this.#sessionFor(turn, process), signal);
      session.busy = true;
      try {
        await unlessAborted(configure(session, turn), signal);
        yield* this.#prompt(turn, session, signal);
      } finally {
        session.busy = false;
      }
    } catch (error) {
      signal.throwIfAborted();
      // A restart may fix a program that died.
      yield failure(error, process?.retired ?? false);
    } finally {
      if (process !== null) this.#leave(process);
    }
  }

  async close(): Promise<void> {
    this.#sessions.clear();
    const starting = this.#current?.then(
      (process) => process.stop(),
      () => undefined,
    );
    this.#current = null;
    await Promise.all([starting, ...[...this.#processes].map((process) => process.stop())]);
  }

  /** The process for a new turn: the current one, or a new one that concurrent turns share. */
  async #ready(): Promise<AcpProcess> {
    for (;;) {
      const before = this.#current;
      const process = before === null ? null : await before.catch(() => null);
      if (process !== null && !process.retired) return process;
      if (this.#current !== before) continue;
      this.#current = this.#start();
      return this.#current;
    }
  }

  async #start(): Promise<AcpProcess> {
    const process = await AcpProcess.start(this.#sdk, this.#config, this.#program);
    this.#processes.add(process);
    void process.ended.then(() => this.#processes.delete(process));
    return process;
  }

  #leave(process: AcpProcess): void {
    process.turns -= 1;
    if (process.retired && process.turns === 0) void process.stop();
  }

  async #sessionFor(turn: AgentTurn, process: AcpProcess): Promise<AcpSession> {
    const { cwd } = this.#program;
    const key = turn.sessionKey;
    const before = this.#sessions.get(key);
    this.#sessions.delete(key);
    // A session without a transcript was reset: the agent's memory has to go as well.
    const current = before?.used === true && turn.transcript.length === 0 ? undefined : before;
    if (before !== undefined && current === undefined) this.#forget(key, before);
    const session =
      current?.process === process
        ? current
        : ((current === undefined ? null : await loadedSession(current, process, cwd)) ??
          (await newSession(process, cwd)));
    this.#sessions.set(key, session);
    const over = this.#sessions.size - this.#config.sessions;
    const idle = [...this.#sessions].filter(([, other]) => other !== session && !other.busy);
    for (const [oldest, unused] of idle.slice(0, Math.max(0, over))) this.#forget(oldest, unused);
    return session;
  }

  #forget(key: string, session: AcpSession): void {
    this.#sessions.delete(key);
    const { process, id: sessionId } = session;
    if (process.retired || process.capabilities.sessionCapabilities?.close == null) return;
    // Best effort: an agent that cannot close sessions keeps it.
    process.request("session/close", { sessionId }).catch(() => undefined);
  }

  async *#prompt(
    turn: AgentTurn,
    session: AcpSession,
    signal: AbortSignal,
  ): AsyncGenerator<AgentEvent> {
    const { process, id: sessionId } = session;
    const queue = new UpdateQueue();
    const unlisten = process.listen(sessionId, queue, judgeOf(this.#config, turn, signal));
    const prompt = promptOf(turn, session);
    session.used = true;
    let settled = false;
    let reason: StopReason = "end_turn";
    const answer = process.request("session/prompt", { sessionId, prompt }).then(
      ({ stopReason }) => {
        reason = stopReason;
        settled = true;
        queue.end();
      },
      (error: unknown) => {
        settled = true;
        queue.fail(error);
      },
    );
    const stop = () => {
      process.cancel(sessionId);
      queue.fail(signal.reason);
    };
    signal.addEventListener("abort", stop, { once: true });
    try {
      if (signal.aborted) stop();
      yield* queue;
      const problem = problemOf(reason, queue.spoke);
      if (problem !== null) yield failure(agentFailed(problem));
    } finally {
      signal.removeEventListener("abort", stop);
      if (!settled) {
        stop();
        await within(createSystemClock(), cancelMsMax, answer);
      }
      unlisten();
      if (!settled) {
        process.retired = true;
        if (this.#sessions.get(turn.sessionKey) === session) this.#sessions.delete(turn.sessionKey);
      }
    }
  }
}

/** Why a stop reason is a failure; null: it is not. An answer cut at a limit still counts. */
function problemOf(reason: StopReason, spoke: boolean): string | null {
  if (reason === "cancelled") return "The agent cancelled the turn itself";
  if (spoke || reason === "end_turn") return null;
  if (reason === "refusal") return "The agent refused to answer";
  return `The agent said nothing before its limit (${reason})`;
}
