/**
 * `/bash`: an owner's command line on the machine of the daemon, where the config allows it. It runs
 * once the command is durable, so it is never run twice; one that a crash ends is not run again. One
 * at a time in a conversation. `/stop` ends it, too: that of its author, and that of any owner.
 */
import { agentIn } from "../../domain/config/index.ts";
import { limits } from "../../domain/limits.ts";
import type { ShellEnd } from "../../domain/ports/index.ts";
import { plainText } from "../../domain/sanitize.ts";
import type { CommandDue } from "../../machines/events/effects.ts";
import type { CommandAsked } from "../../machines/events/events.ts";
import type { HostStep } from "../protocol/host-protocol.ts";
import type { CommandPorts } from "./ports.ts";
import { commandRow } from "./reply-row.ts";

interface Running {
  readonly author: string;
  readonly stopping: AbortController;
}

/** What runs now, by session key; of a process, as the programs are. */
const running = new WeakMap<CommandPorts, Map<string, Running>>();

function runningOf(ports: CommandPorts): Map<string, Running> {
  const known = running.get(ports);
  if (known !== undefined) return known;
  const made = new Map<string, Running>();
  running.set(ports, made);
  return made;
}

/** Why a command line is not run; empty: it is, and its answer follows. */
export function bashText(ports: CommandPorts, key: string, command: string): string {
  if (!ports.configs.current().commands.bash)
    return "Off here. `commands.bash: true` in the config file allows it to owners.";
  if (ports.control?.shell == null) return "There is no shell here.";
  const now = runningOf(ports).has(key);
  if (command === "stop") return now ? "Stopping it." : "Nothing is running here.";
  if (command === "") return now ? "One command is running here." : "Nothing is running here.";
  return now ? "One command is running here: `/bash stop` ends it." : "";
}

/** Whether a command line runs there that a stop by this person ends. */
export function stopsBash(ports: CommandPorts, key: string, { author, owner }: CommandAsked) {
  const now = runningOf(ports).get(key);
  return now !== undefined && (owner || now.author === author);
}

/** Ends it, if this person's stop does. */
export function stopBash(ports: CommandPorts, key: string, asked: CommandAsked): void {
  if (stopsBash(ports, key, asked)) runningOf(ports).get(key)?.stopping.abort();
}

/** Runs it and sends what it printed. */
export async function runBash(
  ports: CommandPorts,
  { asked }: CommandDue,
  step: HostStep,
  command: string,
): Promise<void> {
  const { configs, log } = ports;
  const shell = ports.control?.shell;
  const config = configs.current();
  const { key } = step;
  if (asked === null || !asked.owner || shell == null || !config.commands.bash) return;
  const all = runningOf(ports);
  if (command === "stop") all.get(key)?.stopping.abort();
  if (command === "stop" || command === "" || all.has(key)) return;
  const stopping = new AbortController();
  all.set(key, { author: asked.author, stopping });
  const began = ports.clock.now();
  try {
    const { workspace } = agentIn(config, ports.agentOf(key), key);
    const end = await shell({
      command,
      workspace,
      msMax: limits.bashMsMax,
      bytesMax: limits.bashOutputBytesMax,
      signal: stopping.signal,
    });
    const ms = ports.clock.now() - began;
    log("info", "command.bash", { key, code: end.code, ended: end.why, ms });
    await ports.say(commandRow(configs, { asked, step, text: shownEnd(end), index: 1 }));
  } finally {
    all.delete(key);
  }
}

function shownEnd({ why, code, problem, output, isCut }: ShellEnd): string {
  const text = plainText(output).trimEnd();
  const ended = {
    ended: code === 0 ? "" : `It ${problem ?? `exited with code ${code}`}.`,
    time: `It was stopped: it took longer than ${limits.bashMsMax / 1_000} s.`,
    stopped: "It was stopped.",
  }[why];
  const cutNote = isCut ? "Only the end of its output is shown." : "";
  const shown = text === "" ? "" : fenced(text);
  const parts = [shown, ended, cutNote].filter((part) => part !== "");
  return parts.length === 0 ? "Done. It printed nothing." : parts.join("\n");
}

/** A code block whose fence is longer than any in the text. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}
