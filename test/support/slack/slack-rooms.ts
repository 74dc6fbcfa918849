/**
 * A whole earshot on a Slack
 * ==========================
 * The real runtime, the real connections, the real channel over a real socket, a Slack server with people
 * in it, of which Ann is the owner, and a scripted agent. The store outlives a restart; everything
 * published is kept.
 */
import { onTestFinished } from "vitest";
import { type Connections, createConnections } from "../../../src/actors/channels/connections.ts";
import type { Runtime } from "../../../src/actors/protocol/runtime.ts";
import { createRuntimeEvents } from "../../../src/actors/protocol/runtime-events.ts";
import { createRuntime } from "../../../src/actors/runtime/runtime.ts";
import { drivers } from "../../../src/adapters/agents/index.ts";
import { channelRegistry } from "../../../src/adapters/channels/index.ts";
import { createSystemClock } from "../../../src/adapters/system/clock.ts";
import { sha256 } from "../../../src/adapters/system/digest.ts";
import { createIds, createRandom } from "../../../src/adapters/system/ids.ts";
import { parseConfig } from "../../../src/domain/config/index.ts";
import type { DecisionLine, PromptLine, SendLine, StreamLine } from "../../../src/domain/stream.ts";
import { menuCommands } from "../../../src/machines/commands/help.ts";
import { createTestStore, type TestStore } from "../runtime/test-store.ts";
import { appToken, botToken, type SlackServer, startSlackServer } from "./slack-server.ts";
import type { Message, Room, User } from "./slack-workspace.ts";

interface SlackRoomsOptions {
  readonly workers: number;
  /** Scripted runs of the agent, in order; `ok` afterwards. */
  readonly runs?: readonly object[];
  /** More of the config. */
  readonly config?: Record<string, unknown>;
  /** More fields of the account. */
  readonly account?: Readonly<Record<string, unknown>>;
}

class SlackRooms {
  readonly lines: StreamLine[] = [];
  readonly logs: string[] = [];
  readonly store: TestStore = createTestStore();
  readonly server: SlackServer;
  readonly kitchen: Room;
  readonly direct: Room;
  readonly people: Readonly<Record<"ann" | "bob", User>>;
  readonly #options: SlackRoomsOptions;
  #runtime: Runtime | null = null;
  #connections: Connections | null = null;

  constructor(server: SlackServer, options: SlackRoomsOptions) {
    const { workspace } = server;
    this.server = server;
    this.#options = options;
    this.people = { ann: workspace.user("Ann"), bob: workspace.user("Bob") };
    this.kitchen = workspace.room("channel", "kitchen", Object.values(this.people));
    this.direct = workspace.room("im", "", [this.people.ann]);
  }

  async start(): Promise<void> {
    const definitions = channelRegistry();
    const { runs = [], account, workers } = this.#options;
    const config = parseConfig(
      {
        agents: { list: [{ id: "main", name: "Scout", driver: { kind: "scripted", runs } }] },
        channels: {
          slack: {
            groups: { [this.kitchen.id]: {} },
            accounts: {
              default: { botToken, appToken, apiRoot: this.server.apiRoot, ...account },
            },
          },
        },
        access: { dmPolicy: "open" },
        commands: { ownerAllowFrom: [`slack:${this.people.ann.id}`] },
        messages: {
          inbound: { debounceMs: 150, debounceMaxMs: 600 },
          queue: { debounceMs: 50 },
        },
        ...this.#options.config,
      },
      { channels: definitions, drivers },
    );
    const clock = createSystemClock();
    const random = createRandom();
    const log = (level: string, event: string, fields: object = {}) =>
      void this.logs.push(`${level} ${event} ${JSON.stringify(fields)}`);
    const { slack } = config.channels;
    const connections = createConnections({
      definitions,
      config: { channels: slack === undefined ? {} : { slack } },
      clock,
      random,
      log,
      ingest: (...args) => runtime.ingest(...args),
      loadCursor: (...args) => this.store.cursor(...args),
      events: createRuntimeEvents(() => undefined, { line: (line) => void this.lines.push(line) }),
      onChange: (channel, name) => runtime.connectionChanged(channel, name),
      commands: menuCommands(),
    });
    const runtime = createRuntime({
      clock,
      ids: createIds(),
      random,
      digest: sha256,
      log,
      store: this.store,
      config,
      drivers,
      directory: connections.directory,
      events: createRuntimeEvents(() => undefined, { line: (line) => void this.lines.push(line) }),
      workers,
      prompts: true,
    });
    await runtime.start();
    await connections.start();
    this.#runtime = runtime;
    this.#connections = connections;
    await this.until(() => connections.states()[0]?.state === "live", "a live connection");
  }

  /** Ends everything but the store and Slack. */
  async stop(): Promise<void> {
    await this.#runtime?.stop({ drainMs: 2_000 });
    await this.#connections?.stop();
    this.#connections = null;
    this.#runtime = null;
  }

  say(who: "ann" | "bob", text: string, thread?: Message, room = this.kitchen): Message {
    const more = thread === undefined ? {} : { thread_ts: thread.ts };
    const said = text.replace("@scout", `<@${this.server.workspace.bot.id}>`);
    return this.server.workspace.say(room, this.people[who], said, more);
  }

  until(done: () => boolean, what: string): Promise<void> {
    return this.server.until(done, what).catch((error: Error) => {
      const { lines, logs } = this;
      throw new Error(`${error.message}\n${JSON.stringify(lines, null, 1)}\n${logs.join("\n")}`);
    });
  }

  ours(room = this.kitchen): Message[] {
    const { bot } = this.server.workspace;
    return [...room.messages.values()].filter(({ user }) => user === bot.id);
  }

  /** The bot's messages in a room once there are `count`. */
  async answers(count: number, room = this.kitchen): Promise<Message[]> {
    await this.until(() => this.ours(room).length >= count, `${count} answers`);
    return this.ours(room);
  }

  decisions({ ts }: Message): DecisionLine[] {
    return this.lines.filter((line): line is DecisionLine => "decision" in line && line.id === ts);
  }

  prompts(): string[] {
    return this.lines
      .filter((line): line is PromptLine => "event" in line && line.event === "prompt")
      .map(({ text }) => text);
  }

  sends(): SendLine[] {
    return this.lines.filter((line): line is SendLine => "out" in line && line.out === "send");
  }
}

/** Rooms that are open until the test ends. */
export async function openSlackRooms(options: SlackRoomsOptions): Promise<SlackRooms> {
  const server = await startSlackServer();
  const rooms = new SlackRooms(server, options);
  onTestFinished(async () => {
    await rooms.stop();
    await server.down();
  });
  await rooms.start();
  return rooms;
}
