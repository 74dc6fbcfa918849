/**
 * Dangerous settings
 * ==================
 * Everything that a config may say and that gives somebody more than the defaults would: who is
 * heard, who reads what another one said, what leaves this machine in the clear, which programs run
 * with which secrets. Nothing here is forbidden; each is named by its path, with what it gives away
 * and how it is taken back. What nobody may have is refused by the config itself.
 */
import { accountsOf, type EarshotConfig, isLoopbackHost } from "../../../domain/config/index.ts";
import { accessOf } from "../../../machines/access/access-rules.ts";
import { agentDangers, programDangers } from "./risky-agents.ts";
import { serverDangers, type TlsFacts } from "./risky-server.ts";

/** One setting that gives something away. */
export interface Danger {
  /** Its path in the config. */
  readonly at: string;
  /** What it gives away, and how to take that back. */
  readonly says: string;
  /** It cannot be meant. @default false */
  readonly wrong?: boolean;
}

/** What the config does not tell itself. */
export interface DangerFacts {
  readonly local: (channel: string) => boolean;
  /** About the certificate's files; null: there are none. */
  readonly tls: TlsFacts | null;
  /** Who was let in to direct chats by codes, as `telegram:7`. @default nobody */
  readonly approved?: readonly string[];
}

/** Every dangerous setting, in the order of the file's sections. */
export function dangersOf(config: EarshotConfig, facts: DangerFacts): readonly Danger[] {
  return [
    ...agentDangers(config),
    ...channelDangers(config),
    ...accessDangers(config, facts),
    ...sharingDangers(config, facts),
    ...commandDangers(config),
    ...programDangers(config),
    ...restDangers(config),
    ...serverDangers(config.server, facts.tls),
  ];
}

type Dangers = Iterable<Danger>;

/** Accounts of channels where strangers are. */
function foreignAccounts(config: EarshotConfig, { local }: DangerFacts) {
  return Object.entries(config.channels).flatMap(([channel, section]) =>
    accountsOf(section)
      .filter(([, raw]) => !local(channel) || hookOf(raw) !== null)
      .map(([account, raw]) => ({ channel, account, raw, section })),
  );
}

const hookOf = (raw: Readonly<Record<string, unknown>>) =>
  (raw.hook ?? null) as { readonly secret?: unknown } | null;

/** Where a policy was said that counts for an account. */
function* accessDangers(config: EarshotConfig, facts: DangerFacts): Dangers {
  const gives = {
    dmPolicy: 'anyone may write to the agent and cause turns: list people, or say "pairing"',
    groupPolicy: "any group may add the agent and cause turns: list groups under `groups`",
  } as const;
  const told = new Set<string>();
  for (const { channel, account, raw, section } of foreignAccounts(config, facts))
    for (const policy of ["dmPolicy", "groupPolicy"] as const) {
      if (accessOf(config, channel, account)[policy] !== "open") continue;
      const at =
        raw[policy] !== undefined
          ? `channels.${channel}.accounts.${account}.${policy}`
          : section[policy] !== undefined
            ? `channels.${channel}.${policy}`
            : `access.${policy}`;
      if (!told.has(at)) yield { at, says: gives[policy] };
      told.add(at);
    }
  // Nobody is there yet; the next channel will find the door open.
  for (const policy of ["dmPolicy", "groupPolicy"] as const)
    if (config.access[policy] === "open" && !told.has(`access.${policy}`))
      yield { at: `access.${policy}`, says: gives[policy] };
}

