/**
 * Where the page looks
 * ====================
 * Says it with the stream when that is opened, and by a question of its own when the page looks
 * elsewhere. One question at a time: while it is under way only the newest wish is kept, so that
 * who scrolls fast asks no more often than he is answered.
 */
import type { RoomsLook } from "../../../src/daemon/api-types/rooms.ts";

export interface LookerOptions {
  readonly first: RoomsLook;
  /** Tells the daemon; whatever becomes of it, the stream says what is seen. */
  readonly tell: (view: string, look: RoomsLook, signal: AbortSignal) => Promise<void>;
}

export class Looker {
  readonly #tell: LookerOptions["tell"];
  #look: RoomsLook;
  /** What the daemon was told last. */
  #told: RoomsLook | null = null;
  #view: string | null = null;
  #telling = false;
  readonly #end = new AbortController();

  constructor({ first, tell }: LookerOptions) {
    this.#look = first;
    this.#tell = tell;
  }

  get now(): RoomsLook {
    return this.#look;
  }

  /** The path of a new stream, which begins with what is looked at now. */
  path(): string {
    const { follow, sort, from, limit, ...words } = this.#look;
    const flags = { follow: follow ? "1" : "0", sort: sort ? "1" : "0" };
    this.#view = null;
    this.#taken();
    const query = new URLSearchParams({ ...words, ...flags, from: `${from}`, limit: `${limit}` });
    return `/api/rooms/live?${query}`;
  }

  /** The stream stands under this name. */
  opened(view: string): void {
    this.#view = view;
    void this.#say();
  }

  /** Nobody looks any more: the stream is gone, and who asks about it would be told so. */
  end(): void {
    this.#view = null;
    this.#end.abort();
  }

  /** The daemon looked for a room, and begins there. */
  placed(from: number): void {
    if (this.#told?.from !== this.#look.from) return;
    this.#look = { ...this.#look, from };
    this.#told = { ...this.#told, from };
  }

  look(part: Partial<RoomsLook>): void {
    this.#look = { ...this.#look, ...part };
    void this.#say();
  }

  async #say(): Promise<void> {
    if (this.#telling) return;
    this.#telling = true;
    while (this.#view !== null && this.#told !== null && !isSame(this.#look, this.#told)) {
      const look = this.#taken();
      await this.#tell(this.#view, look, this.#end.signal);
    }
    this.#telling = false;
  }

  /** What is looked at, told now; what is wanted once is not wanted again. */
  #taken(): RoomsLook {
    const look = this.#look;
    this.#look = { ...look, sort: false, at: "" };
    this.#told = this.#look;
    return look;
  }
}

function isSame(roomsLook: RoomsLook, other: RoomsLook): boolean {
  return (Object.keys(roomsLook) as (keyof RoomsLook)[]).every(
    (name) => roomsLook[name] === other[name],
  );
}

const block = 24;

/** Rows to be told for those from `first` up to `last`: some more, so that most scrolling has them. */
export function rowsAround(first: number, last: number, most: number) {
  const from = Math.max(0, Math.floor((first - block) / block) * block);
  const to = Math.ceil((last + block) / block) * block;
  return { from, limit: Math.min(most, to - from) };
}
