/**
 * Search for messages
 * ===================
 * Opens the index, lets it follow the journal a moment after something happened, and answers
 * queries. The config switches it off and on while the daemon runs: off deletes the index, on builds
 * it from the journal.
 */
import { conversationOf } from "../../actors/protocol/event-codec.ts";
import type { RuntimeListener } from "../../actors/protocol/runtime-events.ts";
import { deleteSearchIndex, openSearchIndex } from "../../adapters/search/search-database.ts";
import type { EarshotConfig } from "../../domain/config/index.ts";
import { isSessionKey, parseSessionKey } from "../../domain/key.ts";
import type {
  Clock,
  FoundMessage,
  Log,
  MessageQuery,
  SearchIndex,
  Store,
  TimerHandle,
} from "../../domain/ports/index.ts";
import type { FoundView, SearchAnswer } from "../api-types/search.ts";
import { createFollower, type Follower, type FollowerPorts } from "./follower.ts";
import { viewOf } from "./found-view.ts";

export interface SearchPorts {
  readonly store: Store;
  /** See `createFollower`. */
  readonly arrivals?: FollowerPorts["arrivals"];
  readonly clock: Clock;
  readonly log: Log;
  readonly config: () => EarshotConfig;
  readonly titleOf: (key: string) => Promise<string>;
  /** The file of the index; null: in memory. */
  readonly path: string | null;
}

/** A query by session key. */
export interface SearchQuery extends Omit<MessageQuery, "conv"> {
  readonly room?: string | undefined;
}

export interface Search {
  readonly listener: Required<Pick<RuntimeListener, "applied">>;
  /** Opens or deletes the index, as the config says now, and follows the journal. */
  start(): void;
  find(query: SearchQuery): Promise<SearchAnswer>;
  /** Resolves when the index has what the journal had. */
  caughtUp(): Promise<void>;
  close(): Promise<void>;
}

/** What happens meanwhile is indexed together. */
const delayMs = 250;
/** After an error. */
const retryMs = 30_000;

interface Open {
  readonly index: SearchIndex;
  readonly follower: Follower;
}

export function createSearch(ports: SearchPorts): Search {
  return new MessageSearch(ports);
}

class MessageSearch implements Search {
  readonly #ports: SearchPorts;
  #open: Open | null = null;
  #timer: TimerHandle | null = null;
  #running: Promise<void> | null = null;
  #again = false;
  #built = false;
  #problem: string | null = null;
  #closed = false;

  constructor(ports: SearchPorts) {
    this.#ports = ports;
  }

  readonly listener = { applied: () => this.#arm(delayMs) };

  start(): void {
    if (this.#ports.config().search.enabled) {
      this.#arm(0);
      return;
    }
    this.#shut();
    this.#problem = null;
    if (this.#ports.path !== null) deleteSearchIndex(this.#ports.path);
  }

  #arm(wait: number): void {
    if (this.#closed || this.#timer !== null || !this.#ports.config().search.enabled) return;
    if (this.#running !== null) {
      this.#again = true;
      return;
    }
    const { clock } = this.#ports;
    this.#timer = clock.setTimer(clock.now() + wait, () => {
      this.#timer = null;
      this.#follow();
    });
  }

  #follow(): void {
    this.#running = this.#catchUp()
      .then(
        () => {
          this.#problem = null;
          return delayMs;
        },
        (error: unknown) => {
          this.#fail(error);
          this.#again = true;
          return retryMs;
        },
      )
      .then((wait) => {
        this.#running = null;
        const again = this.#again;
        this.#again = false;
        if (again) this.#arm(wait);
      });
  }

  async #catchUp(): Promise<void> {
    const open = this.#opened();
    const stopped = () => this.#closed || this.#open !== open;
    try {
      await open.follower.catchUp(stopped);
    } catch (error) {
      // Switched off: the index was closed between two steps.
      if (!stopped()) throw error;
    }
    if (stopped() || this.#built) return;
    this.#built = true;
    this.#ports.log("info", "search.ready", { messages: open.index.size() });
  }

  #opened(): Open {
    if (this.#open !== null) return this.#open;
    const { store, arrivals, config, path } = this.#ports;
    const index = openSearchIndex({ path });
    const agentOf = (key: string) => {
      const id = isSessionKey(key) ? parseSessionKey(key).agentId : "";
      const agent = config().agents.list.find((one) => one.id === id);
      return { id, name: agent?.name ?? id };
    };
    const follower = createFollower({ store, arrivals, index, agentOf });
    this.#open = { index, follower };
    return this.#open;
  }

  #fail(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    if (this.#problem !== reason) this.#ports.log("warn", "search.failed", { error: reason });
    this.#problem = reason;
    this.#shut();
  }

  /** A run that is under way ends at its next step. */
  #shut(): void {
    this.#open?.index.close();
    this.#open = null;
    this.#built = false;
    if (this.#timer !== null) this.#ports.clock.clearTimer(this.#timer);
    this.#timer = null;
  }

  async find({ room, ...query }: SearchQuery): Promise<SearchAnswer> {
    const open = this.#open;
    const index = await this.#state();
    const conv = room === undefined ? undefined : conversationOf(room).conv;
    const none = { found: [], next: null, index, lookedAt: null };
    if (open === null || this.#problem !== null) return none;
    const { found, next, lookedAt } = await open.index.find({ ...query, conv });
    const views = await Promise.all(found.map((message) => this.#viewOf(message, query)));
    return { found: views, next, index, lookedAt };
  }

  async #state(): Promise<SearchAnswer["index"]> {
    const { arrivals, store } = this.#ports;
    const total = await (arrivals?.lastPlace() ?? store.lastSeq());
    const nothing = { done: 0, total, fullText: true, problem: null };
    if (!this.#ports.config().search.enabled) return { ...nothing, state: "off" };
    if (this.#problem !== null) return { ...nothing, state: "failed", problem: this.#problem };
    if (this.#open === null) return { ...nothing, state: "building" };
    const { index, follower } = this.#open;
    const progress = await follower.progress();
    const state = this.#built ? "ready" : "building";
    return { ...progress, state, fullText: index.fullText, problem: null };
  }

  async #viewOf(message: FoundMessage, { terms }: Pick<MessageQuery, "terms">): Promise<FoundView> {
    const { key, place } = message;
    return viewOf(message, terms, key === "" ? place : await this.#ports.titleOf(key));
  }

  async caughtUp(): Promise<void> {
    for (;;) {
      if (this.#running === null && this.#timer === null) return;
      if (this.#timer !== null) {
        this.#ports.clock.clearTimer(this.#timer);
        this.#timer = null;
        this.#follow();
      }
      await this.#running;
      if (this.#problem !== null) return;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer !== null) this.#ports.clock.clearTimer(this.#timer);
    await this.#running;
    this.#open?.index.close();
    this.#open = null;
  }
}
