/**
 * The questions of `earshot init`, asked on a terminal. A bot's token is tried at once; a person
 * without one can skip it.
 */
import * as ask from "@clack/prompts";
import { EarshotError } from "../../../domain/errors.ts";
import { terminalSafe } from "../../../domain/sanitize.ts";
import { errorLine } from "../lib/command.ts";
import { screenColumns, wrapText } from "../output/wrap.ts";
import type { Answers, TelegramAnswers } from "./init-config.ts";

/** Prefix of each line that is printed between the questions. */
const barUnits = 4;

/** Who the bot with this token is. */
export type WhoIs = (token: string) => Promise<string>;

export interface Found {
  /** The bot's token, as the environment has it; empty: it has none. */
  readonly token: string;
  readonly apiRoot: string | null;
  readonly whoIs: WhoIs;
}

/** What was answered; leaving in the middle writes nothing. */
function given<Value>(answer: Value): Exclude<Value, symbol> {
  if (typeof answer === "symbol")
    throw new EarshotError("EAR_USAGE", "Cannot go on: you left. Nothing is written");
  return answer as Exclude<Value, symbol>;
}

type Check = (text: string | undefined) => string | undefined;

const notEmpty: Check = (text) =>
  (text ?? "").trim() === "" ? "It needs a name: people call it by that." : undefined;
const isAddress: Check = (text) =>
  /^https?:\/\/[^\s]+$/.test(text ?? "")
    ? undefined
    : "An address such as http://127.0.0.1:11434/v1";
const isNumber: Check = (text) =>
  /^(-?\d{1,16})?$/.test(text ?? "") ? undefined : "A number, as Telegram has it, or nothing";

async function text(message: string, initialValue: string, validate: Check): Promise<string> {
  return given(await ask.text({ message, initialValue, defaultValue: "", validate })).trim();
}

/** A name, or the offered one by Enter alone: it is shown, but not in the way of typing another. */
async function nameOr(offered: string): Promise<string> {
  const typed = await ask.text({
    message: "What is your agent called?",
    placeholder: offered,
    defaultValue: offered,
    validate: (given) => ((given ?? "") === "" ? undefined : notEmpty(given)),
  });
  return given(typed).trim();
}

/** Asks everything. `plain` is what is offered. */
export async function interview(plain: Answers, found: Found): Promise<Answers> {
  ask.intro("earshot: a first config");
  const name = await nameOr(plain.name);
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
  const baseUrl = own ? await text("Where is it?", plain.baseUrl, isAddress) : plain.baseUrl;
  const model = own ? await text("Which model?", plain.model, notEmpty) : plain.model;
  const bot = given(
    await ask.confirm({
      message: "Is there a Telegram bot for it?",
      initialValue: found.token !== "",
    }),
  );
  const telegram = bot ? await aboutTelegram(found) : null;
  ask.outro("thank you");
  return { name, driver, baseUrl, model, telegram };
}

async function aboutTelegram(found: Found): Promise<TelegramAnswers> {
  const { apiRoot } = found;
  const token = await aboutToken(found);
  const owner = await text("Your own id there, so that you own the bot? Or nothing", "", isNumber);
  const group = await text("Which group may it hear? Its id, or nothing", "", isNumber);
  return { token, apiRoot, owner, group };
}

/** A token for the file; null: the environment has it, now or later. */
async function aboutToken({ token: known, whoIs }: Found): Promise<string | null> {
  if (known !== "" && (await isTaken(known, whoIs))) return null;
  for (;;) {
    const token = given(
      await ask.password({ message: "Its token from @BotFather? Or nothing, for later" }),
    ).trim();
    if (token === "") return null;
    if (!(await isTaken(token, whoIs))) continue;
    const where = given(
      await ask.select<"file" | "environment">({
        message: "Where is the token kept?",
        options: [
          { value: "file", label: "in the config file, which only you can read" },
          { value: "environment", label: "in the environment, as TELEGRAM_BOT_TOKEN" },
        ],
      }),
    );
    return where === "file" ? token : null;
  }
}

/** Tries a token and says what came of it. One that cannot be tried is taken at its word. */
async function isTaken(token: string, whoIs: WhoIs): Promise<boolean> {
  try {
    ask.log.success(terminalSafe(`The token is good: the bot is ${await whoIs(token)}.`));
    return true;
  } catch (error) {
    const later = error instanceof EarshotError && error.disposition === "retry";
    const words = errorLine(error).replace(/^earshot: /, "");
    const columns = Math.max(20, screenColumns(process.stdout) - barUnits);
    ask.log.warn(wrapText(`${words}${later ? ". It is taken as it is." : ""}`, { columns }));
    return later;
  }
}
