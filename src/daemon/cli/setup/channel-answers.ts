/**
 * Answers about a channel without questions
 * =========================================
 * A secret comes from its own variable, anything else from one named after the channel and the field:
 * IRC_HOST, TELEGRAM_API_ROOT.
 */
import { z } from "zod";
import { EarshotError } from "../../../domain/errors.ts";
import type {
  ChannelDefinition,
  ChannelIdentity,
  ChannelSetup,
  SetupField,
} from "../../../domain/ports/index.ts";
import { identifyAccount } from "../../checks/live/identify-account.ts";
import { accountToTry, fieldsAsked, variableOf } from "../../setup/account.ts";

export type Fields = Readonly<Record<string, string>>;

/** A channel that says what it needs. */
export type Connectable = ChannelDefinition & { readonly setup: ChannelSetup };

export const isConnectable = (channel: ChannelDefinition): channel is Connectable =>
  channel.setup !== undefined;

/** What answers are for: one account, as it is configured until now. */
export interface AccountPlace {
  readonly channel: Connectable;
  readonly accountId: string;
  /** Undefined: it is new. */
  readonly before: unknown;
}

/** The variable of the environment that answers a question. */
export function variableFor({ channel, accountId }: AccountPlace, field: SetupField): string {
  const own = `${channel.id}.${field.name}`.replaceAll(/([a-z])([A-Z])/gu, "$1_$2");
  const name = own.toUpperCase().replaceAll(/[^A-Z0-9]+/gu, "_");
  return variableOf(field.secret ?? name, accountId);
}

export function answersIn(place: AccountPlace, env: NodeJS.ProcessEnv): Fields {
  const found = place.channel.setup.fields.flatMap((field) => {
    const text = env[variableFor(place, field)] ?? "";
    return text === "" ? [] : [[field.name, text] as const];
  });
  return Object.fromEntries(found);
}

/** Questions that need an answer and have none. */
export function missingIn({ channel, before }: AccountPlace, fields: Fields) {
  if (before !== undefined) return [];
  return fieldsAsked(channel.setup, { fields, before }).filter(
    ({ name, isOptional, initial }) =>
      !isOptional && initial === undefined && (fields[name] ?? "") === "",
  );
}

const identifyMsMax = 15_000;

/**
 * Asks the platform who the account is; undefined: this channel cannot ask.
 * @throws EarshotError EAR_CHANNEL_*
 */
export async function tryAccount(
  { channel, accountId, before }: AccountPlace,
  fields: Fields,
): Promise<ChannelIdentity | undefined> {
  const account = accountToTry(channel.setup, { fields, accountId, before });
  const signal = AbortSignal.timeout(identifyMsMax);
  try {
    return await identifyAccount(channel, accountId, account, signal);
  } catch (error) {
    if (error instanceof z.ZodError)
      throw new EarshotError(
        "EAR_CHANNEL_CONFIG",
        `Cannot use this account: ${z.prettifyError(error)}`,
      );
    if (signal.aborted && !(error instanceof EarshotError))
      throw new EarshotError("EAR_CHANNEL_UNAVAILABLE", "Cannot try the account: no answer came");
    throw error;
  }
}
