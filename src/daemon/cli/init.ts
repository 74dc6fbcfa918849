/**
 * `earshot init`: asks what a first config needs and writes it, with comments that say what each
 * line is for. Secrets go into the environment, not into the file. With --yes it asks nothing.
 */
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import * as ask from "@clack/prompts";
import type { Command } from "commander";
import { configFromText } from "../../adapters/config-file.ts";
import { EarshotError } from "../../domain/errors.ts";
import { createRegistry } from "../assembly.ts";
import { prepareStateDir } from "../state-dir.ts";
import { type Lesson, teach } from "./help.ts";
import { action, print, type StateOptions, stateDirFor, withStateDir } from "./shared.ts";

interface InitOptions extends StateOptions {
  readonly config?: string;
  readonly yes?: boolean;
  readonly force?: boolean;
}

interface Answers {
  readonly name: string;
  readonly driver: "guide" | "auto" | "openai-compatible";
  readonly baseUrl: string;
  readonly model: string;
  readonly telegram: boolean;
  /** Group id, or empty. */
  readonly group: string;
}

const plain: Answers = {
  name: "earshot",
  driver: "guide",
  baseUrl: "http://127.0.0.1:11434/v1",
  model: "llama3.2",
  telegram: false,
  group: "",
};

const lesson: Lesson = {
  about:
    "Asks for the agent's name, who answers, and whether there is a Telegram bot. Secrets go into " +
    "the environment, never into the file. What it writes has been checked.",
  examples: [
    ["earshot init", "asks, then writes earshot.json5 in the state directory"],
    ["earshot init --yes --config ./earshot.json5", "writes the defaults with comments"],
  ],
  exits: "0 written, 1 failed, 2 nothing written: the file is there already, or you left.",
};

export function addInitCommand(program: Command): void {
  teach(withStateDir(program.command("init")), lesson)
    .description("Write a first config file, with comments")
    .option("--config <file>", "where to write it (default: earshot.json5 in the state directory)")
    .option("--yes", "ask nothing")
    .option("--force", "replace a file that is there")
    .action(action(init));
}

async function init(options: InitOptions): Promise<void> {
  const stateDir = stateDirFor(options);
  const path =
    options.config === undefined ? join(stateDir, "earshot.json5") : resolve(options.config);
  const asks = options.yes !== true;
  if (asks && !process.stdin.isTTY)
    throw new EarshotError("EAR_USAGE", "Cannot ask as there is no terminal: use --yes");
  const answers = asks ? await interview() : plain;
  const text = configText(answers);
  const env = { TELEGRAM_BOT_TOKEN: "0:checked-later", OPENAI_API_KEY: "checked-later" };
  configFromText(text, path, { env, parse: createRegistry() });
  if (options.config === undefined) await prepareStateDir(stateDir);
  await writeFile(path, text, { mode: 0o600, flag: options.force === true ? "w" : "wx" }).catch(
    (error: NodeJS.ErrnoException) => {
      throw new EarshotError(
        "EAR_USAGE",
        error.code === "EEXIST"
          ? `Cannot write ${path} as it is there already: --force replaces it`
          : `Cannot write ${path} (${error.code ?? "unknown"}): name another place with --config`,
      );
    },
  );
  print(`wrote ${path}`);
  if (answers.telegram) print("give the bot's token as TELEGRAM_BOT_TOKEN, then: earshot doctor");
  print(`next: earshot start${placeFlags(options, path)}`);
}

/** What `start` has to be told to find what was written. */
function placeFlags({ config, stateDir }: InitOptions, path: string): string {
  if (config !== undefined) return ` --config ${path}`;
  const told = stateDir !== undefined && stateDir !== process.env.EARSHOT_STATE_DIR;
  return told ? ` --state-dir ${stateDir}` : "";
}

/** What was answered; leaving in the middle writes nothing. */
function given<Value>(answer: Value): Exclude<Value, symbol> {
  if (typeof answer === "symbol")
    throw new EarshotError("EAR_USAGE", "Cannot go on as you left: nothing is written");
  return answer as Exclude<Value, symbol>;
}

async function interview(): Promise<Answers> {
  ask.intro("earshot: a first config");
  const name = given(
    await ask.text({ message: "What is your agent called?", initialValue: plain.name }),
  );
  const driver = given(
    await ask.select<Answers["driver"]>({
      message: "Who answers?",
      options: [
        { value: "guide", label: "the built-in guide (no key, no network)" },
        { value: "auto", label: "what is found here: an API key, or Ollama" },
        { value: "openai-compatible", label: "a server that speaks the OpenAI API" },
      ],
    }),
  );
  const own = driver === "openai-compatible";
  const text = async (message: string, initialValue: string) =>
    given(await ask.text({ message, initialValue }));
  const baseUrl = own ? await text("Where is it?", plain.baseUrl) : plain.baseUrl;
  const model = own ? await text("Which model?", plain.model) : plain.model;
  const telegram = given(
    await ask.confirm({ message: "Is there a Telegram bot for it?", initialValue: false }),
  );
  const group = telegram
    ? given(
        await ask.text({
          message: "Which group may it hear? Its id, or nothing",
          defaultValue: "",
        }),
      )
    : "";
  ask.outro("thank you");
  return { name, driver, baseUrl, model, telegram, group };
}

/** The file. Every value is written as JSON, so no answer can become anything else. */
function configText(answers: Answers): string {
  const value = (text: string) => JSON.stringify(text);
  const driver =
    answers.driver === "openai-compatible"
      ? `{ kind: "model", provider: "openai-compatible", baseUrl: ${value(answers.baseUrl)}, ` +
        `model: ${value(answers.model)} }`
      : value(answers.driver);
  const telegram = `    telegram: {
      // The token comes from the environment; it never stands in this file.
      accounts: { default: { botToken: "\${TELEGRAM_BOT_TOKEN}" } },
    },
`;
  const groups = answers.group === "" ? "{}" : `{ ${value(`telegram:${answers.group}`)}: {} }`;
  return `// earshot's config. Everything that is left out has a default: docs/config.md lists them,
// and \`earshot config show\` prints what is in force and where it comes from.
{
  agents: {
    // The name is also what the agent listens to in a group; more names go into \`aliases\`.
    list: [{ id: "main", name: ${value(answers.name)}, aliases: [], default: true, driver: ${driver} }],
  },
  channels: {
${answers.telegram ? telegram : ""}    // The page, the terminal and HTTP are on unless switched off here.
  },
  access: {
    // Who may write to the agent directly: "pairing", "allowlist", "open" or "disabled".
    dmPolicy: "pairing",
    // Groups it hears, by channel and id. An empty list means none.
    groups: ${groups},
  },
  engagement: {
    // How long somebody who was answered may go on without a mention.
    stickiness: { windowMs: 900000 },
  },
}
`;
}
