/**
 * Actions of a command that start once the command is durable: those that take longer or act on
 * memory only. Each starts at most once; a crash before it leaves it undone.
 */
import { agentIn as agentInRoom, agentOf } from "../../domain/config/index.ts";
import { limits } from "../../domain/limits.ts";
import { cut } from "../../domain/sanitize.ts";
import { isExtra } from "../../machines/commands/extension-commands.ts";
import type { CommandDue, ConversationStatus } from "../../machines/events/effects.ts";
import type { HostStep } from "../protocol/host-protocol.ts";
import { systemMessage } from "../sessions/system-message.ts";
import { runBash, stopBash } from "./bash.ts";
import { answerByPlugin } from "./plugins.ts";
import type { CommandPorts } from "./ports.ts";
import { commandRow } from "./reply-row.ts";
import { recordRestartNotice } from "./restart-notice.ts";
import { approvalOf, otherRuns, runNamed } from "./subagents.ts";

/** A turn is pending or running: a command that changes what a turn is composed from must wait. */
export const isBusy = ({ attention }: ConversationStatus): boolean => attention !== "observing";

type After = (ports: CommandPorts, effect: CommandDue, step: HostStep, args: Args) => Promise<void>;
type Args = readonly string[];

const after: Readonly<Record<string, After>> = {
  async compact({ store, compaction, agentOf: agentIn }, { status }, { conv, key }) {
    if (isBusy(status)) return;
    const session = await store.sessionOf(conv);
    if (session !== null) await compaction.compact({ conv, key, agentId: agentIn(key) }, session);
  },
  async btw(ports, { asked }, step, [text = ""]) {
    if (asked === null) return;
    const { conv, key, at } = step;
    const session = await ports.store.sessionOf(conv);
    const author = { name: asked.author, isBot: false };
    const question = { id: asked.messageId, at, author, text, attachments: [], replyTo: null };
    const agentId = ports.agentOf(key);
    const agent = agentInRoom(ports.configs.current(), agentId, key);
    const system = systemMessage(agent, asked.route, ports.configs.settings(key));
    const owner = { conv, key, agentId, system };
    const answer = await ports.sideQuestions.ask(owner, session, question);
    const words =
      answer.kind === "answer"
        ? cut(answer.text, limits.commandAnswerUnitsMax)
        : `/btw: no answer (${answer.reason}).`;
    const named = asked.as === undefined ? words : `${asked.as}: ${words}`;
    await ports.say(commandRow(ports.configs, { asked, step, text: named, index: 1 }));
  },
  async stop(ports, { asked }, { key }) {
    if (asked !== null) stopBash(ports, key, asked);
  },
  bash: (ports, effect, step, [line = ""]) => runBash(ports, effect, step, line),
  async approve({ approvals: permits }, _, __, args) {
    const approval = approvalOf(args);
    if (approval !== null) permits.answer(approval.id, approval.answer);
  },
  async subagents(ports, { asked }, step, [verb, name = ""]) {
    if (verb !== "stop") return;
    const agent = agentOf(ports.configs.current(), ports.agentOf(step.key));
    const runs = await otherRuns(ports, { step, agent });
    const run = runNamed(runs, name);
    if (run !== undefined && run.turnId !== null)
      await ports.stop(run.key, asked?.author ?? "an owner");
  },
  async restart(ports, { asked }, step) {
    const restart = ports.control?.restart;
    if (restart == null || asked === null || (await restart.problem()) !== null) return;
    await recordRestartNotice(ports, asked, step);
    restart.start();
  },
};

/** Starts the remaining actions of a step's commands. Never rejects. */
export async function beginAfter(
  ports: CommandPorts,
  effect: CommandDue,
  step: HostStep,
): Promise<void> {
  if (effect.asked === null) return;
  const { asked } = effect;
  for (const [at, call] of effect.calls.entries()) {
    const { command, args } = call;
    if (!isExtra(command) && !Object.hasOwn(after, command)) continue;
    try {
      // The answer of built-in commands has index 0.
      if (isExtra(command)) await answerByPlugin(ports, call, { asked, step, index: at + 1 });
      else await after[command]?.(ports, effect, step, args);
    } catch (error) {
      ports.log("warn", "command.after", { command, key: step.key, error: String(error) });
    }
  }
}
