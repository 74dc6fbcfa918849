/**
 * The questions about a channel, made from what it says of itself. The account is tried before
 * anything is written.
 */
import * as ask from "@clack/prompts";
import { EarshotError } from "../../../domain/errors.ts";
import type { ChannelIdentity, SetupField } from "../../../domain/ports/index.ts";
import { terminalSafe } from "../../../domain/sanitize.ts";
import { fieldsAsked } from "../../setup/account.ts";
import { errorText } from "../lib/command.ts";
import { screenColumns, wrapText } from "../output/wrap.ts";
import {
  type AccountPlace,
  answersIn,
  type Connectable,
  type Fields,
  tryAccount,
  variableFor,
} from "./channel-answers.ts";
import { answered, barUnits } from "./prompts.ts";

const noChannel = "";

/** A channel to connect; null: none now. */
export async function chooseChannel(
  channels: readonly Connectable[],
  env: NodeJS.ProcessEnv,
): Promise<Connectable | null> {
  const known = channels.find((channel) =>
    channel.setup.fields.some(({ secret }) => secret !== null && (env[secret] ?? "") !== ""),
  );
  const chosen = answered(
    await ask.select<string>({
      message: "Which channel, besides the web page and the terminal?",
      options: [
        { value: noChannel, label: "None for now" },
        ...channels.map(({ id, meta }) => ({ value: id, label: meta.name })),
      ],
      initialValue: known?.id ?? noChannel,
      maxItems: 12,
    }),
  );
  return channels.find(({ id }) => id === chosen) ?? null;
}

/** Asks until the platform lets the account in, or cannot be asked now. */
export async function askChannel(place: AccountPlace, env: NodeJS.ProcessEnv): Promise<Fields> {
  const { channel } = place;
  const steps = channel.setup.steps.map((step, index) => `${index + 1}. ${step}`);
  say(`${channel.meta.name}:\n${steps.join("\n")}`);
  const given = answersIn(place, env);
  for (let offered: Fields = given; ; ) {
    const fields = await askFields(place, offered, given);
    if (await isLetIn(place, fields)) return fields;
    // A secret is entered again; everything else is offered as it was.
    offered = fields;
  }
}

async function askFields(place: AccountPlace, offered: Fields, given: Fields): Promise<Fields> {
  const { setup } = place.channel;
  const { before } = place;
  const fields: Record<string, string> = {};
  for (const field of setup.fields) {
    if (!fieldsAsked(setup, { fields, before }).includes(field)) continue;
    const isGiven = field.secret !== null && given[field.name] !== undefined;
    const text =
      isGiven && offered === given
        ? useGiven(place, field, given)
        : await askField(field, before === undefined, offered[field.name] ?? field.initial ?? "");
    if (text !== "") fields[field.name] = text;
  }
  return fields;
}

function useGiven(place: AccountPlace, field: SetupField, given: Fields): string {
  ask.log.info(`${field.label}: from ${variableFor(place, field)}`);
  return given[field.name] ?? "";
}

async function askField(field: SetupField, isNew: boolean, offered: string): Promise<string> {
  const { label, secret, isOptional, type, hint } = field;
  const canBeEmpty = isOptional || !isNew;
  const none = canBeEmpty ? ` Or nothing${isNew ? "" : ", to keep it"}.` : "";
  const message = `${label}?${none}${hint === undefined ? "" : ` ${hint}`}`;
  const validate = (text: string | undefined) =>
    canBeEmpty || (text ?? "").trim() !== "" ? undefined : "Required.";
  if (secret !== null) return answered(await ask.password({ message, validate })).trim();
  const options = field.options ?? (type === "flag" ? ["true", "false"] : null);
  if (options === null)
    return answered(
      await ask.text({ message, initialValue: isNew ? offered : "", defaultValue: "", validate }),
    ).trim();
  const shown = isNew && offered !== "" ? options : ["", ...options];
  return answered(
    await ask.select<string>({
      message: `${label}?`,
      options: shown.map((value) => ({ value, label: value === "" ? "Unchanged" : value })),
      initialValue: isNew ? offered : "",
    }),
  );
}

/** Tries the account and prints the result. One that cannot be tried now is accepted. */
async function isLetIn(place: AccountPlace, fields: Fields): Promise<boolean> {
  const spinner = ask.spinner();
  spinner.start("Connecting");
  try {
    const found = await tryAccount(place, fields);
    spinner.stop(terminalSafe(identityText(found)));
    for (const note of found?.notes ?? []) warn(note);
    return true;
  } catch (error) {
    spinner.stop("That did not work");
    const later = error instanceof EarshotError && error.disposition === "retry";
    warn(`${errorText(error)}${later ? ". It is used unchecked." : ""}`);
    return later;
  }
}

/** Who an account is, in one line. */
export function identityText(found: ChannelIdentity | undefined): string {
  if (found === undefined) return "It is used unchecked: the platform has no check.";
  const id = found.id === found.name ? "" : ` (${found.id})`;
  return `Connected as ${found.name}${id}.`;
}

const columns = (): number => Math.max(20, screenColumns(process.stdout) - barUnits);

function warn(message: string): void {
  ask.log.warn(wrapText(terminalSafe(message), { columns: columns() }));
}

function say(message: string): void {
  const lines = message.split("\n").map((line) => wrapText(line, { columns: columns() }));
  ask.log.message(lines.join("\n"));
}
