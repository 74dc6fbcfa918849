/**
 * A small world around a real runtime
 * ===================================
 * Simulated clock, a store that survives restarts, platforms with ordered behaviour, scripted
 * agents. Everything the runtime publishes and everything a platform was asked to do is kept in
 * order.
 */

import type {
  CrashPoint,
  OutboundDirectory,
  Runtime,
  RuntimePorts,
} from "../../../src/actors/protocol/runtime.ts";
import { createRuntimeEvents } from "../../../src/actors/protocol/runtime-events.ts";
import { createRuntime } from "../../../src/actors/runtime/runtime.ts";
import { SimulatedClock } from "../../../src/actors/simulation/simulated-clock.ts";
import { createScriptedDriver } from "../../../src/adapters/agents/scripted/driver.ts";
import { sha256 } from "../../../src/adapters/system/digest.ts";
import { scenarioConfig } from "../../../src/domain/config/index.ts";
import { EarshotError } from "../../../src/domain/errors.ts";
import { type Inbound, type InboundInput, inboundSchema } from "../../../src/domain/message.ts";
import type {
  AgentDriver,
  ChannelOutbound,
  ChoicesRequest,
  LogLevel,
  MediaRequest,
  MediaService,
  Store,
} from "../../../src/domain/ports/index.ts";
import type { ScriptedRun } from "../../../src/domain/scenario/script.ts";
import type { StreamLine } from "../../../src/domain/stream.ts";
import { createTestStore, type TestStore } from "./test-store.ts";

/** What the platform does with the next calls, in order; then it takes everything. */
export type Fate = "ok" | "slow" | "429" | "fail" | "refuse" | "hang" | "odd" | "elsewhere";

export interface Sent {
  readonly id: string;
  readonly text: string;
  readonly chat: string;
  readonly replyTo: string | null;
  readonly quote?: boolean;
  readonly at: number;
}

export interface WorldOptions {
  readonly store?: Store;
  readonly config?: Record<string, unknown>;
  readonly onPoint?: (point: CrashPoint) => void;
  readonly prompts?: boolean;
  /** @default always a half */
  readonly random?: () => number;
  /** Made on the world's clock. */
  readonly media?: (clock: SimulatedClock) => MediaService;
  /** Besides the scripted one. */
  readonly drivers?: readonly AgentDriver[];
  /** Further ports of the runtime. */
  readonly ports?: Partial<RuntimePorts>;
}

export class World {
  readonly clock = new SimulatedClock(1_700_000_000_000);
  readonly store: Store;
  readonly lines: StreamLine[] = [];
  readonly sent: Sent[] = [];
  /** Edits of what was sent, in order. */
  readonly edited: { messageId: string; id: string; text: string; at: number }[] = [];
  readonly reactions: string[] = [];
  readonly typing: boolean[] = [];
  /** The same, with its moments. */
  readonly typed: { on: boolean; at: number }[] = [];
  readonly refreshed: string[] = [];
  readonly logged: { level: LogLevel; event: string }[] = [];
  readonly fates: Fate[] = [];
  /** The same for reactions. */
  readonly reactionFates: Fate[] = [];
  readonly runs: ScriptedRun[] = [];
  /** Calls of the platform wait for it, then meet their fate. */
  held: Promise<void> = Promise.resolve();
  /** Called with each text that the platform takes. */
  onSend: (text: string) => void = () => {};
  ready = true;
  /** As `channel:account`; null: every one that is asked for. */
  accounts: readonly string[] | null = null;
  /** The platform can edit what was sent. */
  canEdit = true;
  /** The platform has neither typing nor reactions. */
  wordsOnly = false;
  /** The platform takes files and choices. */
  takesExtras = false;
  /** What it took of them, beside `sent`. */
  readonly extras: (MediaRequest | ChoicesRequest)[] = [];
  /** Author ids under which accounts of ours write. */
  readonly ours = new Set<string>();
  /** People in every group, so that nobody is alone with the agent. */
  humans = 4;
  /** What the platform can read of a new room, and when it answers. @default nothing */
  firstReads: { members?: () => Promise<void>; history?: () => Promise<Inbound[] | null> } | null =
    null;
  runtime!: Runtime;
  readonly #options: WorldOptions;
  #ids = 0;

