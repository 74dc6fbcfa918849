/**
 * A whole earshot on a Telegram
 * =============================
 * The real runtime, the real connections, the real channel over a real socket, a Bot API server
 * with people in it, and a scripted agent. The store outlives a restart; everything published is
 * kept.
 */

import type { Message, User } from "@grammyjs/types";
import { onTestFinished } from "vitest";
import { type Connections, createConnections } from "../../../src/actors/channels/connections.ts";
import type { Runtime } from "../../../src/actors/protocol/runtime.ts";
import { createRuntimeEvents } from "../../../src/actors/protocol/runtime-events.ts";
import { createRuntime } from "../../../src/actors/runtime/runtime.ts";
import { drivers } from "../../../src/adapters/agents/index.ts";
import { channelRegistry } from "../../../src/adapters/channels/index.ts";
import { openMediaService } from "../../../src/adapters/media/media-service.ts";
import { createSystemClock } from "../../../src/adapters/system/clock.ts";
import { sha256 } from "../../../src/adapters/system/digest.ts";
import { createIds, createRandom } from "../../../src/adapters/system/ids.ts";
import { parseConfig } from "../../../src/domain/config/index.ts";
import type { OutgoingFiles } from "../../../src/domain/ports/index.ts";
import type { DecisionLine, PromptLine, SendLine, StreamLine } from "../../../src/domain/stream.ts";
import { menuCommands } from "../../../src/machines/commands/help.ts";
import { createTestStore, type TestStore } from "../runtime/test-store.ts";
import { sampleToken, startTelegramServer, type TelegramServer } from "../servers/telegram.ts";
import type { Room, SayOptions, TelegramWorld } from "../servers/telegram-world.ts";

export interface TelegramRoomsOptions {
  readonly workers: number;
  /** Scripted runs of the agent, in order; `ok` afterwards. */
  readonly runs?: readonly object[];
  /** More of the config; a function is given the group's id. */
  readonly config?: Record<string, unknown> | ((group: string) => Record<string, unknown>);
  /** More fields of the account. */
  readonly account?: Readonly<Record<string, unknown>>;
  /** Files that agents send. @default none */
  readonly outgoing?: OutgoingFiles;
  /** Where fetched files are kept; left out: none are fetched. */
  readonly mediaFolder?: string;
  /** Makes the group; a forum if left out. */
  readonly rooms?: (world: TelegramWorld, people: readonly User[]) => Room;
}

export class TelegramRooms {
  readonly lines: StreamLine[] = [];
  readonly logs: string[] = [];
  readonly store: TestStore = createTestStore();
  readonly server: TelegramServer;
  readonly group: Room;
  readonly people: Readonly<Record<"ann" | "bob", { id: number }>>;
  readonly #options: TelegramRoomsOptions;
  #runtime: Runtime | null = null;
  #connections: Connections | null = null;

  constructor(server: TelegramServer, options: TelegramRoomsOptions) {
    this.server = server;
    this.#options = options;
    const ann = server.world.user("Ann");
    const bob = server.world.user("Bob");
    this.people = { ann, bob };
    this.group =
      options.rooms?.(server.world, [ann, bob]) ??
      server.world.group("Kitchen", [ann, bob], { is_forum: true });
  }

