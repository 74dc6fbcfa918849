/**
 * A simulated world
 * =================
 * A room one step at a time, for tests of a single story: somebody speaks, time passes, the agent
 * is slow, the platform refuses, the process is killed. After every step all its consequences have
 * happened and can be read. Also for models that are compared step by step. The same steps and seed
 * give the same world.
 */
import { simulateScenario } from "../daemon/replay/simulate.ts";
import { EarshotError } from "../domain/errors.ts";
import { ScenarioReader } from "../domain/scenario/read-scenario.ts";
import type { Scenario, ScenarioLine } from "../domain/scenario/scenario.ts";
import { homeChat, messageOf, Room, type RoomChat, type Speech } from "./room.ts";
import type { RoomLine } from "./room-line.ts";
import { type Heard, type RoomEvent, RoomRun, type SimulateRoomOptions } from "./room-run.ts";

type Runs = Extract<RoomLine, { agent: unknown }>["agent"]["runs"];
type SendResult = Omit<Extract<RoomLine, { platform: unknown }>["platform"], "channel">;
type Untimed<Line> = Line extends unknown ? Omit<Line, "t"> : never;

/** Details of a message. @default a plain message in the room's chat */
export type MessageOptions = Omit<Speech, "by" | "text" | "isBot">;

export interface WorldOptions extends SimulateRoomOptions {
  /** Authors that are bots. @default nobody */
  readonly bots?: readonly string[];
  /** Where people speak. @default the group `kitchen` */
  readonly chat?: RoomChat;
  /** @default "irc" */
  readonly channel?: string;
}

/** A simulated room, driven by a test. */
export interface World {
  /** ms since the start. */
  readonly now: number;
  /** Somebody sends a message; returns its decision for each agent that received it. */
  say(by: string, text: string, options?: MessageOptions): Promise<readonly Heard[]>;
  /** Time passes, and everything that is due happens. */
  wait(ms: number): Promise<void>;
  /** Scripts the next runs of the agent. @default it answers `ok` */
  agent(...runs: Runs): Promise<void>;
  /** The outcome of the next sends. @default they succeed immediately */
  platform(result: SendResult): Promise<void>;
  /** The channel reads its member list. */
  members(humans: number, more?: { bots?: number; truncated?: boolean }): Promise<void>;
  /** The text of a message changes. */
  edit(id: string, text: string): Promise<void>;
  /** Every conversation is passivated; the next message loads it again. */
  sleep(): Promise<void>;
  /** A worker or the whole process is killed and restarted. */
  crash(what: "host" | "process"): Promise<void>;
  /** The config from here on. */
  configure(config: Readonly<Record<string, unknown>>): Promise<void>;
  /** Any other line of a scenario. */
  happen(line: Untimed<RoomLine>): Promise<void>;
  /** Everything so far. */
  run(): RoomRun;
  /** Ends the world, without waiting for running work. */
  close(): Promise<void>;
}

/**
 * Opens a simulated world under a config.
 * @param config as `earshot.json5` has it
 * @example
 * ```ts
 * const world = createWorld({}, { bots: ["rex"] });
 * await world.say("ann", "hello");
 * const [heard] = await world.say("rex", "hello");
 * expect(heard?.decision).toBe("observe");
 * await world.close();
 * ```
 */
export function createWorld(config: unknown = {}, options: WorldOptions = {}): World {
  return new SteppedWorld(config, options);
}

class SteppedWorld implements World {
  now = 0;
  readonly #config: unknown;
  readonly #options: WorldOptions;
  readonly #reader = new ScenarioReader("the world");
  readonly #lines: RoomLine[] = [];
  readonly #events: RoomEvent[] = [];
  #messageCount = 0;
  /** The line whose turn it is; null ends the world. */
  #next: ScenarioLine | null = null;
  #ended: Promise<unknown> | null = null;
  /** Reports that the line and all its consequences are done. */
  #done: () => void = () => {};
  #go: () => void = () => {};
  #isClosed = false;