  constructor(options: WorldOptions = {}) {
    this.#options = options;
    this.store = options.store ?? createTestStore();
  }

  /** The store where it is a test store: to order faults. */
  get disk(): TestStore {
    return this.store as TestStore;
  }

  async start(config: Record<string, unknown> = this.#options.config ?? {}): Promise<this> {
    const driver = createScriptedDriver({ next: () => this.runs.shift() }) as AgentDriver;
    const whole = { agents: { defaults: { driver: { kind: "scripted" } } }, ...config };
    this.runtime = createRuntime({
      clock: this.clock,
      ids: { next: () => `id${String(++this.#ids).padStart(6, "0")}` },
      random: { next: this.#options.random ?? (() => 0.5) },
      digest: sha256,
      log: (level, event) => this.logged.push({ level, event }),
      store: this.store,
      config: scenarioConfig(whole),
      drivers: new Map(
        [driver, ...(this.#options.drivers ?? [])].map((one) => [one.kind, one] as const),
      ),
      ...(this.#options.media === undefined ? {} : { media: this.#options.media(this.clock) }),
      directory: this.#directory(),
      events: createRuntimeEvents(() => undefined, { line: (line) => this.lines.push(line) }),
      workers: 0,
      housekeeping: false,
      live: false,
      ...this.#options.ports,
      ...(this.#options.onPoint === undefined ? {} : { onPoint: this.#options.onPoint }),
      ...(this.#options.prompts === undefined ? {} : { prompts: this.#options.prompts }),
    });
    await this.runtime.start();
    return this;
  }

  /** What the platform shows by now, oldest first. */
  shown(): string[] {
    const texts = new Map(this.sent.map(({ text }, index) => [`p${index + 1}`, text]));
    for (const { messageId, text } of this.edited) texts.set(messageId, text);
    return [...texts.values()];
  }

  /** Ends the runtime as a crash would find it, and starts another on the same store. */
  async restart(config?: Record<string, unknown>): Promise<void> {
    await this.runtime.stop();
    await this.start(config ?? this.#options.config);
    await this.runtime.settled();
  }

  /** Says something in a group (or, with `direct`, to the agent alone). */
  say(text: string, more: Partial<InboundInput> & { direct?: boolean } = {}) {
    const { direct, ...rest } = more;
    const message = inboundSchema.parse({
      channel: "telegram",
      chat: direct === true ? { id: "ann", kind: "direct" } : { id: "room", kind: "group" },
      id: `m${++this.#ids}`,
      author: { id: "ann", name: "Ann" },
      text,
      ...rest,
    });
    return this.runtime.ingest("telegram", message.account, [{ type: "message", message }]);
  }

  /** Ends the process as kill -9 would, and starts another on what it left. */
  async kill(): Promise<void> {
    this.disk.drop(true);
    const published = this.lines.length;
    await this.runtime.stop();
    this.lines.splice(published);
    this.disk.drop(false);
    await this.start();
  }

  /** Lets time pass, one timer after the other. */
  async pass(ms: number): Promise<void> {
    const until = this.clock.now() + ms;
    await this.runtime.settled();
    for (;;) {
      const due = this.clock.nextDue();
      if (due === null || due > until) break;
      this.clock.advanceTo(due);
      await this.runtime.settled();
    }
    this.clock.advanceTo(until);
    await this.runtime.settled();
  }

  #directory(): OutboundDirectory {
    return {
      hasAccount: (channel, account) =>
        this.accounts === null || this.accounts.includes(`${channel}:${account}`),
      accounts: () => this.accounts ?? [],
      outbound: () => this.#outbound(),
      ready: () => this.ready,
      textLimit: () => 4_096,
      typingIntervalMs: () => 5_000,
      isLocal: () => false,
      isOurs: (_channel, author) => this.ours.has(author),
      refreshMembership: (route) => this.refreshed.push(route.chat.id),
      firstReads: () => {
        const { members = null, history = null } = this.firstReads ?? {};
        return this.firstReads === null ? null : { members, history };
      },
      membership: () => {
        const fetchedAt = this.clock.now();
        return { humans: this.humans, bots: 1, truncated: false, fetchedAt };
      },
    };
  }

  #outbound(): ChannelOutbound {
    const take = (
      id: string,
      text: string,
      chat: string,
      replyTo: string | null,
      quote = false,
    ) => {
      this.onSend(text);
      this.sent.push({ id, text, chat, replyTo, quote, at: this.clock.now() });
      return { messageIds: [`p${this.sent.length}`] };
    };
    const meet = async (fates = this.fates): Promise<void> => {
      await this.held;
      switch (fates.shift() ?? "ok") {
        case "ok":
          return;
        case "slow":
          return new Promise((resolve) => {
            this.clock.setTimer(this.clock.now() + 3_000, resolve);
          });
        case "429":
          throw new EarshotError("EAR_CHANNEL_RATE", "too many", { retryAfterMs: 2_000 });
        case "fail":
          throw new EarshotError("EAR_CHANNEL_UNAVAILABLE", "down");
        case "refuse":
          throw new EarshotError("EAR_CHANNEL_REJECTED", "blocked");
        case "elsewhere":
          // Another node has the connection, and this one learns it now.
          this.ready = false;
          throw new EarshotError("EAR_LEASE_LOST", "another node has it");
        case "hang":
          return new Promise<never>(() => undefined);
        case "odd":
          throw new Error("socket closed");
      }
    };
    const words: ChannelOutbound = {
      async sendText({ id, text, route }) {
        await meet();
        return take(id, text, route.chat.id, null);
      },
      async replyText({ id, text, route, replyTo, quote }) {
        await meet();
        return take(id, text, route.chat.id, replyTo, quote);
      },
    };
    if (this.takesExtras) {
      words.sendMedia = async (request) => {
        await meet();
        this.extras.push(request);
        return take(
          request.id,
          `<${request.name}>`,
          request.route.chat.id,
          request.replyTo ?? null,
        );
      };
      words.sendChoices = async (request) => {
        await meet();
        this.extras.push(request);
        const text = `<${request.choices.options.join("|")}>`;
        return take(request.id, text, request.route.chat.id, request.replyTo ?? null);
      };
    }
    if (this.wordsOnly) return words;
    const editText: NonNullable<ChannelOutbound["editText"]> = async ({ id, text, messageId }) => {
      await meet();
      this.edited.push({ messageId, id, text, at: this.clock.now() });
    };
    return {
      ...words,
      ...(this.canEdit ? { editText } : {}),
      sendTyping: async (_route, on) => {
        this.typing.push(on);
        this.typed.push({ on, at: this.clock.now() });
      },
      addReaction: async (_route, message, emoji) => {
        await meet(this.reactionFates);
        this.reactions.push(`+${emoji} ${message}`);
      },
      removeReaction: async (_route, message, emoji) => {
        await meet(this.reactionFates);
        this.reactions.push(`-${emoji} ${message}`);
      },
    };
  }

  /** Lines of one kind, by a field that only they have. */
  decisions() {
    return this.lines.flatMap((line) => ("decision" in line ? [line] : []));
  }
  sends() {
    return this.lines.flatMap((line) => ("out" in line && line.out === "send" ? [line] : []));
  }
  events(name: string) {
    return this.lines.filter((line) => "event" in line && line.event === name);
  }
}
