/**
 * `earshot prompt`: what an agent was given to answer a message. Only the running daemon has it.
 */
import type { Command } from "commander";
import pico from "picocolors";
import { limits } from "../../../domain/limits.ts";
import { oneLine, terminalSafe } from "../../../domain/sanitize.ts";
import type { SentPrompt } from "../../api-types/runtime.ts";
import { askDaemon } from "../lib/api-client.ts";
import { action, print, printJson, type StateOptions, withStateDir } from "../lib/command.ts";
import { addHelp, type HelpText } from "../output/help-text.ts";

interface PromptOptions extends StateOptions {
  readonly json?: true;
}

const help: HelpText = {
  about:
    "Prints the system message, the transcript and the user turn of the turn that answered a " +
    "message, exactly as sent, with secrets removed. The daemon keeps the prompts of its last " +
    `${limits.promptsKeptMax} turns until it restarts. \`earshot inspect\` prints message ids.`,
  examples: ["earshot prompt 4711", "earshot prompt 4711 --json | jq -r '.prompts[0].system'"],
  exits: "0 printed; 1 no prompt is kept for the message; 2 usage error or no running daemon.",
};

/** Registers the command. */
export function addPromptCommand(program: Command): void {
  withStateDir(
    addHelp(program.command("prompt"), help)
      .description("Print the prompt of a message's turn")
      .argument("<message-id>", "the message's id on its platform")
      .option("--json", "print JSON"),
  ).action(action(prompt));
}

async function prompt(messageId: string, options: PromptOptions): Promise<void> {
  const path = `/api/prompts/${encodeURIComponent(messageId)}`;
  const answer = await askDaemon<{ prompts: readonly SentPrompt[] }>(options, path);
  const { prompts } = answer ?? { prompts: [] };
  if (prompts.length === 0) process.exitCode = 1;
  if (options.json) printJson({ prompts });
  else if (prompts.length > 0) print(prompts.map(shownPrompt).join("\n\n"));
  else
    print(
      `None of the last ${limits.promptsKeptMax} turns since the start answered a message ` +
        `“${oneLine(messageId)}”. \`earshot why\` shows what happened to it.`,
    );
}

function shownPrompt(sent: SentPrompt): string {
  const { key, turn, attempt, agentId, model, images } = sent;
  const again = attempt > 1 ? `, attempt ${attempt}` : "";
  const asked = model === null ? "" : `, model ${model}`;
  const head = oneLine(`turn ${turn} of ${key}, agent ${agentId}${asked}${again}`, 400);
  const said = sent.transcript.map(
    ({ role, text }) => `${pico.dim(`${role}:`)} ${terminalSafe(text)}`,
  );
  const parts = [
    ["System message", terminalSafe(sent.system)],
    [`Transcript, ${said.length} entries`, said.join("\n")],
    ["User turn", terminalSafe(sent.prompt)],
    ["Pictures", images.map(({ name, mime }) => oneLine(`${name} (${mime})`)).join("\n")],
  ].filter(([, text]) => text !== "");
  const sections = parts.map(([title, text]) => `${pico.cyan(`── ${title}`)}\n${text}`);
  return [pico.bold(head), ...sections].join("\n\n");
}
