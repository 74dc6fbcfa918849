/**
 * After the answer
 * ================
 * What a command begins once it is durable that it was given: the parts that take longer, or that act
 * on what lives in memory only. Each begins at most once; a crash before it leaves it undone.
 */
import { agentOf } from "../../domain/config/index.ts";
import { isExtra } from "../../machines/commands/extension-commands.ts";
import type { CommandDue } from "../../machines/events/effects.ts";
import type { HostStep } from "../protocol/host-protocol.ts";
import { isBusy } from "./busy.ts";
import { answerByPlugin } from "./plugins.ts";
import type { CommandPorts } from "./ports.ts";
import { recordRestartNotice } from "./restart-notice.ts";
import { approvalOf, runNamed, runsBeside } from "./subagents.ts";

type After = (ports: CommandPorts, effect: CommandDue, step: HostStep, args: Args) => Promise<void>;
type Args = readonly string[];

const after: Readonly<Record<string, After>> = {
  async compact({ store, compaction, agentOf: agentIn }, { standing }, { conv, key }) {
    if (isBusy(standing)) return;
    const session = await store.sessionOf(conv);
    if (session !== null) await compaction.compact({ conv, key, agentId: agentIn(key) }, session);
  },
  async approve({ approvals: permits }, _, __, args) {
    const said = approvalOf(args);
    if (said !== null) permits.answer(said.id, said.answer);
  },
  async subagents(ports, { asked }, step, [verb, name = ""]) {
    if (verb !== "stop") return;
    const agent = agentOf(ports.configs.current(), ports.agentOf(step.key));
    const runs = await runsBeside(ports, { step, agent });
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

/** Begins what the commands of a step leave to do. Never rejects. */
export async function beginAfter(
  ports: CommandPorts,
  effect: CommandDue,
  step: HostStep,
): Promise<void> {
  if (effect.asked === null) return;
  const { asked } = effect;
  for (const [at, given] of effect.calls.entries()) {
    const { command, args } = given;
    if (!isExtra(command) && !Object.hasOwn(after, command)) continue;
    try {
      // The answer of the others is the first.
      if (isExtra(command)) await answerByPlugin(ports, given, { asked, step, index: at + 1 });
      else await after[command]?.(ports, effect, step, args);
    } catch (error) {
      ports.log("warn", "command.after", { command, key: step.key, error: String(error) });
    }
  }
}
