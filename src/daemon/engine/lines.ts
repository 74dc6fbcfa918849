/**
 * Lines of the event stream, for the other nodes
 * ==============================================
 * They are reported as they come, but for two kinds: prompts, which no page shows, and the texts of running turns. Each
 * node says with its beats which conversations its pages show; of those the newest text is reported, once a second at
 * most: each report costs calls, and a text has all that was in the ones before. So nothing is reported of what nobody
 * looks at, and a page that is opened while its agent is silent gets what there is. No text follows the end of its turn.
 */
import { conversationOf } from "../../actors/protocol/event-codec.ts";
import type { Millis } from "../../domain/message.ts";
import { engineLimits } from "../../domain/ports/engine/engine-limits.ts";
import type { Clock, TimerHandle } from "../../domain/ports/index.ts";
import type { DeltaLine, StreamLine } from "../../domain/stream.ts";
import { tagged } from "../events/event-kinds.ts";

export interface LinesPorts {
  readonly clock: Pick<Clock, "now" | "setTimer" | "clearTimer">;
  /** Numbers of the conversations that people look at on other nodes. */
  readonly watched: () => ReadonlySet<number>;
  readonly report: (line: Readonly<Record<string, unknown>>) => void;
}

export interface Lines {
  /** A conversation that is active here has reported it. */
  line(line: StreamLine): void;
  /** A conversation is not active here any more. */
  left(key: string): void;
  stop(): void;
}

export function createLines({ clock, watched, report }: LinesPorts): Lines {
  /** Texts that were not reported, by session key. */
  const newest = new Map<string, DeltaLine>();
  let timer: TimerHandle | null = null;
  let last: Millis = Number.NEGATIVE_INFINITY;

  function arm(): void {
    if (newest.size === 0) return;
    timer ??= clock.setTimer(Math.max(clock.now(), last + engineLimits.feedTextMs), look);
  }

  function look(): void {
    timer = null;
    last = clock.now();
    const seen = watched();
    for (const [key, line] of newest) {
      if (!seen.has(conversationOf(key).conv)) continue;
      newest.delete(key);
      if (line.text.length <= engineLimits.feedTextUnitsMax) report({ ...line });
    }
    arm();
  }

  const left = (key: string) => void newest.delete(key);
  return {
    line(item) {
      const { kind, line } = tagged(item);
      if (kind === "system" || kind === "prompt") return;
      if (kind === "delta") {
        newest.set(line.key, line);
        arm();
        return;
      }
      if (kind === "agent_end") left(line.key);
      report({ ...line });
    },
    left,
    stop() {
      newest.clear();
      if (timer !== null) clock.clearTimer(timer);
    },
  };
}
