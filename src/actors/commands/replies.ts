/**
 * Answers to commands
 * ===================
 * The answer of each command in the table. Answers are short Markdown made from the config, the
 * store and the conversation's own figures; text of the room appears only where it was requested
 * (`/export`, `/why`).
 */
import { plainText } from "../../domain/sanitize.ts";
import { extrasFor } from "../../machines/commands/extension-commands.ts";
import { commandsText, helpText } from "../../machines/commands/help.ts";
import type { CommandName } from "../../machines/commands/table.ts";
import { allowlistText } from "./access.ts";
import { configCommand, debugCommand, restartText } from "./admin.ts";
import { isBusy } from "./after-commit.ts";
import { bashText, stopsBash } from "./bash.ts";
import { elevatedText, execText, ttsText } from "./levels.ts";
import type { CommandAbout, CommandPorts } from "./ports.ts";
import { contextText, exportText, sessionText, usageText } from "./session.ts";
import { modelsText, modelText, queueText, statusText } from "./status.ts";
import { approveText, subagentsText } from "./subagents.ts";
import { whyText } from "./why.ts";
import { wrongText } from "./wrong.ts";

type Answer = (args: readonly string[], about: CommandAbout) => string | Promise<string>;
/** One answer for each command, checked by the compiler. */
export type Answers = Readonly<Record<CommandName, Answer>>;

export function createAnswers(ports: CommandPorts): Answers {
  const known = ({ agent }: CommandAbout) =>
    extrasFor(ports.extensions.list(), new Set([agent.id]));
  return {
    help: ([word], about) => helpText(word, known(about)),
    commands: (_, about) => commandsText(known(about)),
    status: (_, about) => statusText(ports, about),
    whoami: (_, about) => whoText(about),
    new: () => "Started a new session.",
    reset: () => "Started a new session.",
    stop: (_, { status: { stops }, step, asked }) =>
      stopText(stops.turn || stopsBash(ports, step.key, asked), stops),
    // Taken out of the text where it is read; its message is the agent's.
    steer: () => "",
    // Answered by the agent, once the command is durable.
    btw: () => "",
    // Run once the command is durable.
    bash: ([line = ""], { step }) => bashText(ports, step.key, line),
    activation: ([word], { status }) =>
      setTo("Activation", word, `${status.activation} (ladder, mention, always)`),
    send: ([word], { status }) => setTo("Sending answers", word, status.send),
    usage: (_, about) => usageText(ports, about),
    session: (_, about) => sessionText(ports, about),
    compact: (_, { session, status }) => {
      if (isBusy(status))
        return "A turn is waiting or running here. Try again when it has finished.";
      if (session === null) return "There is nothing to summarize yet.";
      return "Summarizing the conversation so far.";
    },
    context: (_, about) => contextText(ports, about),
    models: (_, about) => modelsText(ports, about),
    disengage: () => "I only listen here until someone addresses me again.",
    why: ([id], about) => whyText(ports, id, about),
    wrong: ([verb], about) => wrongText(ports, verb, about),
    config: (args, about) => configCommand(ports, args, about),
    debug: (args, about) => debugCommand(ports, args, about),
    restart: () => restartText(ports),
    approve: (args, about) => approveText(ports, args, about),
    allowlist: (args, about) => allowlistText(ports, args, about),
    subagents: (args, about) => subagentsText(ports, args, about),
    export: ([lines], about) => exportText(ports, lines, about),
    think: (_, { settings, agent }) => `Thinking: ${settings.thinking ?? agent.thinking}.`,
    verbose: (_, { settings, agent }) => `Verbose: ${settings.verbose ?? agent.verboseDefault}.`,
    reasoning: (_, { settings, agent }) =>
      `Reasoning: ${settings.reasoning ?? agent.reasoningDefault}.`,
    elevated: (_, about) => elevatedText(about),
    exec: (_, about) => execText(about),
    tts: (_, about) => ttsText(ports, about),
    model: ([word], about) =>
      word === "list" ? modelsText(ports, about) : `Model: ${modelText(about)}.`,
    queue: (args, about) => `Queue: ${queueText(args, about)}.`,
  };
}

/** The new value, or the current one. */
function setTo(what: string, word: string | undefined, now: string): string {
  if (word === undefined) return `${what}: ${now}.`;
  return `${what}: ${word === "default" ? "as configured" : word}.`;
}

function whoText({ asked }: CommandAbout): string {
  const { route, author, owner } = asked;
  const id = plainText(`${route.channel}:${author}`).replaceAll("`", "'").slice(0, 256);
  return `You are \`${id}\`. You may ${owner ? "do everything: you are an owner" : "give commands"}.`;
}

/** What a stop reaches, and what becomes of messages that wait: the next line brings them along. */
function stopText(isRunning: boolean, { messages, past }: { messages: number; past: number }) {
  const done = isRunning
    ? "Stopped."
    : messages + past > 0
      ? "Nothing had started."
      : "Nothing of yours is running.";
  const are = (count: number) =>
    count === 1 ? "1 message that waited is" : `${count} messages that waited are`;
  return [
    done,
    ...(messages === 0 ? [] : [`${are(messages)} read with your next one.`]),
    ...(past === 0 ? [] : [`${are(past)} of the session before, and will not be answered.`]),
  ].join(" ");
}
