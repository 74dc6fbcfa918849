/**
 * The questions of `earshot init`, asked on a terminal. A model and a bot's token are tried
 * immediately; each can be skipped.
 */
import * as ask from "@clack/prompts";
import { EarshotError } from "../../../domain/errors.ts";
import { terminalSafe } from "../../../domain/sanitize.ts";
import { errorText } from "../lib/command.ts";
import { screenColumns, wrapText } from "../output/wrap.ts";
import { askModel, tryModel } from "./ask-model.ts";
import type { Answers, TelegramAnswers } from "./init-config.ts";
import { answered, barUnits, type Check, isAnything, notEmpty, text } from "./prompts.ts";

/** Asks the platform for the bot of a token. */
export type Identify = (token: string) => Promise<string>;

export interface Found {
  /** The bot's token from the environment; empty: not set. */
  readonly token: string;
  readonly apiRoot: string | null;
  readonly identify: Identify;
}

const isNumber: Check = (text) =>
  /^(-?\d{1,16})?$/.test(text ?? "") ? undefined : "Expected a Telegram id (a number), or nothing";

/** Asks for a name; Enter accepts the offered one, which is shown as a placeholder. */
async function nameOr(offered: string): Promise<string> {
  const typed = await ask.text({
    message: "What is your agent called?",
    placeholder: offered,
    defaultValue: offered,
    validate: (input) => ((input ?? "") === "" ? undefined : notEmpty(input)),
  });
  return answered(typed).trim();
}

/** Asks all questions. `plain`: the offered answers. */
export async function interview(plain: Answers, found: Found): Promise<Answers> {
  ask.intro("earshot: a first config");
  const name = await nameOr(plain.name);
  const driver = answered(
    await ask.select<Answers["driver"]>({
      message: "Who answers?",
      options: [
        { value: "guide", label: "the built-in guide (no key, no network)" },
        { value: "auto", label: "a model found on this machine: an API key, or Ollama" },
        { value: "openai-compatible", label: "a server that speaks the OpenAI API" },
        { value: "anthropic", label: "Anthropic" },
        { value: "openai", label: "OpenAI" },
      ],
    }),
  );
  const hasModel = driver !== "guide" && driver !== "auto";
  const purpose = hasModel ? await text("What is it for? Or nothing", "", isAnything) : "";
  const chosen = hasModel ? await askModel(driver, plain) : null;
  if (chosen !== null) await tryModel(chosen, { name, purpose });
  const { baseUrl, model, key } = chosen ?? { ...plain, key: null };
  const bot = answered(
    await ask.confirm({
      message: "Do you have a Telegram bot for it?",
      initialValue: found.token !== "",
    }),
  );
  const telegram = bot ? await askTelegram(found) : null;
  ask.outro("thank you");
  return { name, purpose, driver, baseUrl, model, key, telegram };
}

async function askTelegram(found: Found): Promise<TelegramAnswers> {
  const { apiRoot } = found;
  const token = await askToken(found);
  const owner = await text("Your own Telegram id, to become the owner? Or nothing", "", isNumber);
  const group = await text("The id of a group to listen to? Or nothing", "", isNumber);
  return { token, apiRoot, owner, group };
}

/** A token for the file; null: it is in the environment, now or later. */
async function askToken({ token: known, identify: whoIs }: Found): Promise<string | null> {
  if (known !== "" && (await isAccepted(known, whoIs))) return null;
  for (;;) {
    const token = answered(
      await ask.password({ message: "Its token from @BotFather? Or nothing, to set it later" }),
    ).trim();
    if (token === "") return null;
    if (!(await isAccepted(token, whoIs))) continue;
    const where = answered(
      await ask.select<"file" | "environment">({
        message: "Where should the token be stored?",
        options: [
          { value: "file", label: "in the config file, which only you can read" },
          { value: "environment", label: "in the environment, as TELEGRAM_BOT_TOKEN" },
        ],
      }),
    );
    return where === "file" ? token : null;
  }
}

/** Tries a token and prints the result. A token that cannot be tried now is accepted. */
async function isAccepted(token: string, identify: Identify): Promise<boolean> {
  try {
    ask.log.success(terminalSafe(`The token is valid: the bot is ${await identify(token)}.`));
    return true;
  } catch (error) {
    const later = error instanceof EarshotError && error.disposition === "retry";
    const words = errorText(error);
    const columns = Math.max(20, screenColumns(process.stdout) - barUnits);
    ask.log.warn(wrapText(`${words}${later ? ". It is used without a check." : ""}`, { columns }));
    return later;
  }
}
