/** `earshot stop` and `earshot disengage`: what an operator does to a room from outside of it. */
import type { Command } from "commander";
import { EarshotError } from "../../../../domain/errors.ts";
import { isSessionKey } from "../../../../domain/key.ts";
import { oneLine } from "../../../../domain/sanitize.ts";
import { ApiRefused, askDaemon } from "../../lib/api-client.ts";
import {
  action,
  type JsonOptions,
  printJson,
  printRefusal,
  printText,
  withStateDir,
} from "../../lib/command.ts";
import { addHelp, type HelpText } from "../../output/help-text.ts";

type Does = "stop" | "disengage";

const key = "agent:main:telegram:group:-1001234567890";
const keyUnitsMax = 100;
const rooms =
  "Name the room by its session key, which `earshot sessions list --heard` lists. The journal " +
  "records who did it; nothing is posted in the chat.";

const help: Readonly<Record<Does, HelpText>> = {
  stop: {
    about:
      "Stops the running turn of a room, like the Stop button on its page. Parts of the answer " +
      `that were sent stay. ${rooms} To stop the daemon itself, press Ctrl-C where it runs, or ` +
      "send it SIGTERM.",
    examples: [`earshot stop ${key}`],
    exits: "0 stopped; 1 no such room, or no turn is running; 2 usage error or no running daemon.",
  },
  disengage: {
    about:
      "Ends all sticky credits of a room, like /disengage: the agent observes until somebody " +
      `addresses it again. A running turn is not stopped. ${rooms}`,
    examples: [`earshot disengage ${key}`],
    exits: "0 done; 1 no such room; 2 usage error or no running daemon.",
  },
};

export function addRoomActionCommands(program: Command): void {
  const add = (does: Does, description: string) =>
    addHelp(withStateDir(program.command(`${does} <room>`)), help[does])
      .description(description)
      .option("--json", "print JSON")
      .action(action((room: string, options: JsonOptions) => act(does, room, options)));
  add("stop", "Stop the running turn of a room");
  add("disengage", "Make the agent observe a room until addressed");
}

async function act(does: Does, room: string, options: JsonOptions): Promise<void> {
  if (!isSessionKey(room))
    throw new EarshotError(
      "EAR_USAGE",
      `Cannot find the room "${oneLine(room, keyUnitsMax)}": expected a session key, which ` +
        "starts with `agent:`. `earshot sessions list --heard` lists them",
    );
  const path = `/api/rooms/${encodeURIComponent(room)}/actions`;
  try {
    const done = await askDaemon<{ done: string }>(options, path, {
      method: "POST",
      body: { does },
    });
    if (done === null)
      return printRefusal("no such room; `earshot sessions list --heard` lists them");
    if (options.json === true) return printJson(done);
    printText(done.done);
  } catch (error) {
    if (!(error instanceof ApiRefused) || error.status !== 409) throw error;
    printRefusal(error.message);
  }
}
