/**
 * Starting turns
 * ==============
 * Between "this turn runs" and the agent lies reading: the words of the batch and of what was
 * overheard, the transcript, the prompt. It happens here, on the main thread that has the journal,
 * so a host gets a complete order. A turn that cannot be composed fails like one whose agent
 * failed; one that is aborted meanwhile never starts.
 */
import { EarshotError } from "../domain/errors.ts";
import type { Log } from "../domain/ports.ts";
import type { TurnAbort, TurnRun, TurnSteer } from "../machines/effects.ts";
import type { ConversationEvent } from "../machines/events.ts";
import type { HostStep, TurnOrder } from "./protocol.ts";
import type { Supervisor } from "./supervisor.types.ts";

export interface TurnStarterPorts {
  readonly log: Log;
  readonly now: () => number;
  readonly supervisor: Pick<Supervisor, "run" | "abort" | "steer">;
  /** Reads and composes (turns.order.ts). */
  readonly compose: (effect: TurnRun, step: HostStep, signal: AbortSignal) => Promise<TurnOrder>;
  /** The words of a steered batch. */
  readonly words: (effect: TurnSteer) => Promise<string>;
  /** Turns that wait for files meanwhile. */
  readonly waiting: () => number;
  /** Journals something that happened to the turn; `part` makes its identity. */
  readonly report: (step: HostStep, event: ConversationEvent, part: string) => void;
}

export interface TurnStarter {
  start(effect: TurnRun, step: HostStep): void;
  abort(effect: TurnAbort, step: HostStep): void;
  steer(effect: TurnSteer, step: HostStep): void;
  /** Turns being composed, but for those that wait for files. */
  preparing(): number;
}

export function createTurnStarter(ports: TurnStarterPorts): TurnStarter {
  /** What ends the composing of a turn, by turn id. */
  const preparing = new Map<string, AbortController>();
  let steering = 0;

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
      if (!stop.signal.aborted) return ports.supervisor.run(order);
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

  function fail(
    { turnId, attempt }: TurnRun,
    step: HostStep,
    code: "aborted" | "error",
    message: string,
  ): void {
    const event = { type: "agent.failed", at: ports.now(), turnId, code, message } as const;
    ports.report(step, event, `${attempt}|unstarted`);
  }

  async function steer(effect: TurnSteer, step: HostStep): Promise<void> {
    const { turnId, batch } = effect;
    const text = await ports.words(effect);
    // Too late: the conversation keeps the batch for its next turn.
    if (!(await ports.supervisor.steer(turnId, text))) return;
    const messages = batch.map(({ seq }) => seq);
    const event = { type: "agent.steered", at: ports.now(), turnId, messages } as const;
    ports.report(step, event, `steered|${messages.join(",")}`);
  }

  return {
    start(effect, step) {
      void start(effect, step);
    },
    abort({ turnId, reason }) {
      const composing = preparing.get(turnId);
      if (composing === undefined) ports.supervisor.abort(turnId, reason);
      else composing.abort(new Error(reason));
    },
    steer(effect, step) {
      steering += 1;
      steer(effect, step)
        .catch((error: unknown) =>
          ports.log("warn", "turn.steer", { turnId: effect.turnId, error: String(error) }),
        )
        .finally(() => {
          steering -= 1;
        });
    },
    preparing: () => Math.max(0, preparing.size - ports.waiting()) + steering,
  };
}
