/** What the sessions have to know of turns before their steps are planned. */
import type { Effect, Joined, MessageRef, OutcomeReached } from "../../machines/events/effects.ts";
import type { HostResult } from "../protocol/host-protocol.ts";
import type { Sessions } from "../sessions/session-registry.ts";
import { turnConcerned } from "../sessions/session-writes.ts";
import type { MessageLine } from "../sessions/turn-session.ts";

interface PreparePorts {
  readonly sessions: Sessions;
  readonly agentOf: (key: string) => string;
  /** `conv`: without what was deleted there since. */
  readonly textsOf: (
    refs: readonly MessageRef[],
    conv: number | null,
  ) => Promise<readonly MessageLine[]>;
}

/**
 * Loads the sessions of turns that end or answer here and are not loaded in this process, and the
 * text of messages that joined them, or that an early ending left unwritten.
 */
export async function prepareTurns(
  { sessions, textsOf, agentOf }: PreparePorts,
  { steps }: Pick<HostResult, "steps">,
): Promise<ReadonlyMap<Joined | OutcomeReached, readonly MessageLine[]>> {
  const unwritten = new Map<Joined | OutcomeReached, readonly MessageLine[]>();
  for (const { conv, key, at, seq, effects } of steps)
    for (const effect of effects) {
      if (effect.type === "say")
        await sessions.forTurn({
          conv,
          key,
          at,
          seq,
          agentId: agentOf(key),
          turnId: effect.turnId,
        });
      const turnId = turnConcerned(effect);
      const isKnown = turnId === null || sessions.ofTurn(turnId) !== undefined;
      const noted = isKnown || (await sessions.find(turnId, conv, sessionAtOf(effect)));
      const isLate = effect.type === "outcome" && !noted && effect.batch.length > 0;
      // Messages that joined were read; those of a turn that ended early may have been deleted before.
      if (effect.type === "joined" || isLate)
        unwritten.set(effect, await textsOf(effect.batch, isLate ? conv : null));
    }
  return unwritten;
}

/** Where the turn that is over began in an earlier session than the one in use. */
const sessionAtOf = (effect: Effect): number | undefined =>
  effect.type === "outcome" ? effect.sessionAt : undefined;
