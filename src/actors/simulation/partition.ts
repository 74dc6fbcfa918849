/**
 * Which rooms go into which strand
 * ================================
 * A scenario can be run in strands where its rooms have nothing to do with each other. A chat with
 * its threads is one room, whichever accounts hear it; all direct chats are one, because they may
 * share sessions and ask for codes. Lines that are not about a room are for every strand; those
 * whose effect depends on who comes first anywhere (runs for any conversation, the fate of a whole
 * channel, codes) rule strands out. What can only be seen while it happens is seen by the
 * recorder.
 *
 * Fed with each line once, while the scenario is checked; a number a line is all that is kept.
 */
import type { EarshotConfig } from "../../domain/config/index.ts";
import { isSessionKey, parseSessionKey } from "../../domain/key.ts";
import type { ScenarioLine } from "../../domain/scenario/scenario.ts";

/** The strand of a line that is for all of them. */
const everywhere = 255;
/** A strand number is one byte, and one value of it is taken. */
export const strandsCountMax = 32;
/** Where the busiest strand has more than this share of all lines, others hardly help. */
const busiestShareMax = 0.8;

/** Places of lines in `rooms`. */
const forAll = 0;
const direct = 1;

export interface StrandPlan {
  readonly strands: number;
  /** By line, the header and blank lines not counted: its strand, or 255 for all. */
  readonly lines: Uint8Array;
}

/** Whether a line with this place is one of that strand's. */
export const isOfStrand = (place: number | undefined, strand: number): boolean =>
  place === strand || place === everywhere;

export class StrandPlanner {
  /** Rooms by name. */
  readonly #rooms = new Map<string, number>();
  /** Lines of each room. */
  readonly #weights: number[] = [0, 0];
  /** Rooms in which somebody was spoken to directly. */
  readonly #direct = new Set<number>();
  #lines = new Uint32Array(4_096);
  #count = 0;
  #problem: string | null = null;

  see(line: ScenarioLine): void {
    if (this.#count === this.#lines.length) {
      const grown = new Uint32Array(this.#count * 2);
      grown.set(this.#lines);
      this.#lines = grown;
    }
    this.#lines[this.#count] = this.#roomOf(line);
    this.#count += 1;
  }

  get count(): number {
    return this.#count;
  }

  /** A plan for at most so many strands, or why there is none. */
  plan(strandsMax: number): StrandPlan | string {
    if (this.#problem !== null) return this.#problem;
    const strands = Math.min(strandsMax, strandsCountMax);
    if (strands < 2) return "one thread was asked for";
    for (const room of this.#direct) this.#merge(room);
    const { strandOf, loads } = this.#shared(strands);
    const busiest = Math.max(...loads);
    if (busiest > busiestShareMax * loads.reduce((sum, load) => sum + load, 0))
      return "nearly everything happens in one place";
    const lines = new Uint8Array(this.#count);
    for (let n = 0; n < this.#count; n += 1)
      lines[n] = strandOf[this.#lines[n] as number] as number;
    return { strands, lines };
  }

  /** The busiest rooms first, each to whoever has the least to do. */
  #shared(strands: number): { strandOf: Uint8Array; loads: number[] } {
    const strandOf = new Uint8Array(this.#weights.length);
    const loads = new Array<number>(strands).fill(0);
    const byWeight = this.#weights.map((weight, room) => ({ weight, room }));
    byWeight.sort((a, b) => b.weight - a.weight || a.room - b.room);
    for (const { weight, room } of byWeight) {
      const least = loads.indexOf(Math.min(...loads));
      strandOf[room] = least;
      loads[least] = (loads[least] as number) + weight;
    }
    for (const room of this.#direct) strandOf[room] = strandOf[direct] as number;
    strandOf[forAll] = everywhere;
    return { strandOf, loads };
  }

  /** A chat that is direct goes where all direct chats go. */
  #merge(room: number): void {
    this.#weights[direct] = (this.#weights[direct] as number) + (this.#weights[room] as number);
    this.#weights[room] = 0;
  }

  #roomOf(line: ScenarioLine): number {
    if ("in" in line) return this.#at(line.in);
    if ("edit" in line) return this.#at(line.edit);
    if ("delete" in line) return this.#at(line.delete);
    if ("membership" in line) return this.#at(line.membership);
    if ("history" in line) return this.#ofHistory(line.history);
    if ("agent" in line) return this.#ofKey(line.agent.key);
    if ("operator" in line) return this.#ofKey(line.operator.key);
    if ("platform" in line) {
      const { channel, chat, send } = line.platform;
      if (chat === undefined || send === "429" || send === "hang")
        return this.#refuse("the platform does something to all of its rooms");
      return this.#named(channel, chat);
    }
    // Somebody who is known from here on is known everywhere; who is let in otherwise was asked for.
    if ("approve" in line)
      return "as" in line.approve ? forAll : this.#refuse("somebody is let in by a code");
    if ("crash" in line) return this.#refuse("something crashes");
    return forAll;
  }

  /** What its messages say of their chat counts for the line, which may only name it. */
  #ofHistory(history: Extract<ScenarioLine, { history: unknown }>["history"]): number {
    for (const { channel, chat } of history.messages)
      if (chat.kind === "direct") this.#direct.add(this.#named(channel, chat.id));
    return this.#at(history);
  }

  #at(place: {
    readonly channel: string;
    readonly chat: { readonly id: string; readonly kind: string };
  }): number {
    const { id, kind } = place.chat;
    const room = this.#named(place.channel, id);
    if (kind === "direct") this.#direct.add(room);
    return room;
  }

  #named(channel: string, chat: string): number {
    const name = `${channel}\n${chat}`;
    let room = this.#rooms.get(name);
    if (room === undefined) {
      room = this.#weights.push(0) - 1;
      this.#rooms.set(name, room);
    }
    this.#weights[room] = (this.#weights[room] as number) + 1;
    return room;
  }

  /** Runs for one conversation are for its room; those for any are for whoever comes first. */
  #ofKey(key: string | undefined): number {
    if (key === undefined) return this.#refuse("runs are for whatever conversation comes first");
    if (!isSessionKey(key)) return forAll;
    const parts = parseSessionKey(key);
    if (parts.kind === "group" || parts.kind === "channel")
      return this.#named(parts.channel, parts.id);
    return direct;
  }

  #refuse(why: string): number {
    this.#problem ??= why;
    return forAll;
  }
}

/** Why rooms are not apart under this config; null: they are. */
export function sharedRooms({ session }: EarshotConfig): string | null {
  return session.scope === "global" ? "all rooms share one session" : null;
}
