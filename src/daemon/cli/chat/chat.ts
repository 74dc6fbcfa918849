/**
 * `earshot chat`
 * ==============
 * A conversation with the default agent in the terminal. It is another client of the web chat, so
 * both show the same messages. If no daemon is running, the command starts one for the duration of the
 * chat. With a pipe instead of a keyboard every line is a message, and the end of input waits for
 * the answers.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type Command, Option } from "commander";
import { startDaemon } from "../../daemon.ts";
import { type DaemonAddress, findDaemon } from "../lib/api-client.ts";
import { action, fail, type StateOptions, stateDirFor, withStateDir } from "../lib/command.ts";
import { addHelp, type HelpText } from "../output/help-text.ts";
import { createAttacher } from "./attach.ts";
import { openChat } from "./client.ts";
import { createCompleter } from "./complete.ts";
import { ChatScreen } from "./screen.ts";

interface ChatOptions extends StateOptions {
  readonly temporary?: boolean;
  readonly config?: string;
}

const help: HelpText = {
  about:
    "Connects to the running daemon, or starts one until you leave. You see the same " +
    "conversation as on the Chat page. Tab completes commands; /attach PATH sends a file with " +
    "your next message. Leave with Ctrl-D or Ctrl-C.",
  examples: [
    "earshot chat",
    ["earshot chat --temporary", "in a separate daemon that stores nothing"],
    [
      'echo "what can you do?" | earshot chat',
      "send each line as a message; exit when all are answered",
    ],
  ],
  exits:
    "0 you left, or every line was answered; 1 failed, or the agent could not answer; 2 could " +
    "not reach or start a daemon.",
};

export function addChatCommand(program: Command): void {
  addHelp(withStateDir(program.command("chat")), help)
    .description("Talk to the default agent in this terminal")
    .option("--temporary", "in a separate daemon that stores nothing")
    .addOption(
      new Option("--config <file>", "config file for the daemon it starts").env("EARSHOT_CONFIG"),
    )
    .action(action(chat));
}

/** The daemon to talk to, and how to end it. */
interface Place {
  find(): Promise<DaemonAddress | null>;
  leave(): Promise<void>;
}

async function chat(options: ChatOptions): Promise<void> {
  const place = await placeFor(options);
  try {
    await converse(place);
  } finally {
    await place.leave();
  }
}

async function placeFor(options: ChatOptions): Promise<Place> {
  const temporary = options.temporary === true;
  const stateDir = temporary
    ? await mkdtemp(join(tmpdir(), "earshot-chat-"))
    : stateDirFor(options);
  const find = () => findDaemon(stateDir);
  if (!temporary && (await find()) !== null) return { find, leave: async () => undefined };
  if (process.stdin.isTTY)
    process.stderr.write("No daemon is running. Starting one for this chat.\n");
  const daemon = await startDaemon({
    stateDir,
    port: 0,
    logLevel: "error",
    logPretty: process.stderr.isTTY === true,
    ...(options.config === undefined ? {} : { config: options.config }),
  });
  return {
    find,
    async leave() {
      await daemon.stop({ drainMs: 1_000 });
      if (temporary) await rm(stateDir, { recursive: true, force: true });
    },
  };
}

/** Runs the conversation until the person leaves. */
function converse(place: Place): Promise<void> {
  return new Promise((resolve) => {
    const lines = createInterface({
      input: process.stdin,
      ...(process.stdin.isTTY
        ? { output: process.stdout, completer: createCompleter(place.find) }
        : {}),
      terminal: process.stdin.isTTY === true,
    });
    const screen = new ChatScreen(lines, process.stdout, process.stdin.isTTY === true);
    let inputEnded = false;
    const end = () => {
      client.close();
      screen.close();
      lines.close();
      resolve();
    };
    const endWhenAnswered = () => {
      if (!inputEnded || client.unsent() > 0 || !screen.isQuiet()) return;
      if (screen.hasFailed) process.exitCode = 1;
      end();
    };
    const client = openChat(
      place.find,
      {
        frame(frame) {
          screen.show(frame);
          endWhenAnswered();
        },
        connected: (is) => screen.connected(is),
        failed(error) {
          fail(error);
          end();
        },
      },
      0,
    );
    const attacher = createAttacher({ find: place.find, print: (line) => screen.note(line) });
    const typed = (text: string) => {
      if (attacher.takes(text)) return;
      void attacher.forLine().then((files) => {
        if (text !== "" || files.length > 0) screen.sent(client.say(text, files));
      });
    };
    lines.on("line", (line) => {
      const text = line.trim();
      const isTyped = process.stdin.isTTY === true;
      if (isTyped) typed(text);
      else if (text !== "") screen.sent(client.say(text));
      screen.prompt();
    });
    lines.on("SIGINT", end);
    lines.on("close", () => {
      if (process.stdin.isTTY) return end();
      inputEnded = true;
      endWhenAnswered();
    });
  });
}
