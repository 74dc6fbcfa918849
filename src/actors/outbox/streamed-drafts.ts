/**
 * Growing messages
 * ================
 * Edits a sent draft while its answer grows. Nothing here is durable or queued: of all texts that
 * arrive before a room's next edit, only the newest is shown. A room gets one edit a second at
 * most, however many drafts grow in it, and a rate limit of the platform is respected. The final
 * text is a row of the outbox like any other, sent when the last of these edits is over.
 */
import { limits } from "../../domain/limits.ts";
import type { Millis, Route } from "../../domain/message.ts";
import type { Log, TimerHandle } from "../../domain/ports/index.ts";
import type { TurnDraft } from "../protocol/host-protocol.ts";
import type { OutboundDirectory } from "../protocol/runtime.ts";
import { type CallLimits, tryCall } from "./send-attempt.ts";

export interface DraftPorts extends CallLimits {
  readonly log: Log;
  readonly directory: Pick<OutboundDirectory, "outbound" | "ready">;
  readonly pause: (channel: string, account: string, until: Millis) => void;
  /** When the account may be called again. */
  readonly pausedUntil: (channel: string, account: string) => Millis;
}

export interface Drafts {
  /** A draft is about to be sent; updates of unknown drafts are ignored. */
  open(id: string): void;
  /** It has reached the platform. */
  sent(id: string, route: Route, messageId: string, text: string): void;
  /** The text that it should show now. */
  update(draft: TurnDraft): void;
  /** Stops editing it; resolves when an edit in progress is over. */
  seal(id: string): Promise<void>;
  /** The turn is over: none of its drafts is edited any more. */
  forget(turnId: string): void;
  /** Edits in progress. */
  active(): number;
  stop(): void;
}

interface Draft {
  readonly id: string;
  /** Null: not on the platform yet. */
  place: { readonly route: Route; readonly messageId: string } | null;
  shown: string;
  next: string | null;
  timer: TimerHandle | null;
  /** The edit in progress. */
  work: Promise<void> | null;
  sealed: boolean;
}

const roomOf = ({ channel, account, chat }: Route) => JSON.stringify([channel, account, chat.id]);

export function createDrafts(ports: DraftPorts): Drafts {
  const { clock, directory, log } = ports;
  const drafts = new Map<string, Draft>();
  /** When each room that shows drafts may get its next edit, and how many it shows. */
  const rooms = new Map<string, { nextAt: Millis; drafts: number }>();
  let working = 0;

  function schedule(draft: Draft): void {
    const { place, next } = draft;
    if (draft.sealed || draft.timer !== null || draft.work !== null) return;
    if (place === null || next === null || next === draft.shown) return;
    const { channel, account } = place.route;
    const paused = ports.pausedUntil(channel, account);
    const at = Math.max(clock.now(), rooms.get(roomOf(place.route))?.nextAt ?? 0, paused);
    draft.timer = clock.setTimer(at, () => {
      draft.timer = null;
      draft.work = edit(draft, place).finally(() => {
        draft.work = null;
        schedule(draft);
      });
    });
  }

  async function edit(draft: Draft, { route, messageId }: NonNullable<Draft["place"]>) {
    const { channel, account } = route;
    const room = rooms.get(roomOf(route));
    const text = draft.next;
    if (room === undefined || text === null) return;
    if (clock.now() < Math.max(room.nextAt, ports.pausedUntil(channel, account))) return;
    room.nextAt = clock.now() + limits.draftEditMsMin;
    const outbound = directory.outbound(channel, account);
    if (outbound?.editText === undefined || !directory.ready(channel, account)) return;
    draft.next = null;
    draft.shown = text;
    working += 1;
    const request = { route, text, id: draft.id, messageId, growing: true } as const;
    const outcome = await tryCall(ports, async (signal) => {
      await outbound.editText?.({ ...request, signal });
      return [];
    });
    working -= 1;
    if (outcome.kind === "confirm") return;
    log("debug", "draft.unshown", { id: draft.id, error: outcome.error });
    if (outcome.kind === "refuse") draft.sealed = true;
    const afterMs = outcome.kind === "defer" ? outcome.afterMs : null;
    const until = clock.now() + (afterMs ?? limits.draftBackoffMs);
    if (outcome.kind === "defer" && outcome.wholeAccount) ports.pause(channel, account, until);
    room.nextAt = until;
    // Perhaps not shown: sent again, unless a newer text arrived.
    draft.next ??= text;
    draft.shown = "";
  }

  function seal(draft: Draft): void {
    draft.sealed = true;
    draft.next = null;
    if (draft.timer !== null) clock.clearTimer(draft.timer);
    draft.timer = null;
    drafts.delete(draft.id);
    if (draft.place === null) return;
    const id = roomOf(draft.place.route);
    const room = rooms.get(id);
    if (room !== undefined) room.drafts -= 1;
    if (room?.drafts === 0) rooms.delete(id);
  }

  return {
    open(id) {
      if (drafts.size >= limits.draftsMax) return;
      drafts.set(id, {
        id,
        place: null,
        shown: "",
        next: null,
        timer: null,
        work: null,
        sealed: false,
      });
    },
    sent(id, route, messageId, text) {
      const draft = drafts.get(id);
      if (draft === undefined || draft.place !== null) return;
      draft.place = { route, messageId };
      draft.shown = text;
      const room = rooms.get(roomOf(route)) ?? { nextAt: 0, drafts: 0 };
      room.nextAt = Math.max(room.nextAt, clock.now() + limits.draftEditMsMin);
      room.drafts += 1;
      rooms.set(roomOf(route), room);
      schedule(draft);
    },
    update({ turnId, index, text }) {
      const draft = drafts.get(`${turnId}:${index}`);
      if (draft === undefined) return;
      draft.next = text;
      schedule(draft);
    },
    async seal(id) {
      const draft = drafts.get(id);
      if (draft === undefined) return;
      seal(draft);
      await draft.work;
    },
    forget(turnId) {
      for (const draft of [...drafts.values()]) if (draft.id.startsWith(`${turnId}:`)) seal(draft);
    },
    active: () => working,
    stop() {
      for (const draft of [...drafts.values()]) seal(draft);
    },
  };
}
