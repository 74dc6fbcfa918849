/**
 * Steering a running agent
 * ========================
 * Each offer contains everything that waits for the running turn, oldest first. Offers of a turn
 * run one at a time, and what the agent has accepted is not sent again, so it gets everything once
 * and in order, even if it refused an earlier offer.
 */
import type { Log } from "../../domain/ports/index.ts";
import type { TurnSteer } from "../../machines/events/effects.ts";
import type { ConversationEvent } from "../../machines/events/events.ts";
import { composeSteered } from "../../machines/prompt/prompt.ts";
import type { HostStep } from "../protocol/host-protocol.ts";
import type { Supervisor } from "../protocol/supervisor.ts";
import { readOverheard } from "./read-messages.ts";
import type { ComposerPorts } from "./turn-composer.ts";

export interface SteeringPorts {
  readonly log: Log;
  readonly now: () => number;
  readonly supervisor: () => Pick<Supervisor, "steer">;
  readonly composer: () => Pick<ComposerPorts, "store" | "media" | "ids">;
  /** Journals an event of the turn; `part` makes its identity unique. */
  readonly report: (step: HostStep, event: ConversationEvent, part: string) => void;
}

export interface Steering {
  offer(effect: TurnSteer, step: HostStep): void;
  /** The turn ended, or restarts with an agent that has received nothing yet. */
  forget(turnId: string): void;
  /** Number of offers in flight. */
  active(): number;
}

/** Messages sent to one attempt of a turn. */
interface SteerResult {
  readonly taken: Set<number>;
  last: Promise<void>;
}

export function createSteering(ports: SteeringPorts): Steering {
  const turns = new Map<string, SteerResult>();
  let active = 0;

  async function offer(
    { turnId, batch }: TurnSteer,
    step: HostStep,
    result: SteerResult,
  ): Promise<void> {
    const news = batch.filter(({ seq }) => !result.taken.has(seq));
    if (news.length === 0) return;
    const composer = ports.composer();
    const { shown } = await readOverheard(composer, news);
    const text = composeSteered(shown, composer.ids.next());
    if (turns.get(turnId) !== result) return;
    // Refused: the conversation keeps the messages for the next offer or turn. An edit that changes no
    // text is nothing to send.
    if (shown.length > 0 && !(await ports.supervisor().steer(turnId, text))) return;
    const messages = news.map(({ seq }) => seq);
    for (const seq of messages) result.taken.add(seq);
    const edits = news.flatMap(({ editSeq }) => editSeq ?? []);
    const event = { type: "agent.steered", at: ports.now(), turnId, messages, edits } as const;
    ports.report(step, event, `steered|${messages.join(",")}`);
  }

  return {
    offer(effect, step) {
      const { turnId } = effect;
      const result = turns.get(turnId) ?? { taken: new Set(), last: Promise.resolve() };
      turns.set(turnId, result);
      active += 1;
      result.last = result.last
        .then(() => offer(effect, step, result))
        .catch((error: unknown) =>
          ports.log("warn", "turn.steer", { turnId, error: String(error) }),
        )
        .finally(() => {
          active -= 1;
        });
    },
    forget: (turnId) => void turns.delete(turnId),
    active: () => active,
  };
}
