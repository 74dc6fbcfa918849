/**
 * The first config file
 * =====================
 * Writes the answers as a config file with a comment for each line. Every value is written as JSON,
 * so no answer can change the structure of the file.
 */

import { keyOf, textOf } from "../../config-edit/json5-text.ts";
import { accountWritten, enteredValues } from "../../setup/account.ts";
import { keyVariableOf } from "../../setup/answers.ts";
import type { Provider } from "./ask-model.ts";
import type { Connectable, Fields } from "./channel-answers.ts";

/** What was entered for a channel. */
export interface AnsweredChannel {
  readonly channel: Connectable;
  readonly fields: Fields;
  /** The operator's own id there, or empty. */
  readonly owner: string;
  /** A group to listen to, or empty. */
  readonly group: string;
}

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
  /** Null: none is connected now. */
  readonly channel: ChannelPart | null;
}

/** The part of a channel, from what was entered. */
export function accountPart({ channel, fields, owner, group }: AnsweredChannel): ChannelPart {
  const entered = { fields, accountId: "default", before: undefined };
  const values = enteredValues(channel.setup, entered);
  const secrets = values.flatMap(({ variable, value: secret }) =>
    variable === null ? [] : [[variable, String(secret)] as const],
  );
  return {
    id: channel.id,
    owner,
    group,
    account: accountWritten(values),
    secrets: Object.fromEntries(secrets),
  };
}

/** An account of a channel, as it is written. */
export interface ChannelPart {
  readonly id: string;
  /** With references to its secrets. */
  readonly account: unknown;
  /** By their variables, for the file of secrets. */
  readonly secrets: Readonly<Record<string, string>>;
  /** The operator's own id there, or empty. */
  readonly owner: string;
  /** A group to listen to, or empty. */
  readonly group: string;
}

const value = (text: string): string => JSON.stringify(text);

function driverText({ driver, baseUrl, model, key }: Answers): string {
  if (driver === "guide" || driver === "auto") return value(driver);
  const address = driver === "openai-compatible" ? `baseUrl: ${value(baseUrl)}, ` : "";
  const apiKey = key === null ? "" : `, apiKey: ${value(`\${${keyVariableOf(driver)}}`)}`;
  return (
    `{ kind: "model", provider: ${value(driver)}, ${address}` + `model: ${value(model)}${apiKey} }`
  );
}

function channelText({ id, account }: ChannelPart): string {
  return `    ${keyOf(id)}: {
      // Secrets are in the environment or in secrets.json; they are not in this file.
      accounts: { default: ${textOf(account)} },
    },
`;
}

/** The file's text. */
export function configText(answers: Answers): string {
  const { name, purpose, channel } = answers;
  const { id = "", owner = "", group = "" } = channel ?? {};
  const owners = owner === "" ? "[]" : `[${value(`${id}:${owner}`)}]`;
  const groups = group === "" ? "{}" : `{ ${value(`${id}:${group}`)}: {} }`;
  return `// earshot's config. Every key that is left out has a default (docs/reference/config.md);
// \`earshot config show\` prints all values and where they come from.
{
  agents: {
    // The agent reacts to this name in groups; add more names to \`aliases\`.
    list: [{ id: "main", name: ${value(name)}, ${purpose === "" ? "" : `purpose: ${value(purpose)}, `}aliases: [], default: true, driver: ${driverText(answers)} }],
  },
  channels: {
${channel === null ? "" : channelText(channel)}    // The page, the terminal and HTTP are on unless switched off here.
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