/** Direct chats of several people in one session. */
function* sharingDangers(config: EarshotConfig, facts: DangerFacts): Dangers {
  const { dmScope, scope, identityLinks } = config.session;
  if (scope === "global")
    yield {
      at: "session.scope",
      says: 'all rooms are one session, so one may be told what another said: say "per-sender"',
    };
  if (dmScope !== "main") return;
  const people = new Set<string>();
  const linked = new Map(
    Object.entries(identityLinks).flatMap(([name, ids]) => ids.map((id) => [id, name] as const)),
  );
  for (const id of facts.approved ?? []) people.add(linked.get(id) ?? id);
  let anyone = false;
  for (const { channel, account } of foreignAccounts(config, facts)) {
    const rules = accessOf(config, channel, account);
    anyone ||= rules.dmPolicy === "open";
    if (rules.dmPolicy === "disabled") continue;
    for (const id of rules.allowFrom)
      if (id.startsWith(`${channel}:`)) people.add(linked.get(id) ?? id);
  }
  if (!anyone && people.size < 2) return;
  const who = anyone ? "anyone may write, and all" : `${people.size} people write, and their`;
  yield {
    at: "session.dmScope",
    says:
      `${who} direct chats are one session, so one may be told what another said: ` +
      'say "per-channel-peer", or link the ids of one person in session.identityLinks',
  };
}

function* commandDangers({ commands }: EarshotConfig): Dangers {
  for (const [index, id] of commands.ownerAllowFrom.entries())
    if (/^telegram:(-|chat:)/u.test(id))
      yield {
        at: `commands.ownerAllowFrom[${index}]`,
        says: "this is a chat: whoever may post as it is an owner; name the person's own id",
      };
}

/** Secrets that guard a way in, and addresses that carry them. */
function* channelDangers(config: EarshotConfig): Dangers {
  const seen = new Map<string, string>();
  for (const [channel, section] of Object.entries(config.channels))
    for (const [account, raw] of accountsOf(section)) {
      const own = raw as Readonly<Record<string, unknown>>;
      const place = `channels.${channel}.accounts.${account}`;
      for (const [name, secret] of secretsIn(own)) {
        const at = `${place}.${name}`;
        const other = seen.get(secret);
        if (other !== undefined)
          yield { at, says: `this is also ${other}: who knows one opens both; make another` };
        seen.set(secret, at);
        if (new Set(secret).size < 8)
          yield { at, says: "this could be guessed: make one with `openssl rand -hex 32`" };
      }
      for (const [name, url] of addressesIn(own))
        if (inTheClear(url))
          yield {
            at: `${place}.${name}`,
            says: "secrets and words travel there for anyone on the way to read: use https",
          };
    }
}

type Fields = Readonly<Record<string, unknown>>;
const inside = (value: unknown): Fields =>
  typeof value === "object" && value !== null ? (value as Fields) : {};

/** What a request to a hook must show, and what is signed with. */
const secretsIn = (own: Fields) =>
  (
    [
      ["hook.secret", inside(own.hook).secret],
      ["webhook.secret", inside(own.webhook).secret],
      ["secret", own.secret],
    ] as const
  ).flatMap(([name, value]) => (typeof value === "string" ? [[name, value] as const] : []));

const addressesIn = (own: Fields) =>
  (
    [
      ["url", own.url],
      ["apiRoot", own.apiRoot],
      ["webhook.url", inside(own.webhook).url],
    ] as const
  ).flatMap(([name, value]) => (typeof value === "string" ? [[name, value] as const] : []));

/** Whether an address beyond this machine is spoken to in plain http. */
export function inTheClear(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === "http:" && !isLoopbackHost(hostname.replace(/^\[|\]$/gu, ""));
}

function* restDangers({ plugins, loopGuard, log, store }: EarshotConfig): Dangers {
  for (const [index, name] of plugins.entries())
    yield {
      at: `plugins[${index}]`,
      says: `"${name}" runs with all rights of the daemon: know it, and pin its version`,
    };
  if (loopGuard.hardLimit === 0)
    yield {
      at: "loopGuard.hardLimit",
      says: "bots that wake each other are never stopped, whatever it costs: set a limit",
    };
  if (store.driver === "memory")
    yield {
      at: "store.driver",
      says: 'what was taken is gone when the daemon stops: say "sqlite" unless this is a trial',
    };
  if (log.showText)
    yield { at: "log.showText", says: "what people write stands in the log: set it to false" };
}
