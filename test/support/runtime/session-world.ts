/**
 * The small world with an agent that keeps its turns, somebody who may give commands (Ann), and
 * session files in memory.
 */
import type { RuntimePorts } from "../../../src/actors/protocol/runtime.ts";
import type { AgentTurn, Store } from "../../../src/domain/ports/index.ts";
import type { TranscriptLine } from "../../../src/domain/session.ts";
import { createRecorder, type Recorder } from "../agents/recording-agent.ts";
import { createMemoryFiles, type MemoryFiles } from "./session-files.ts";
import { World } from "./world.ts";

export const agentMain = { id: "main", name: "earshot", default: true } as const;
export const directKey = "agent:main:main";
export const roomKey = "agent:main:telegram:group:room";

export class SessionWorld extends World {
  readonly files: MemoryFiles;
  readonly turns: AgentTurn[];
  readonly answers: Recorder["answers"];
  readonly isSummary: Recorder["isSummary"];
  /** Resolves when `open` is called. */
  readonly released: Promise<void>;
  open: () => void = () => {};

  constructor(
    config: Record<string, unknown>,
    recorder: Recorder,
    files: MemoryFiles,
    ports: Partial<RuntimePorts>,
    store?: Store,
  ) {
    super({
      config,
      drivers: [recorder.driver],
      ports: { sessionFiles: files, ...ports },
      ...(store === undefined ? {} : { store }),
    });
    this.files = files;
    this.turns = recorder.turns;
    this.answers = recorder.answers;
    this.isSummary = recorder.isSummary;
    this.released = new Promise((resolve) => {
      this.open = resolve;
    });
  }

  /** Says something and waits until it is answered. */
  async talk(...args: Parameters<World["say"]>): Promise<void> {
    await this.say(...args);
    await this.pass(5_000);
  }

  /** The lines of a session, or of the one in use in the direct chats. */
  async transcript(sessionId?: string): Promise<TranscriptLine[]> {
    const id = sessionId ?? (await this.runtime.session(directKey))?.sessionId ?? "";
    return this.store.transcript({ sessionId: id, limit: 10_000 });
  }
}

export async function sessionWorld(
  config: Record<string, unknown> = {},
  { store, ...ports }: Partial<RuntimePorts> = {},
): Promise<SessionWorld> {
  const { agents, ...more } = config as { agents?: object };
  const whole = {
    agents: { defaults: { driver: { kind: "recording" } }, ...agents },
    commands: { allowFrom: { "*": ["telegram:ann"] } },
    ...more,
  };
  const world = new SessionWorld(whole, createRecorder(), createMemoryFiles(), ports, store);
  await world.start();
  return world;
}
