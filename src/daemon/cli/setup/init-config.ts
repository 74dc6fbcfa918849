/**
 * The first config file
 * =====================
 * Writes the answers as a config file with a comment for each line. Every value is written as JSON,
 * so no answer can change the structure of the file.
 */

import { keyVariableOf } from "../../setup/answers.ts";
import type { Provider } from "./ask-model.ts";

/** The answers to the questions. */
export interface Answers {
  readonly name: string;
  /** Empty: nobody said. */
  readonly purpose: string;
  readonly driver: "guide" | "auto" | Provider;
  readonly baseUrl: string;
  readonly model: string;
  /** The model's key, for the file of secrets; null: there is none. */
  readonly key: string | null;
  /** Null: no Telegram bot. */
  readonly telegram: TelegramAnswers | null;
}

export interface TelegramAnswers {
  /** Written into the file; null: it is in the environment. */
  readonly token: string | null;
  /** Another Bot API server; null: Telegram's own. */
  readonly apiRoot: string | null;
  /** The operator's own id there, or empty. */
  readonly owner: string;
  /** A group to listen to, or empty. */
  readonly group: string;
}

/** Environment variable of the bot's token. */
export const tokenVariable = "TELEGRAM_BOT_TOKEN";

const value = (text: string): string => JSON.stringify(text);

function driverText({ driver, baseUrl, model, key }: Answers): string {
  if (driver === "guide" || driver === "auto") return value(driver);
  const address = driver === "openai-compatible" ? `baseUrl: ${value(baseUrl)}, ` : "";
  const apiKey = key === null ? "" : `, apiKey: ${value(`\${${keyVariableOf(driver)}}`)}`;
  return (
    `{ kind: "model", provider: ${value(driver)}, ${address}` + `model: ${value(model)}${apiKey} }`
  );
}

function telegramText({ token, apiRoot }: TelegramAnswers): string {
  const where =
    token === null
      ? "The token comes from the environment; it is not in this file."
      : "The token makes this file a secret: keep it readable for you alone (chmod 600).";
  const root = apiRoot === null ? "" : `, apiRoot: ${value(apiRoot)}`;
  const written = token === null ? value(`\${${tokenVariable}}`) : value(token);
  return `    telegram: {
      // ${where}
      accounts: { default: { botToken: ${written}${root} } },
    },
`;
}

/** The file's text. */
export function configText(answers: Answers): string {
  const { name, purpose, telegram } = answers;
  const { owner = "", group = "" } = telegram ?? {};
  const owners = owner === "" ? "[]" : `[${value(`telegram:${owner}`)}]`;
  const groups = group === "" ? "{}" : `{ ${value(`telegram:${group}`)}: {} }`;
  return `// earshot's config. Every key that is left out has a default (docs/reference/config.md);
// \`earshot config show\` prints all values and where they come from.
{
  agents: {
    // The agent reacts to this name in groups; add more names to \`aliases\`.
    list: [{ id: "main", name: ${value(name)}, ${purpose === "" ? "" : `purpose: ${value(purpose)}, `}aliases: [], default: true, driver: ${driverText(answers)} }],
  },
  channels: {
${telegram === null ? "" : telegramText(telegram)}    // The page, the terminal and HTTP are on unless switched off here.
  },
  access: {
    // Who may write to the agent directly: "pairing", "allowlist", "open" or "disabled".
    dmPolicy: "pairing",
    // Groups that it listens to, by channel and id. Empty: none.
    groups: ${groups},
  },
  commands: {
    // Who may use every command, by channel and id. They may also write directly.
    ownerAllowFrom: ${owners},
  },
  engagement: {
    // How long a person who was answered may continue without a mention.
    stickiness: { windowMs: 900000 },
  },
}
`;
}
