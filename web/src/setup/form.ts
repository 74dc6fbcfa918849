/**
 * What is entered on the Setup page
 * =================================
 * Keys are in memory until they are written, and never come back from the daemon.
 */
import type { SetupState } from "../../../src/daemon/api-types/setup.ts";
import { ApiError } from "../lib/api.ts";

export const kinds = {
  keep: "Unchanged",
  "openai-compatible": "OpenAI-compatible server",
  anthropic: "Anthropic",
  openai: "OpenAI",
  command: "Program",
  acp: "ACP agent",
} as const;
export type Kind = keyof typeof kinds;
const providers: readonly Kind[] = ["openai-compatible", "anthropic", "openai"];
export const isModel = (kind: Kind): boolean => providers.includes(kind);

export interface Form {
  readonly name: string;
  readonly purpose: string;
  /** Separated by commas. */
  readonly aliases: string;
  readonly kind: Kind;
  readonly baseUrl: string;
  readonly model: string;
  readonly key: string;
  /** A program with its arguments, separated by spaces. */
  readonly command: string;
  /** Of one channel, by the names of its fields. */
  readonly fields: Readonly<Record<string, string>>;
}

/** Ollama's default address. */
const localServer = "http://127.0.0.1:11434/v1";

export function formOf({ agent, driver }: SetupState): Form {
  const { provider = "openai-compatible", baseUrl, model = "", command = "", args = [] } = driver;
  const kind = driver.kind === "model" ? provider : driver.kind;
  return {
    name: agent.name,
    purpose: agent.purpose,
    aliases: agent.aliases.join(", "),
    kind: kind in kinds ? (kind as Kind) : "keep",
    baseUrl: baseUrl ?? localServer,
    model,
    key: "",
    command: [command, ...args].join(" "),
    fields: {},
  };
}

const partsOf = (text: string, separator: RegExp): string[] =>
  text
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== "");

export const serverOf = ({ kind, baseUrl, key }: Form) => ({
  provider: kind,
  ...(kind === "openai-compatible" && { baseUrl: baseUrl.trim() }),
  ...(key.trim() !== "" && { key: key.trim() }),
});

/** The driver as it is written; null: it stays as it is. */
export function driverOf(form: Form): object | null {
  const { kind, model, baseUrl, command } = form;
  if (kind === "keep") return null;
  if (kind === "command" || kind === "acp") {
    const [program = "", ...args] = partsOf(command, /\s+/u);
    return { kind, command: program, args };
  }
  const address = kind === "openai-compatible" ? { baseUrl: baseUrl.trim() } : {};
  return { kind: "model", provider: kind, model: model.trim(), ...address };
}

export const agentOf = ({ name, purpose, aliases }: Form) => ({
  name: name.trim(),
  purpose: purpose.trim(),
  aliases: partsOf(aliases, /,/u),
});

export type Channel = SetupState["channels"][number];

/** What is offered for an account that is new. */
export const offeredOf = ({ isConfigured, fields }: Channel): Form["fields"] =>
  isConfigured
    ? {}
    : Object.fromEntries(fields.flatMap(({ name, initial }) => (initial ? [[name, initial]] : [])));

/** The fields whose condition is met; of a configured account, the daemon knows more. */
export const fieldsAsked = ({ fields, isConfigured }: Channel, form: Form): Channel["fields"] =>
  fields.filter(({ when }) => {
    const chosen = when === undefined ? "" : (form.fields[when.field] ?? "");
    return when === undefined || chosen === when.is || (isConfigured && chosen === "");
  });

export function channelOf(form: Form, channel: Channel | undefined): object | null {
  if (channel === undefined) return null;
  const entered = fieldsAsked(channel, form).flatMap(({ name }) => {
    const text = form.fields[name]?.trim() ?? "";
    return text === "" ? [] : [[name, text] as const];
  });
  return entered.length === 0 ? null : { id: channel.id, fields: Object.fromEntries(entered) };
}

/** All answers, as they are planned and written. */
export const answersOf = (form: Form, channel: Channel | undefined) => ({
  agent: agentOf(form),
  driver: driverOf(form),
  ...(isModel(form.kind) && form.key.trim() !== "" && { key: form.key.trim() }),
  channel: channelOf(form, channel),
});

export const messageOf = (error: unknown): string =>
  error instanceof ApiError ? error.message : "Cannot reach earshot.";
