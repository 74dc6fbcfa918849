/** Checks of accounts: secrets that open them, and addresses that carry secrets. */
import { accountsOf, type EarshotConfig } from "../../domain/config/index.ts";
import type { ConfigCheck, Fields } from "./check.ts";
import { inTheClear } from "./plain-http.ts";

interface Value {
  readonly at: string;
  readonly value: string;
}

const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null ? (value as Fields) : {};

/** The strings that `read` names in each account, with their places. */
function valuesOf(
  { channels }: EarshotConfig,
  read: (own: Fields) => Readonly<Record<string, unknown>>,
): readonly Value[] {
  return Object.entries(channels).flatMap(([channel, section]) =>
    accountsOf(section).flatMap(([account, own]) =>
      Object.entries(read(own)).flatMap(([name, value]): Value[] =>
        typeof value === "string"
          ? [{ at: `channels.${channel}.accounts.${account}.${name}`, value }]
          : [],
      ),
    ),
  );
}

/** Secrets that requests to a hook must carry, or are signed with. */
const secrets = (own: Fields) => ({
  "hook.secret": fieldsOf(own.hook).secret,
  "webhook.secret": fieldsOf(own.webhook).secret,
  secret: own.secret,
});

const addresses = (own: Fields) => ({
  url: own.url,
  apiRoot: own.apiRoot,
  "webhook.url": fieldsOf(own.webhook).url,
});

/** A secret with fewer distinct characters can be guessed. */
const secretSignsMin = 8;

export const channelChecks: readonly ConfigCheck[] = [
  {
    id: "channel.secret-used-twice",
    kind: "risk",
    level: "warning",
    *find(config) {
      const seen = new Map<string, string>();
      for (const { at, value } of valuesOf(config, secrets)) {
        const other = seen.get(value);
        if (other !== undefined)
          yield {
            at,
            wrong: `${other} has the same secret, so anyone who knows it can use both`,
            fix: "generate another one",
          };
        seen.set(value, at);
      }
    },
  },
  {
    id: "channel.weak-secret",
    kind: "risk",
    level: "warning",
    *find(config) {
      for (const { at, value } of valuesOf(config, secrets))
        if (new Set(value).size < secretSignsMin)
          yield {
            at,
            wrong: "this secret is easy to guess",
            fix: "generate one with `openssl rand -hex 32`",
          };
    },
  },
  {
    id: "channel.plain-http",
    kind: "risk",
    level: "warning",
    *find(config) {
      for (const { at, value } of valuesOf(config, addresses))
        if (inTheClear(value))
          yield {
            at,
            wrong: "secrets and messages can be read on the network",
            fix: "use https",
          };
    },
  },
];
