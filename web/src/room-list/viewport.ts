/**
 * Where the page looks
 * ====================
 * Sent with the stream when it is opened, and by a request of its own when the page looks
 * elsewhere. One request at a time: while it is under way only the newest position is kept, so that
 * fast scrolling sends no more requests than are answered.
 */
import type { RoomsLook } from "../../../src/daemon/api-types/rooms.ts";

export interface ViewportOptions {
  readonly first: RoomsLook;
  /** Sends it to the daemon. Whether that succeeds or not, the stream says what is shown. */
  readonly send: (view: string, look: RoomsLook, signal: AbortSignal) => Promise<void>;
}

export class Viewport {
  readonly #send: ViewportOptions["send"];
  #look: RoomsLook;
  /** What the daemon received last. */
  #sent: RoomsLook | null = null;
  #view: string | null = null;
  #sending = false;
  readonly #end = new AbortController();

  constructor({ first, send }: ViewportOptions) {
    this.#look = first;
    this.#send = send;
  }

  get now(): RoomsLook {
    return this.#look;
  }

  /** The path of a new stream, which begins with what is looked at now. */
  path(): string {
    const { follow, sort, from, limit, ...words } = this.#look;
    const flags = { follow: follow ? "1" : "0", sort: sort ? "1" : "0" };
    this.#view = null;
    this.#takeLook();
    const query = new URLSearchParams({ ...words, ...flags, from: `${from}`, limit: `${limit}` });
    return `/api/rooms/live?${query}`;
  }

  /** The stream is open under this name. */
  opened(view: string): void {
    this.#view = view;
    void this.#sendLatest();
  }

  /** The page is closed: the stream is gone, and a request about it would fail. */
  end(): void {
    this.#view = null;
    this.#end.abort();
  }

  /** The daemon looked for a room, and begins there. */
  placed(from: number): void {
    if (this.#sent?.from !== this.#look.from) return;
    this.#look = { ...this.#look, from };
    this.#sent = { ...this.#sent, from };
  }

  look(part: Partial<RoomsLook>): void {
    this.#look = { ...this.#look, ...part };
    void this.#sendLatest();
  }

  async #sendLatest(): Promise<void> {
    if (this.#sending) return;
    this.#sending = true;
    while (this.#view !== null && this.#sent !== null && !isSame(this.#look, this.#sent)) {
      const look = this.#takeLook();
      await this.#send(this.#view, look, this.#end.signal);
    }
    this.#sending = false;
  }

  /** Sends the current position; one-time wishes are not sent again. */
  #takeLook(): RoomsLook {
    const look = this.#look;
    this.#look = { ...look, sort: false, at: "" };
    this.#sent = this.#look;
    return look;
  }
}

function isSame(roomsLook: RoomsLook, other: RoomsLook): boolean {
  return (Object.keys(roomsLook) as (keyof RoomsLook)[]).every(
    (name) => roomsLook[name] === other[name],
  );
}

const block = 24;

/** Rows to ask for around `first` to `last`: some more, so that most scrolling has them. */
export function rowsAround(first: number, last: number, most: number) {
  const from = Math.max(0, Math.floor((first - block) / block) * block);
  const to = Math.ceil((last + block) / block) * block;
  return { from, limit: Math.min(most, to - from) };
}
