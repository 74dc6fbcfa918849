/**
 * Rooms to enter: those to which somebody invited the bot, and those that took the place of one it was
 * in. What the homeserver refuses is said once; what it could not answer is tried again with the next
 * sync, also after a restart.
 */
import { EarshotError } from "../../../domain/errors.ts";
import type { ChannelContext } from "../../../domain/ports/index.ts";
import { type MatrixClient, pathOf } from "./client.ts";
import type { MatrixAccountConfig } from "./config.ts";
import type { Entering } from "./progress.ts";
import type { MatrixRooms } from "./rooms.ts";
import { anySchema, joinSchema, memberSchema, strippedSchema, type WireSync } from "./wire.ts";

const waitingMax = 100;
const joinMsMax = 60_000;

export class Invites {
  readonly #client: MatrixClient;
  readonly #context: ChannelContext<MatrixAccountConfig>;
  readonly #rooms: MatrixRooms;
  readonly #signal: AbortSignal;
  readonly #onChange: () => void;
  readonly #waiting = new Map<string, Entering>();
  /** Rooms that are done with, by invitation or upgrade. */
  readonly #followed = new Set<string>();
  readonly #refused = new Set<string>();
  #running: Promise<void> | null = null;

  /** @param onChange the notes have changed */
  constructor(
    client: MatrixClient,
    context: ChannelContext<MatrixAccountConfig>,
    rooms: MatrixRooms,
    signal: AbortSignal,
    onChange: () => void,
  ) {
    this.#client = client;
    this.#context = context;
    this.#rooms = rooms;
    this.#signal = signal;
    this.#onChange = onChange;
  }

  /** What a sync says about invitations. */
  note(invited: WireSync["rooms"]["invite"]): void {
    if (this.#context.config.invites === "ignore") return;
    for (const [room, { invite_state }] of Object.entries(invited)) {
      if (this.#waiting.size >= waitingMax) continue;
      const ours = invite_state.events
        .flatMap((one) => strippedSchema.safeParse(one).data ?? [])
        .find(({ type, state_key }) => type === "m.room.member" && state_key === this.#rooms.self);
      const isDirect = memberSchema.safeParse(ours?.content).data?.is_direct === true;
      const direct = isDirect ? (ours?.sender ?? null) : null;
      this.#waiting.set(room, { room, direct, via: serverOf(ours?.sender) });
    }
  }

  /** The room took the place of one that the bot is in. */
  follow(room: string, by: string): void {
    if (this.#followed.has(room) || this.#followed.size >= waitingMax * 10) return;
    this.#followed.add(room);
    this.#waiting.set(room, { room, direct: null, via: serverOf(by) });
  }

  /** What waits, for the cursor. */
  get waiting(): readonly Entering[] {
    return [...this.#waiting.values()];
  }

  /** Takes up what waited when an earlier run ended. */
  resume(entering: readonly Entering[]): void {
    for (const one of entering.slice(0, waitingMax)) this.#waiting.set(one.room, one);
  }

  /** Enters what waits, beside the syncs: a homeserver may need long for it. */
  start(): void {
    if (this.#waiting.size === 0) return;
    this.#running ??= this.#accept().finally(() => {
      this.#running = null;
    });
    // `ended` passes the error on.
    this.#running.catch(() => undefined);
  }

  /** Resolves when it enters nothing any more. */
  async ended(): Promise<void> {
    await this.#running;
  }

  async #accept(): Promise<void> {
    for (const [room, entering] of [...this.#waiting]) {
      try {
        await this.#enter(entering);
        this.#waiting.delete(room);
      } catch (error) {
        if (this.#signal.aborted) return;
        if (!(error instanceof EarshotError)) throw error;
        if (error.disposition === "retry") continue;
        this.#waiting.delete(room);
        if (this.#refused.size < waitingMax) this.#refused.add(room);
        this.#context.log("warn", "matrix.join-refused", { room, why: error.message });
        this.#onChange();
      }
    }
  }

  /** For the state of the connection. */
  get notes(): readonly string[] {
    const rooms = [...this.#refused];
    return rooms.length === 0 ? [] : [`it could not enter ${rooms.join(", ")}`];
  }

  async #enter({ room, direct, via }: Entering): Promise<void> {
    await this.#client.call(
      "POST",
      pathOf("join", room),
      {
        what: "enter a room",
        body: {},
        ...(via !== null && { query: { server_name: via, via } }),
        signal: this.#signal,
        msMax: joinMsMax,
      },
      joinSchema,
    );
    this.#context.log("info", "matrix.joined", { room });
    if (this.#refused.delete(room)) this.#onChange();
    if (direct === null) return;
    // The list is the account's own, and says which rooms are direct chats.
    const lists = this.#rooms.directsWith(room, direct);
    this.#rooms.noteDirects(lists);
    const path = pathOf("user", this.#rooms.self, "account_data", "m.direct");
    const options = { what: "note a direct chat", body: lists, signal: this.#signal };
    await this.#client.call("PUT", path, options, anySchema);
  }
}

const serverOf = (user: string | undefined): string | null =>
  /:(.+)$/s.exec(user ?? "")?.[1] ?? null;
