/**
 * Turns in progress
 * =================
 * Which turns were started and have not ended, and where they run: on the host of their
 * conversation, on this thread, or, if one may have killed its host, on a thread of its own. A turn
 * for a host that is being restarted waits for it. Reports of a turn that is not on the list, or of
 * an older attempt, are dropped: their sender has been given up.
 */
import type { Clock } from "../../domain/ports/index.ts";
import type { ConversationSettings } from "../../domain/settings.ts";
import type { TurnRunner } from "../agent-run/turn-runner.ts";
import { reasonOf } from "../host/conversation-host.ts";
import type { TurnPlace } from "../protocol/host-link.ts";
import type { AgentSpec, TurnReport, TurnRequest } from "../protocol/host-protocol.ts";
import type { LostTurn } from "../protocol/supervisor.ts";
import type { IsolatedPlace, Isolation } from "./isolation.ts";
import type { SupervisedHost } from "./supervised-host.ts";

export interface TurnOrdersPorts {
  readonly clock: Clock;
  /** Runs turns on this thread; null: hosts run their own. */
  readonly here: TurnRunner | null;
  /** Null: there are no threads. */
  readonly isolation: Isolation | null;
  /** The host of a conversation; undefined when all are broken. */
  hostOf(conv: number): SupervisedHost | undefined;
  agentOf(order: TurnRequest): AgentSpec;
  settingsOf(order: TurnRequest): ConversationSettings;
  onReports(reports: readonly TurnReport[]): void;
}

interface Turn {
  readonly order: TurnRequest;
  /** Null: waits for a host. Negative: an isolated place. */
  host: number | null;
}

export class TurnDispatcher {
  readonly #ports: TurnOrdersPorts;
  readonly #turns = new Map<string, Turn>();

  constructor(ports: TurnOrdersPorts) {
    this.#ports = ports;
  }

  get size(): number {
    return this.#turns.size;
  }

  countOn(host: number): number {
    let count = 0;
    for (const turn of this.#turns.values()) if (turn.host === host) count += 1;
    return count;
  }

  run(order: TurnRequest): void {
    const turn: Turn = { order, host: null };
    this.#turns.set(order.turnId, turn);
    this.#start(turn);
  }

  startWaiting(): void {
    for (const turn of this.#turns.values()) if (turn.host === null) this.#start(turn);
  }

  abort(turnId: string, reason: string): void {
    const turn = this.#turns.get(turnId);
    if (turn === undefined) return;
    if (turn.host !== null) this.#placeOf(turn)?.abort(turnId, reason);
    else this.#fail(turn.order, "aborted", reason);
  }

  async steer(turnId: string, text: string): Promise<boolean> {
    const turn = this.#turns.get(turnId);
    if (turn === undefined || turn.host === null) return false;
    return (await this.#placeOf(turn)?.steer(turnId, text)) ?? false;
  }

  watch(conv: number, on: boolean): void {
    (this.#ports.here ?? this.#ports.hostOf(conv)?.link?.turns)?.watch(conv, on);
    for (const { order, host } of this.#turns.values())
      if (order.conv === conv) this.#isolated(host)?.watch(conv, on);
  }

  /** Passes on the reports of listed turns; the report of a turn's end removes it. */
  reported(reports: readonly TurnReport[]): void {
    const known = reports.filter(({ conv, key, turnId, attempt, event }) => {
      const turn = this.#turns.get(turnId);
      if (turn === undefined || turn.order.attempt !== attempt) return false;
      // A report may concern only the conversation of its turn.
      if (turn.order.conv !== conv || turn.order.key !== key) return false;
      if ("turnId" in event && event.turnId !== turnId) return false;
      if (event.type === "agent.ended" || event.type === "agent.failed") {
        this.#turns.delete(turnId);
        void this.#isolated(turn.host)?.end();
      }
      return true;
    });
    if (known.length > 0) this.#ports.onReports(known);
  }

  /** The host died: removes its turns and returns them in the order of their ids. */
  lose(host: number): LostTurn[] {
    const lost = [...this.#turns.values()].filter((turn) => turn.host === host);
    for (const { order } of lost) {
      this.#turns.delete(order.turnId);
      this.#ports.here?.lose(order.turnId);
    }
    return lost
      .map(({ order: { conv, key, turnId } }) => ({ conv, key, turnId }))
      .sort((a, b) => (a.turnId < b.turnId ? -1 : 1));
  }

  clear(): void {
    this.#turns.clear();
  }

  #start(turn: Turn): void {
    const { order } = turn;
    const host = this.#hostFor(order);
    if (host === null) return;
    turn.host = host;
    try {
      const agent = this.#ports.agentOf(order);
      const settings = this.#ports.settingsOf(order);
      this.#placeOf(turn)?.run({ order, agent, settings });
    } catch (error) {
      this.#fail(order, "error", reasonOf(error));
    }
  }

  /** Where a turn may start now; null: it waits. */
  #hostFor({ turnId, conv }: TurnRequest): number | null {
    const { isolation, hostOf } = this.#ports;
    if (isolation?.suspects(turnId)) return isolation.free?.id ?? null;
    const host = hostOf(conv);
    return host === undefined || host.link === null ? null : host.id;
  }

  #isolated(host: number | null): IsolatedPlace | undefined {
    return host !== null && host < 0 ? this.#ports.isolation?.at(host) : undefined;
  }

  #placeOf(turn: Turn):
    | (Pick<TurnPlace, "run" | "abort"> & {
        steer(turnId: string, text: string): boolean | Promise<boolean>;
      })
    | null {
    const { here, hostOf } = this.#ports;
    if (turn.host !== null && turn.host < 0) return this.#isolated(turn.host) ?? null;
    return here ?? hostOf(turn.order.conv)?.link?.turns ?? null;
  }

  /** Ends a turn whose agent was never called. */
  #fail(order: TurnRequest, code: "aborted" | "error", message: string): void {
    const { conv, key, turnId, attempt } = order;
    const at = this.#ports.clock.now();
    const event = { type: "agent.failed", at, turnId, code, message } as const;
    this.reported([{ conv, key, turnId, attempt, n: 0, event }]);
  }
}
