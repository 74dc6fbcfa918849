/** Checks of who may write, and of sessions that several people share. */
import { accountsOf, type EarshotConfig } from "../../domain/config/index.ts";
import { accessOf } from "../../machines/access/access-rules.ts";
import type { CheckFacts, ConfigCheck, Fields, Findings } from "./check.ts";

const policies = ["dmPolicy", "groupPolicy"] as const;
const openPolicy = {
  dmPolicy: {
    wrong: "anyone may write to the agent and cause turns",
    fix: 'list people, or set it to "pairing"',
  },
  groupPolicy: {
    wrong: "any group may add the agent and cause turns",
    fix: "list groups under `groups`",
  },
} as const;

const hookOf = (account: Fields) => (account.hook ?? null) as { readonly secret?: unknown } | null;

/** Accounts that strangers can reach. */
function foreignAccounts(config: EarshotConfig, { local }: CheckFacts) {
  return Object.entries(config.channels).flatMap(([channel, section]) =>
    accountsOf(section)
      .filter(([, own]) => !local(channel) || hookOf(own) !== null)
      .map(([account, own]) => ({ channel, account, own, section })),
  );
}

/** An open policy, at the place that sets it. */
function* openPolicies(config: EarshotConfig, facts: CheckFacts): Findings {
  const named = new Set<string>();
  for (const { channel, account, own, section } of foreignAccounts(config, facts))
    for (const policy of policies) {
      if (accessOf(config, channel, account)[policy] !== "open") continue;
      const at =
        own[policy] !== undefined
          ? `channels.${channel}.accounts.${account}.${policy}`
          : section[policy] !== undefined
            ? `channels.${channel}.${policy}`
            : `access.${policy}`;
      if (!named.has(at)) yield { at, ...openPolicy[policy] };
      named.add(at);
    }
  // Applies to no account yet, and will apply to the next one.
  for (const policy of policies)
    if (config.access[policy] === "open" && !named.has(`access.${policy}`))
      yield { at: `access.${policy}`, ...openPolicy[policy] };
}

/** Business accounts that answer customers with pairing codes. */
function* pairedCustomers(config: EarshotConfig): Findings {
  const section = config.channels.telegram;
  if (section === undefined) return;
  for (const [account, own] of accountsOf(section)) {
    if ((own as Fields).business !== true) continue;
    if (accessOf(config, "telegram", account).dmPolicy !== "pairing") continue;
    yield {
      at: `channels.telegram.accounts.${account}.dmPolicy`,
      wrong: "each customer of the business account gets a pairing code, in the name of its owner",
      fix: 'set it to "open" to answer every customer, or to "allowlist" and list them',
    };
  }
}

/** Direct chats of several people in one session. */
function* sharedDirectChats(config: EarshotConfig, facts: CheckFacts): Findings {
  const { dmScope, identityLinks } = config.session;
  if (dmScope !== "main") return;
  const linked = new Map(
    Object.entries(identityLinks).flatMap(([name, ids]) => ids.map((id) => [id, name] as const)),
  );
  const known = new Set(facts.approved.map((id) => linked.get(id) ?? id));
  let isOpen = false;
  for (const { channel, account } of foreignAccounts(config, facts)) {
    const rules = accessOf(config, channel, account);
    isOpen ||= rules.dmPolicy === "open";
    if (rules.dmPolicy === "disabled") continue;
    for (const id of rules.allowFrom)
      if (id.startsWith(`${channel}:`)) known.add(linked.get(id) ?? id);
  }
  if (!isOpen && known.size < 2) return;
  const people = isOpen ? "anyone may write, and all" : `${known.size} people write, and their`;
  yield {
    at: "session.dmScope",
    wrong: `${people} direct chats share one session, so one person may learn what another wrote`,
    fix: 'set it to "per-channel-peer", or link the ids of one person in session.identityLinks',
  };
}

export const accessChecks: readonly ConfigCheck[] = [
  { id: "access.open-policy", kind: "risk", level: "warning", find: openPolicies },
  {
    id: "access.business-pairing",
    kind: "mistake",
    level: "warning",
    find: pairedCustomers,
  },
  {
    id: "session.one-for-all",
    kind: "risk",
    level: "warning",
    *find({ session }) {
      if (session.scope === "global")
        yield {
          at: "session.scope",
          wrong: "all rooms share one session, so one person may learn what another wrote",
          fix: 'set it to "per-sender"',
        };
    },
  },
  {
    id: "session.shared-direct-chats",
    kind: "mistake",
    level: "warning",
    find: sharedDirectChats,
  },
  {
    id: "commands.bash",
    kind: "risk",
    level: "warning",
    *find({ commands }) {
      if (commands.bash)
        yield {
          at: "commands.bash",
          wrong:
            "anyone who takes over an owner's account on a platform can run commands on this " +
            "machine as the daemon's user",
          fix: "turn it off when you do not need it, and run earshot as a user with few rights",
        };
    },
  },
  {
    id: "commands.owner-is-a-chat",
    kind: "risk",
    level: "warning",
    *find({ commands }) {
      for (const [index, id] of commands.ownerAllowFrom.entries())
        if (/^telegram:(-|chat:)/u.test(id))
          yield {
            at: `commands.ownerAllowFrom[${index}]`,
            wrong: "this is a chat, so everyone who can post as it is an owner",
            fix: "use the person's own id",
          };
    },
  },
];