  async start(): Promise<void> {
    const definitions = channelRegistry();
    const { config: more } = this.#options;
    const config = parseConfig(
      {
        agents: {
          list: [
            {
              id: "main",
              name: "Scout",
              driver: { kind: "scripted", runs: this.#options.runs ?? [] },
            },
          ],
        },
        channels: {
          telegram: {
            groups: { [String(this.group.chat.id)]: {} },
            accounts: {
              default: {
                botToken: sampleToken,
                apiRoot: this.server.apiRoot,
                pollSeconds: 20,
                ...this.#options.account,
              },
            },
          },
        },
        access: { dmPolicy: "open" },
        messages: {
          inbound: { debounceMs: 150, debounceMaxMs: 600 },
          queue: { debounceMs: 50 },
        },
        ...(typeof more === "function" ? more(String(this.group.chat.id)) : more),
      },
      { channels: definitions, drivers },
    );
    const clock = createSystemClock();
    const random = createRandom();
    const log = (level: string, event: string, fields: object = {}) =>
      void this.logs.push(`${level} ${event} ${JSON.stringify(fields)}`);
    const { mediaFolder } = this.#options;
    const media =
      mediaFolder === undefined
        ? {}
        : {
            media: openMediaService({
              folder: mediaFolder,
              log,
              unique: () => createIds().next(),
              download: (...file) => connections.download(...file),
            }),
          };
    const { telegram } = config.channels;
    const connections = createConnections({
      definitions,
      config: { channels: telegram === undefined ? {} : { telegram } },
      clock,
      random,
      log,
      ingest: (...args) => runtime.ingest(...args),
      loadCursor: (...args) => this.store.cursor(...args),
      events: createRuntimeEvents(() => undefined, { line: (line) => void this.lines.push(line) }),
      onChange: (channel, account) => runtime.connectionChanged(channel, account),
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
      workers: this.#options.workers,
      prompts: true,
      ...media,
      ...(this.#options.outgoing === undefined ? {} : { outgoing: this.#options.outgoing }),
    });
    await runtime.start();
    await connections.start();
    this.#runtime = runtime;
    this.#connections = connections;
    await this.until(() => connections.states()[0]?.state === "live", "a live connection");
  }

  get runtime(): Runtime {
    if (this.#runtime === null) throw new Error("the house is not open");
    return this.#runtime;
  }

  /** Ends everything but the store and Telegram. */
  async stop(): Promise<void> {
    await this.#runtime?.stop({ drainMs: 2_000 });
    await this.#connections?.stop();
    this.#connections = null;
    this.#runtime = null;
  }

  say(who: "ann" | "bob", text: string, options: SayOptions = {}, room = this.group): Message {
    return this.server.world.say(room, this.people[who] as never, text, options);
  }

  until(done: () => boolean, what: string): Promise<void> {
    return this.server.until(done, what).catch((error: Error) => {
      const { lines, logs } = this;
      throw new Error(`${error.message}\n${JSON.stringify(lines, null, 1)}\n${logs.join("\n")}`);
    });
  }

  /** The bot's messages in the group once there are `count`, and no more of them a moment later. */
  async answers(count: number): Promise<Message[]> {
    const found = () => this.server.world.answers(this.group);
    await this.until(() => found().length >= count, `${count} answers`);
    return found();
  }

  decision(message: Message): DecisionLine | undefined {
    return this.decisions(message)[0];
  }

  decisions(message: Message): DecisionLine[] {
    const id = String(message.message_id);
    return this.lines.filter((line): line is DecisionLine => "decision" in line && line.id === id);
  }

  prompts(): string[] {
    return this.lines
      .filter((line): line is PromptLine => "event" in line && line.event === "prompt")
      .map(({ text }) => text);
  }

  sends(): SendLine[] {
    return this.lines.filter((line): line is SendLine => "out" in line && line.out === "send");
  }

  /** Reactions put and taken away, as `message:emoji` and `message:`. */
  reactions(): string[] {
    return this.server.calls("setMessageReaction").map(({ message_id, reaction }) => {
      const [first] = reaction as { emoji: string }[];
      return `${String(message_id)}:${first?.emoji ?? ""}`;
    });
  }
}

/** Rooms that are open until the test ends. */
export async function openTelegramRooms(options: TelegramRoomsOptions): Promise<TelegramRooms> {
  const server = await startTelegramServer();
  const rooms = new TelegramRooms(server, options);
  onTestFinished(async () => {
    await rooms.stop();
    await server.close();
  });
  await rooms.start();
  return rooms;
}
