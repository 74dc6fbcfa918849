/**
 * When a turn gets its slot, its session is checked: it is created if the conversation has none,
 * and replaced if its reset is due. The reset is journalled before the turn, so the turn is the
 * first of the new session in every respect, also in a replay.
 */
import { timeOfId } from "../../domain/key.ts";
import type { Millis } from "../../domain/message.ts";
import type {
  Clock,
  Ids,
  Log,
  RunWrite,
  SessionOpen,
  SessionRow,
  Store,
} from "../../domain/ports/index.ts";
import {
  isOver,
  type ResetPolicy,
  type ZoneOffset,
} from "../../machines/routing/session-policy.ts";
import type { SlotRequest } from "../protocol/conversation-summary.ts";
import { type NewEvent, newEvent } from "../protocol/event-codec.ts";
import { heartbeatNote } from "./turn-session.ts";

/** Lines searched for the last one that a person caused. */
const linesLookedAt = 200;

export interface GrantPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly ids: Ids;
  readonly store: Pick<Store, "sessionOf" | "transcript">;
  readonly zoneOffset: ZoneOffset;
  readonly cfg: () => number;
  readonly policyOf: (key: string) => ResetPolicy;
  readonly append: (
    events: readonly NewEvent[],
    writes: readonly (RunWrite | SessionOpen)[],
  ) => void;
}

/** What is journalled when a conversation is granted its slot. */
export interface Grant {
  readonly events: readonly NewEvent[];
  readonly writes: readonly (RunWrite | SessionOpen)[];
}

export interface SessionStart {
  /** Journals the grant of a request whose turn has come. */
  grant(request: SlotRequest): void;
  /** A grant that can be given without a look at the store; null: it takes one. */
  grantNow(request: SlotRequest): Grant | null;
}

export function createSessionStart(ports: GrantPorts): SessionStart {
  const { clock, ids, store } = ports;

  function grantOf(request: SlotRequest, turnId: string, at: number, over: boolean): Grant {
    const { conv, key, agentId } = request;
    const made = (event: Parameters<typeof newEvent>[2], identity: string) =>
      newEvent(request, ports.cfg(), event, { identity, sentAt: timeOfId(turnId) });
    const sessionId = ids.next(`session|${key}`);
    const granted = made({ type: "lane.granted", at, turnId }, `lane|${turnId}`);
    const reset = made({ type: "session.reset", at, sessionId }, `reset|${turnId}`);
    // A request restored at start is a whole row; only its requester matters.
    const row = { conv, key, agentId, turnId, state: "waiting", since: at } as const;
    const run = { kind: "run", conv, row } as const;
    const open = { kind: "session", op: "open", conv, key, agentId, sessionId, at } as const;
    if (over) return { events: [reset, granted], writes: [run] };
    return { events: [granted], writes: [run, open] };
  }

  async function findPast(request: SlotRequest, policy: ResetPolicy): Promise<boolean> {
    const session = await store.sessionOf(request.conv);
    if (session === null) return false;
    const last = policy.mode === "idle" ? await lastAsked(session) : session.updatedAt;
    return isOver(policy, last, clock.now(), ports.zoneOffset);
  }

  /** When a person last used the session; heartbeats do not keep it alive. */
  async function lastAsked({ sessionId, createdAt, updatedAt }: SessionRow): Promise<Millis> {
    const lines = await store.transcript({ sessionId, limit: linesLookedAt, newest: true });
    const beats = lines.filter(({ role, text }) => role === "note" && text === heartbeatNote);
    if (beats.length === 0) return updatedAt;
    const unasked = new Set(beats.map(({ turnId }) => turnId));
    return lines.findLast(({ turnId }) => !unasked.has(turnId))?.at ?? createdAt;
  }

  function grantNow(request: SlotRequest): Grant | null {
    if (ports.policyOf(request.key).mode !== "none") return null;
    return grantOf(request, ids.next(`turn|${request.key}`), clock.now(), false);
  }

  function give({ events, writes }: Grant): void {
    ports.append(events, writes);
  }

  function grant(request: SlotRequest): void {
    const given = grantNow(request);
    if (given !== null) {
      give(given);
      return;
    }
    const turnId = ids.next(`turn|${request.key}`);
    void findPast(request, ports.policyOf(request.key))
      .catch((error: unknown) => {
        // Keeping the old session for a turn is better than never starting the turn.
        ports.log("warn", "sessions.policy", { key: request.key, error: String(error) });
        return false;
      })
      .then((over) => give(grantOf(request, turnId, clock.now(), over)));
  }

  return { grant, grantNow };
}
