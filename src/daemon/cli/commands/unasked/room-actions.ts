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
  "A room is named by its session key; `earshot sessions list --heard` lists them. It is stored who " +
  "did it, and nothing is announced in the chat.";

const help: Readonly<Record<Does, HelpText>> = {
  stop: {
    about:
      "Stops the turn that runs in a room, as Stop on its page does. What was sent of the answer " +
      `stays. ${rooms} To end the daemon itself, send it SIGTERM, or Ctrl-C where it runs.`,
    examples: [`earshot stop ${key}`],
    exits: "0 stopped, 1 no such room, or no turn runs there, 2 bad use or no daemon runs.",
  },
  disengage: {
    about:
      "Ends all credits of a room, as /disengage does: the agent only listens there until it is " +
      `spoken to again. A turn that runs is not stopped. ${rooms}`,
    examples: [`earshot disengage ${key}`],
    exits: "0 done, 1 no such room, 2 bad use or no daemon runs.",
  },
};

export function addRoomActionCommands(program: Command): void {
  const add = (does: Does, description: string) =>
    addHelp(withStateDir(program.command(`${does} <room>`)), help[does])
      .description(description)
      .option("--json", "for programs")
      .action(action((room: string, options: JsonOptions) => act(does, room, options)));
  add("stop", "Stop the turn that runs in a room");
  add("disengage", "Make the agent only listen in a room until it is spoken to");
}

async function act(does: Does, room: string, options: JsonOptions): Promise<void> {
  if (!isSessionKey(room))
    throw new EarshotError(
      "EAR_USAGE",
      `Cannot find the room "${oneLine(room, keyUnitsMax)}": a key starts with \`agent:\`. ` +
        "`earshot sessions list --heard` lists them",
    );
  const path = `/api/rooms/${encodeURIComponent(room)}/actions`;
  try {
    const done = await askDaemon<{ done: string }>(options, path, {
      method: "POST",
      body: { does },
    });
    if (done === null)
      return printRefusal("there is no such room: see earshot sessions list --heard");
    if (options.json === true) return printJson(done);
    printText(done.done);
  } catch (error) {
    if (!(error instanceof ApiRefused) || error.status !== 409) throw error;
    printRefusal(error.message);
  }
}
