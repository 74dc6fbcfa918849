/**
 * A command stands in the journal of its conversation; its changes and its answer are committed
 * together with the mark that it was applied. So it is executed and answered once, whatever crashes
 * in between. The answer is an outbox row of its own, numbered by the journal: it belongs to no
 * turn, grants no credit and is in no transcript.
 */
import { agentIn } from "../../domain/config/index.ts";
import { EarshotError } from "../../domain/errors.ts";
import type { OutboxRow, StoreWrite } from "../../domain/ports/index.ts";
import {
  defaultSessionSettings,
  patchedSettings,
  type SessionSettings,
} from "../../domain/session.ts";
import type { BuiltInCall, CommandCall } from "../../machines/commands/directives.ts";
import { isExtra } from "../../machines/commands/extension-commands.ts";
import { specOf } from "../../machines/commands/table.ts";
import type { CommandDue } from "../../machines/events/effects.ts";
import type { HostStep } from "../protocol/host-protocol.ts";
import { beginAfter } from "./after-commit.ts";
import type { CommandPorts } from "./ports.ts";
import { type Answers, createAnswers } from "./replies.ts";
import { commandReaction, commandRow } from "./reply-row.ts";
import { patchOf } from "./settings.ts";

/** The result of a command. */
export interface CommandOutcome {
  readonly writes: readonly StoreWrite[];
  /** The answer, which is among `writes`; null: none. */
  readonly row: OutboxRow | null;
}

export interface CommandExecutor {
  /**
   * Executes the commands of these steps, in order, without committing. Rejects only when the store
   * fails, and may then be called again.
   */
  prepare(steps: readonly HostStep[]): Promise<ReadonlyMap<CommandDue, CommandOutcome>>;
  /** The results are durable: starts the actions after the commit. */
  settled(effect: CommandDue, step: HostStep): void;
}

export function createCommandExecutor(ports: CommandPorts): CommandExecutor {
  const answers = createAnswers(ports);

  async function carryOut(
    effect: CommandDue,
    step: HostStep,
    changed: Map<number, SessionSettings>,
  ): Promise<CommandOutcome> {
    const { conv, key, at } = step;
    const { store } = ports;
    const config = ports.configs.current();
    // Its agent was removed from the config: no one is left to execute it.
    if (!config.agents.list.some(({ id }) => id === ports.agentOf(key)))
      return { writes: [], row: null };
    const agent = agentIn(config, ports.agentOf(key), key);
    const session = await store.sessionOf(conv);
    const before = changed.get(conv) ?? session?.settings ?? defaultSessionSettings;
    const calls = effect.calls as readonly CommandCall[];
    const patch = patchOf(calls, providerOf(agent.driver));
    const settings = patch === null ? before : patchedSettings(before, patch);
    const writes: StoreWrite[] = [];
    if (patch !== null) {
      changed.set(conv, settings);
      if (session === null)
        writes.push(ports.sessions.opening({ conv, key, agentId: agent.id, at }));
      writes.push({ kind: "session", op: "patch", conv, patch });
    }
    const asked = effect.asked;
    if (asked === null) return { writes, row: null };
    const about = { asked, step, status: effect.status, agent, session, settings };
    if (calls.every(({ command }) => command === "disengage") && ports.canReact(asked.route)) {
      const row = commandReaction({ asked, step });
      writes.push({ kind: "outbox", row });
      return { writes, row };
    }
    const texts: string[] = [];
    for (const call of calls)
      if (!isExtra(call.command)) texts.push(await answerOf(answers, call as BuiltInCall, about));
    const said = texts.filter((text) => text !== "");
    if (said.length === 0) return { writes, row: null };
    const text = `${asked.as === undefined ? "" : `${asked.as}: `}${said.join("\n\n")}`;
    const row = commandRow(ports.configs, { asked, step, text });
    writes.push({ kind: "outbox", row });
    return { writes, row };
  }

  async function answerOf(
    all: Answers,
    call: BuiltInCall,
    about: Parameters<Answers["help"]>[1],
  ): Promise<string> {
    if (specOf(call.command).who === "owner" && !about.asked.owner) return "For owners.";
    try {
      return await all[call.command](call.args, about);
    } catch (error) {
      // The store failed: the whole step is retried.
      if (error instanceof EarshotError && error.disposition === "retry") throw error;
      const { command } = call;
      ports.log("error", "command.failed", { command, error: String(error) });
      return `/${command} could not be carried out: an error of earshot's own.`;
    }
  }

  return {
    async prepare(steps) {
      const outcomes = new Map<CommandDue, CommandOutcome>();
      /** Settings as changed by earlier commands of these steps. */
      const changed = new Map<number, SessionSettings>();
      for (const step of steps)
        for (const effect of step.effects)
          if (effect.type === "command")
            outcomes.set(effect, await carryOut(effect, step, changed));
      return outcomes;
    },
    settled: (effect, step) => void beginAfter(ports, effect, step),
  };
}

const providerOf = (driver: Readonly<Record<string, unknown>>) =>
  typeof driver.provider === "string" ? driver.provider : null;
