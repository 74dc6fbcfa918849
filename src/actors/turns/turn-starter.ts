/**
 * Before an agent is called, its input is read and composed: the batch, the overheard messages, the
 * transcript, the prompt. This happens on the main thread, which owns the journal, so a host gets
 * complete input. A turn that cannot be composed fails like one whose agent failed; a turn aborted
 * meanwhile never starts.
 */

import { EarshotError } from "../../domain/errors.ts";
import type { TurnAbort, TurnRun, TurnSteer } from "../../machines/events/effects.ts";
import type { Approvals } from "../commands/approvals.ts";
import type { Journal } from "../journal/journal.ts";
import type { HostStep, TurnRequest } from "../protocol/host-protocol.ts";
import type { RuntimeEvents } from "../protocol/runtime-events.ts";
import type { Supervisor } from "../protocol/supervisor.ts";
import type { SentPrompts } from "./sent-prompts.ts";
import { createSteering, type SteeringPorts } from "./steering.ts";
import { type ComposerPorts, composeTurn } from "./turn-composer.ts";

export interface TurnStarterPorts extends SteeringPorts {
  readonly supervisor: () => Pick<Supervisor, "run" | "abort" | "steer">;
  readonly composer: () => ComposerPorts;
  readonly approvals: () => Pick<Approvals, "opened">;
  readonly events: Pick<RuntimeEvents, "emit">;
  readonly journal: Pick<Journal, "synced" | "syncAhead">;
  readonly sent: () => Pick<SentPrompts, "composed">;
  /** Whether prompts are lines of the event stream. */
  readonly prompts: boolean;
  /** Turns currently waiting for files. */
  readonly waiting: () => number;
}

export interface TurnStarter {
  /**
   * Composes while the order of the turn is being stored, so that both can be one commit. Nothing is
   * called before `start`.
   */
  prepare(effect: TurnRun, step: HostStep): void;
  start(effect: TurnRun, step: HostStep): void;
  abort(effect: TurnAbort, step: HostStep): void;
  steer(effect: TurnSteer, step: HostStep): void;
  /** Called when a turn has ended. */
  ended(turnId: string): void;
  /** Turns being composed, without those that wait for files. */
  preparing(): number;
}

/** A turn's input under way. */
interface Composing {
  readonly stop: AbortController;
  readonly request: Promise<TurnRequest | null>;
}

export function createTurnStarter(ports: TurnStarterPorts): TurnStarter {
  /** Aborts composing, by turn id. */
  const preparing = new Map<string, AbortController>();
  /** Composed before they are started. */
  const prepared = new WeakMap<TurnRun, Composing>();
  const steering = createSteering(ports);
  const { emit } = ports.events;

  function compose(effect: TurnRun, step: HostStep): Composing {
    const stop = new AbortController();
    return { stop, request: composeTurn(ports.composer(), effect, step, stop.signal) };
  }

  async function start(effect: TurnRun, step: HostStep): Promise<void> {
    const { turnId } = effect;
    const { stop, request: composed } = prepared.get(effect) ?? compose(effect, step);
    preparing.get(turnId)?.abort(new Error("tried again"));
    preparing.set(turnId, stop);
    const done = () => {
      if (preparing.get(turnId) === stop) preparing.delete(turnId);
    };
    // Composing and the disk take about as long as each other.
    ports.journal.syncAhead();
    try {
      const request = await composed;
      if (request !== null) {
        ports.sent().composed(request, effect);
        noteComposed(request, effect, step);
        // An agent may act: what has led to its call is durable before.
        await ports.journal.synced();
      }
      done();
      if (stop.signal.aborted) fail(effect, step, "aborted", "aborted before it started");
      else if (request === null) pass(effect, step);
      else {
        emit.agentCalled?.(turnId, request.attempt);
        ports.supervisor().run(request);
      }
    } catch (error) {
      done();
      if (stop.signal.aborted) return fail(effect, step, "aborted", "aborted before it started");
      ports.log("error", "turn.compose", { key: step.key, turnId, error: String(error) });
      const reason =
        error instanceof EarshotError ? error.message : "the turn could not be composed";
      fail(effect, step, "error", reason);
    }
  }

  /** The prompt is whole: its owners may be asked from here on. */
  function noteComposed(
    request: TurnRequest,
    { turnId, route }: TurnRun,
    { conv }: HostStep,
  ): void {
    const { key, turn, prompt } = request;
    const { replyAgeMsMax: ageMsMax } = ports.composer().configs.settings(key).turn;
    ports.approvals().opened({ turnId, conv, key, route, ageMsMax });
    if (ports.prompts) emit.line?.({ t: ports.now(), key, event: "prompt", turn, text: prompt });
  }

  /** Ends the turn silently without calling its agent. */
  function pass({ turnId, attempt }: TurnRun, step: HostStep): void {
    const event = { type: "agent.ended", at: ports.now(), turnId, silent: true } as const;
    ports.report(step, event, `${attempt}|unstarted`);
  }

  function fail(
    { turnId, attempt }: TurnRun,
    step: HostStep,
    code: "aborted" | "error",
    message: string,
  ): void {
    const event = { type: "agent.failed", at: ports.now(), turnId, code, message } as const;
    ports.report(step, event, `${attempt}|unstarted`);
  }

  return {
    prepare(effect, step) {
      if (prepared.has(effect)) return;
      const composing = compose(effect, step);
      prepared.set(effect, composing);
      // Without a start nobody asks for it: the store has stopped.
      composing.request.catch(() => undefined);
    },
    start(effect, step) {
      // A new attempt has only its batch.
      steering.forget(effect.turnId);
      void start(effect, step);
    },
    abort({ turnId, reason }) {
      const composing = preparing.get(turnId);
      if (composing === undefined) ports.supervisor().abort(turnId, reason);
      else composing.abort(new Error(reason));
    },
    steer: steering.offer,
    ended: steering.forget,
    preparing: () => Math.max(0, preparing.size - ports.waiting()) + steering.active(),
  };
}