  constructor(config: unknown, options: WorldOptions) {
    this.#config = config;
    this.#options = options;
  }

  async say(by: string, text: string, options: MessageOptions = {}): Promise<readonly Heard[]> {
    this.#messageCount += 1;
    const { bots = [], chat = homeChat, channel } = this.#options;
    const place = channel === undefined ? { chat } : { chat, channel };
    const id = `m${this.#messageCount}`;
    const speech = { ...place, ...options, by, text, isBot: bots.includes(by) };
    await this.happen({ in: messageOf(id, speech) });
    return this.run().heard.filter(({ message }) => message.id === id);
  }

  async wait(ms: number): Promise<void> {
    this.now += ms;
    await this.happen({ end: true });
  }

  agent(...runs: Runs): Promise<void> {
    return this.happen({ agent: { runs } });
  }

  platform(result: SendResult): Promise<void> {
    return this.happen({ platform: { channel: this.#place.channel, ...result } });
  }

  members(humans: number, more: { bots?: number; truncated?: boolean } = {}): Promise<void> {
    return this.happen({ membership: { ...this.#place, humans, ...more } });
  }

  async edit(id: string, text: string): Promise<void> {
    const found = this.#lines.find((line) => "in" in line && line.in.id === id);
    if (found === undefined || !("in" in found))
      throw new EarshotError(
        "EAR_USAGE",
        `Cannot edit the message ${id}: the room has no such message`,
      );
    const { channel, chat, thread, author } = found.in;
    const place = thread ? { channel, chat, thread } : { channel, chat };
    await this.happen({ edit: { ...place, id, text, author } });
  }

  sleep(): Promise<void> {
    return this.happen({ passivate: true });
  }

  crash(what: "host" | "process"): Promise<void> {
    return this.happen({ crash: what });
  }

  configure(config: Readonly<Record<string, unknown>>): Promise<void> {
    return this.happen({ config: { ...config } });
  }

  async happen(line: Untimed<RoomLine>): Promise<void> {
    if (this.#isClosed)
      throw new EarshotError("EAR_USAGE", "Cannot go on in a world that has ended");
    const timed = { t: this.now, ...line } as RoomLine;
    const parsed = this.#reader.take(timed);
    if (parsed === null) return;
    this.#lines.push(timed);
    this.#next = parsed;
    const done = new Promise<void>((resolve) => {
      this.#done = resolve;
    });
    this.#start();
    await Promise.race([done, this.#ended]);
  }

  run(): RoomRun {
    return new RoomRun(this.#config, new Room([...this.#lines]), [...this.#events], this.#options);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#next = null;
    this.#go();
    await this.#ended;
  }

  get #place() {
    const { chat = homeChat, channel = "irc" } = this.#options;
    return { channel, chat: { id: chat.id, kind: chat.kind ?? ("group" as const) } };
  }

  /** Begins with the first line; the waiting simulation continues with later ones. */
  #start(): void {
    if (this.#ended !== null) {
      this.#go();
      return;
    }
    const { seed = 1, prompts = false } = this.#options;
    this.#ended = simulateScenario(this.#scenario(), {
      config: this.#config,
      seed,
      prompts,
      onInput: (input) => this.#events.push({ input }),
      onLine: (output) => this.#events.push({ output }),
      onProgress: () =>
        new Promise<void>((resolve) => {
          this.#go = resolve;
          this.#done();
        }),
    });
    // The next step reports the error.
    this.#ended.catch(() => {});
  }

  #scenario(): Scenario {
    const next = () => this.#next;
    return {
      header: { earshot: 1, config: {} },
      lines: {
        *[Symbol.iterator]() {
          for (let line = next(); line !== null; line = next()) yield line;
        },
      },
      count: 0,
      // It ends at the last line.
      last: { t: 0, end: true },
      // Places are complete, and configs are parsed when their line is reached.
      kinds: new Set(),
    };
  }
}
