/**
 * Deadlines that fall due
 * =======================
 * A deadline that fires is journalled, and its row goes in the same commit. One that closes a
 * conversation's window mostly leads to a turn, so where a slot is free the grant is journalled with
 * it: both reach the host in one batch, and the turn begins without another way there and back. A
 * conversation that does not want its turn yet gives the slot back.
 */
import type { Clock, Log, Store } from "../../domain/ports/index.ts";
import type { Configs } from "../journal/config-versions.ts";
import type { Deadline } from "../journal/deadlines.ts";
import type { Journal } from "../journal/journal.ts";
import type { TurnSlots } from "../protocol/conversation-summary.ts";
import { newEvent } from "../protocol/event-codec.ts";
import type { SessionStart } from "../sessions/session-start.ts";

export interface DueDeadlinePorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: Pick<Store, "conversation">;
  readonly configs: Pick<Configs, "version">;
  readonly slots: Pick<TurnSlots, "takeFree" | "release">;
  readonly sessionStart: Pick<SessionStart, "grantNow">;
  readonly agentOf: (key: string) => string;
  readonly append: (...args: Parameters<Journal["append"]>) => void;
  /** Arms it again. */
  readonly again: (deadline: Deadline) => void;
}

/** Deadlines after which a conversation mostly wants a slot. */
const closesWindow = (id: string): boolean => id === "flush" || id === "quiet";
/** Pause before a deadline whose conversation could not be read is tried again, ms. */
const retryMs = 1_000;

/** What deadlines call when they fire, with the time of the event. */
export function createDueDeadlines(
  ports: DueDeadlinePorts,
): (deadline: Deadline, at: number) => void {
  async function journalled({ conv, id, at: due }: Deadline, at: number): Promise<void> {
    const row = await ports.store.conversation(conv);
    if (row === null) return;
    const { key } = row;
    const event = { type: "deadline.due", at, id } as const;
    // Two windows may close at the same time by their messages, and the later one fall due when the first has.
    const identity = `deadline|${id}|${due}|${at}`;
    const fallen = newEvent({ conv, key }, ports.configs.version(), event, { identity });
    const cleared = { kind: "deadline", conv, id, at: null, onlyAt: due } as const;
    const grant = closesWindow(id) ? grantFor(conv, key) : null;
    if (grant === null) ports.append([fallen], [cleared]);
    else ports.append([fallen, ...grant.events], [cleared, ...grant.writes]);
  }

  function grantFor(conv: number, key: string) {
    const request = { conv, key, agentId: ports.agentOf(key) };
    if (!ports.slots.takeFree(request)) return null;
    const grant = ports.sessionStart.grantNow(request);
    if (grant === null) ports.slots.release(conv);
    return grant;
  }

  return (deadline, at) => {
    journalled(deadline, at).catch((error: unknown) => {
      const { conv, id } = deadline;
      ports.log("error", "deadline.failed", { conv, id, error: String(error) });
      ports.again({ conv, id, at: ports.clock.now() + retryMs });
    });
  };
}
