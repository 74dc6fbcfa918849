/**
 * A runtime on a real clock with a real media service
 * ==========================================
 * SQLite in a folder, files of a platform that a test fills, and the agent that does what it is
 * ordered. `stop` and `start` again on the same folder are a restart.
 */

import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Runtime } from "../../../src/actors/protocol/runtime.ts";
import { createRuntimeEvents } from "../../../src/actors/protocol/runtime-events.ts";
import { createRuntime } from "../../../src/actors/runtime/runtime.ts";
import { drivers } from "../../../src/adapters/agents/index.ts";
import { openSqliteStore } from "../../../src/adapters/stores/sqlite-store.ts";
import { createSystemClock } from "../../../src/adapters/system/clock.ts";
import { sha256 } from "../../../src/adapters/system/digest.ts";
import { createIds, createRandom } from "../../../src/adapters/system/ids.ts";
import { scenarioConfig } from "../../../src/domain/config/index.ts";
import { type InboundInput, inboundSchema } from "../../../src/domain/message.ts";
import type { AgentDriver, Store } from "../../../src/domain/ports/index.ts";
import type { PromptLine, StreamLine } from "../../../src/domain/stream.ts";
import { toolCaller } from "../agents/tool-calling-agent.ts";
import { builtUrl } from "../built/files.ts";
import { openService, type ServiceRig, tempFolder } from "./media-service.ts";

type Files = NonNullable<Parameters<typeof openService>[0]>;

export interface MediaWorldOptions {
  readonly workers?: number;
  readonly files?: Files;
  readonly config?: Record<string, unknown>;
  /** @default the asking agent */
  readonly driver?: object;
  readonly allowPrivate?: readonly string[];
}

export class MediaWorld {
  readonly folder = tempFolder();
  readonly lines: StreamLine[] = [];
  readonly sent: { text: string; chat: string; replyTo: string | null }[] = [];
  readonly files: Record<string, Files[string]>;
  runtime!: Runtime;
  rig!: ServiceRig;
  readonly #options: MediaWorldOptions;
  #store: Store | null = null;
  #messages = 0;

  constructor(options: MediaWorldOptions) {
    this.#options = options;
    this.files = { ...options.files };
  }

  /** Its clock is `aheadMs` ahead of this machine's: that much later, nothing need be waited for. */
  async start({ aheadMs = 0 } = {}): Promise<void> {
    const clock = createSystemClock();
    const { workers = 0, config, driver = { kind: "asking" }, allowPrivate = [] } = this.#options;
    this.#store = await openSqliteStore({ path: join(this.folder, "earshot.db") });
    this.rig = openService(this.files, { folder: join(this.folder, "media"), allowPrivate });
    const take = (request: { text: string; route: { chat: { id: string } }; replyTo?: string }) => {
      const { text, route, replyTo = null } = request;
      this.sent.push({ text, chat: route.chat.id, replyTo });
      return Promise.resolve({ messageIds: [`p${this.sent.length}`] });
    };
    this.runtime = createRuntime({
      clock: {
        ...clock,
        now: () => clock.now() + aheadMs,
        setTimer: (at, fire) => clock.setTimer(at - aheadMs, fire),
      },
      ids: createIds(),
      random: createRandom(),
      digest: sha256,
      log: () => undefined,
      store: this.#store,
      config: scenarioConfig({
        agents: { defaults: { driver } },
        messages: { inbound: { debounceMs: 20, debounceMaxMs: 100 }, queue: { debounceMs: 20 } },
        stream: { mode: "off", maxChars: 20_000 },
        ...config,
      }),
      drivers: new Map<string, AgentDriver>([...drivers, ["asking", toolCaller as AgentDriver]]),
      directory: {
        hasAccount: () => true,
        outbound: () => ({ sendText: take, replyText: take }),
        ready: () => true,
        textLimit: () => 40_000,
        typingIntervalMs: () => 5_000,
        isLocal: () => false,
        refreshMembership: () => undefined,
        // Several people, so that nobody is alone with the agent in a group.
        membership: () => ({ humans: 4, bots: 1, truncated: false, fetchedAt: Date.now() }),
      },
      media: this.rig.service,
      events: createRuntimeEvents(() => undefined, { line: (line) => void this.lines.push(line) }),
      prompts: true,
      workers,
      hostModule: builtUrl("test/host-module").href,
    });
    await this.runtime.start();
  }

  async stop(): Promise<void> {
    const store = this.#store;
    this.#store = null;
    if (store === null) return;
    await this.runtime.stop({ drainMs: 0 });
    await store.close();
  }

  /** To the agent alone, unless it says where. */
  say(text: string, more: Partial<InboundInput> = {}) {
    this.#messages += 1;
    const message = inboundSchema.parse({
      channel: "telegram",
      chat: { id: "ann", kind: "direct" },
      id: `m${this.#messages}`,
      author: { id: "ann", name: "Ann" },
      text,
      ...more,
    });
    const event = { type: "message", message } as const;
    return this.runtime.ingest("telegram", message.account, [event], { wait: "decision" });
  }

  /** Says it and waits for the answer. */
  async ask(text: string, more: Partial<InboundInput> = {}): Promise<string> {
    const before = this.sent.length;
    await this.say(text, more);
    await this.until(() => this.sent.length > before, "an answer");
    return this.sent[before]?.text ?? "";
  }

  async until(done: () => boolean, what: string): Promise<void> {
    for (let waited = 0; !done(); waited += 10) {
      if (waited > 20_000) throw new Error(`no ${what}: ${JSON.stringify(this.lines, null, 1)}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  decisions(): string[] {
    return this.lines.flatMap((line) => ("decision" in line ? [String(line.decision)] : []));
  }

  prompts(): string[] {
    return this.lines
      .filter((line): line is PromptLine => "event" in line && line.event === "prompt")
      .map(({ text }) => text);
  }
}

/** A world that is open until the test ends. */
export async function openMediaWorld(options: MediaWorldOptions = {}): Promise<MediaWorld> {
  const world = new MediaWorld(options);
  onTestFinished(() => world.stop());
  await world.start();
  return world;
}

/** The names of the attachments in a list, in its order. */
export const namesIn = (text: string): string[] => text.match(/^a\d+-\d+/gm) ?? [];
