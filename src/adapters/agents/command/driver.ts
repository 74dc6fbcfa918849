/**
 * Runs an agent that is a program on this machine, one process per turn: the turn is written to its
 * standard input as one line of JSON, and events are read from its standard output, one per line.
 * There is no shell, the arguments come from the config, and of the environment it sees four
 * variables and those listed in the config.
 *
 * A program that succeeds without output is silent. One that fails, or prints something that is not
 * an event, fails the turn.
 */

import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { z } from "zod";
import {
  type AgentContext,
  type AgentEvent,
  AgentFailure,
  defineAgent,
  kindOfCode,
} from "../../../domain/ports/index.ts";
import { late, unlessAborted, within } from "../../../domain/ports/within.ts";
import { oneLine } from "../../../domain/sanitize.ts";
import type { FailureKind } from "../../../domain/stream.ts";
import { createSystemClock } from "../../system/clock.ts";
import { linesOf } from "../shared/lines.ts";
import { failure, picturesOf, readLine, runTool, turnMessage } from "../shared/wire.ts";
import type { Child, ChildEnd } from "./child.ts";
import { openChild } from "./children.ts";

/** Config fields of every driver that starts a program. */
export const programFields = {
  command: z
    .string()
    .min(1)
    .max(4_096)
    .describe("A program on the PATH, or a path relative to the config file's folder."),
  args: z
    .array(z.string().max(65_536))
    .max(256)
    .default([])
    .describe("Its arguments, passed unchanged."),
  cwd: z
    .string()
    .min(1)
    .max(4_096)
    .optional()
    .describe(
      "Working folder. Left out: the agent's `workspace` if it has one that exists, otherwise the config file's folder.",
    ),
  env: z
    .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, "the name of a variable"))
    .max(100)
    .default([])
    .describe("Environment variables passed to it besides PATH, HOME, LANG and TZ."),
  baseDir: z.string().optional().describe("Folder of relative paths; set by the config loader."),
};

const configSchema = z.strictObject({
  kind: z.literal("command").default("command"),
  ...programFields,
  tools: z
    .boolean()
    .default(true)
    .describe("Whether it reads `tool-result` lines; otherwise it is offered no tools."),
  steer: z
    .boolean()
    .default(false)
    .describe("Whether it reads `steer` lines. Without both, its input ends after the turn."),
  images: z.boolean().default(false).describe("Whether it gets the images of a turn."),
});
type CommandConfig = z.infer<typeof configSchema>;

type Program = Pick<CommandConfig, "command" | "args" | "cwd" | "env" | "baseDir">;

/** Time for a program to exit after closing its output, ms. */
const exitMsMax = 500;
const stderrShownUnitsMax = 240;

/** Resolves a configured program to what is started. */
export function programOf(config: Program, workspace: string | undefined) {
  const base = config.baseDir ?? process.cwd();
  const place = (path: string) => resolve(base, path.replace(/^~(?=$|\/)/, homedir()));
  const home = workspace === undefined ? base : place(workspace);
  const isPath = /[/\\]/.test(config.command);
  return {
    command: isPath ? place(config.command) : config.command,
    args: config.args,
    cwd: config.cwd === undefined ? (existsSync(home) ? home : base) : place(config.cwd),
    env: config.env,
  };
}

/** Why a program failed, with the end of its standard error. Null: it succeeded. */
export function problemOf(name: string, { problem, stderr }: ChildEnd): string | null {
  if (problem === null) return null;
  const tail = oneLine(stderr.slice(-stderrShownUnitsMax), stderrShownUnitsMax);
  return `The program ${oneLine(name)} ${problem}${tail === "" ? "" : `: ${tail}`}`;
}

/** A program that is not there is another fault than one that fails. */
export const kindOfEnd = ({ startCode }: ChildEnd): FailureKind =>
  startCode === undefined ? "crashed" : kindOfCode(startCode);

export const commandDriver = defineAgent<CommandConfig>({
  kind: "command",
  configSchema: configSchema as z.ZodType<CommandConfig>,
  open({ config, workspace }: AgentContext<CommandConfig>) {
    const program = programOf(config, workspace);
    const running = new Map<string, Child>();
    const send = (child: Child, line: object) => child.write(`${JSON.stringify(line)}\n`);
    return {
      capabilities: { steer: config.steer, tools: config.tools, images: config.images },
      steer(turnId, text) {
        const child = running.get(turnId);
        if (!config.steer || child === undefined) return false;
        send(child, { type: "steer", text });
        return true;
      },
      async *run(turn, { signal }): AsyncGenerator<AgentEvent> {
        signal.throwIfAborted();
        const child = await openChild(program);
        const stop = () => void child.stop();
        signal.addEventListener("abort", stop, { once: true });
        running.set(turn.turnId, child);
        try {
          signal.throwIfAborted();
          send(child, { ...turnMessage(turn), ...(config.tools ? {} : { tools: [] }) });
          const isAsked = turn.question !== undefined;
          if (isAsked || (!config.tools && !config.steer)) child.closeInput();
          for await (const line of linesOf(child.output)) {
            signal.throwIfAborted();
            const event = line.trim() === "" ? null : readLine(line, turn);
            if (event === null) continue;
            if (event.type === "tool-call") {
              const text = yield* runTool(turn, event, signal);
              const images = picturesOf(turn.takePictures?.() ?? []);
              const pictures = images.length === 0 ? {} : { images };
              send(child, { type: "tool-result", id: event.id, text, ...pictures });
            } else {
              yield event;
              if (event.type === "error") return;
            }
          }
          running.delete(turn.turnId);
          const end = await unlessAborted(endSoon(child), signal);
          const problem = end === null ? null : problemOf(program.command, end);
          if (end !== null && problem !== null)
            yield failure(new AgentFailure(kindOfEnd(end), problem));
        } catch (error) {
          signal.throwIfAborted();
          yield failure(error);
        } finally {
          signal.removeEventListener("abort", stop);
          if (running.get(turn.turnId) === child) running.delete(turn.turnId);
          await child.stop();
        }
      },
      async close() {
        await Promise.all([...running.values()].map((child) => child.stop()));
      },
    };
  },
});

/** How it ended; null when it still runs after closing its output. */
async function endSoon(child: Child): Promise<ChildEnd | null> {
  const end = await within(createSystemClock(), exitMsMax, child.ended);
  return end === late ? null : end;
}
