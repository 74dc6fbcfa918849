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
    "Prints the system message, the transcript and the user turn that the agent got for the turn of " +
    "a message, as they were sent, with secrets taken out. The daemon keeps those of its last " +
    `${limits.promptsKeptMax} turns; a restart forgets them. \`earshot inspect\` prints message ids.`,
  examples: ["earshot prompt 4711", "earshot prompt 4711 --json | jq -r '.prompts[0].system'"],
  exits: "0 printed, 1 no such turn is kept, 2 bad use or no daemon runs.",
};

/** Registers the command. */
export function addPromptCommand(program: Command): void {
  withStateDir(
    addHelp(program.command("prompt"), help)
      .description("Print what the agent was given for a message")
      .argument("<message-id>", "the platform's id of the message")
      .option("--json", "print the whole answer as JSON"),
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
        `“${oneLine(messageId)}”. \`earshot why\` says what became of it.`,
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
