/**
 * Starting turns
 * ==============
 * Between "this turn runs" and the agent lies reading: the words of the batch and of what was
 * overheard, the transcript, the prompt. It happens here, on the main thread that has the journal,
 * so a host gets a complete order. A turn that cannot be composed fails like one whose agent
 * failed; one that is aborted meanwhile never starts.
 */
import { EarshotError } from "../../domain/errors.ts";
import type { TurnAbort, TurnRun, TurnSteer } from "../../machines/events/effects.ts";
import type { HostStep, TurnRequest } from "../protocol/host-protocol.ts";
import type { Supervisor } from "../protocol/supervisor.ts";
import { createSteering, type SteeringPorts } from "./steering.ts";

export interface TurnStarterPorts extends SteeringPorts {
  readonly supervisor: Pick<Supervisor, "run" | "abort" | "steer">;
  /** Reads and composes (turns.order.ts). Null: there is nothing to ask the agent. */
  readonly compose: (
    effect: TurnRun,
    step: HostStep,
    signal: AbortSignal,
  ) => Promise<TurnRequest | null>;
  /** Turns that wait for files meanwhile. */
  readonly waiting: () => number;
}

export interface TurnStarter {
  start(effect: TurnRun, step: HostStep): void;
  abort(effect: TurnAbort, step: HostStep): void;
  steer(effect: TurnSteer, step: HostStep): void;
  /** The turn has its outcome. */
  ended(turnId: string): void;
  /** Turns being composed, but for those that wait for files. */
  preparing(): number;
}

export function createTurnStarter(ports: TurnStarterPorts): TurnStarter {
  /** What ends the composing of a turn, by turn id. */
  const preparing = new Map<string, AbortController>();
  const steering = createSteering(ports);

  async function start(effect: TurnRun, step: HostStep): Promise<void> {
    const { turnId } = effect;
    const stop = new AbortController();
    preparing.get(turnId)?.abort(new Error("tried again"));
    preparing.set(turnId, stop);
    const done = () => {
      if (preparing.get(turnId) === stop) preparing.delete(turnId);
    };
    try {
      const order = await ports.compose(effect, step, stop.signal);
      done();
      if (!stop.signal.aborted)
        return order === null ? pass(effect, step) : ports.supervisor.run(order);
      fail(effect, step, "aborted", "aborted before it started");
    } catch (error) {
      done();
      if (stop.signal.aborted) return fail(effect, step, "aborted", "aborted before it started");
      ports.log("error", "turn.compose", { key: step.key, turnId, error: String(error) });
      const words =
        error instanceof EarshotError ? error.message : "the turn could not be composed";
      fail(effect, step, "error", words);
    }
  }

  /** It ends without a word, and its agent was never called. */
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
    start(effect, step) {
      // A try knows of its batch only.
      steering.forget(effect.turnId);
      void start(effect, step);
    },
    abort({ turnId, reason }) {
      const composing = preparing.get(turnId);
      if (composing === undefined) ports.supervisor.abort(turnId, reason);
      else composing.abort(new Error(reason));
    },
    steer: steering.offer,
    ended: steering.forget,
    preparing: () => Math.max(0, preparing.size - ports.waiting()) + steering.active(),
  };
}
