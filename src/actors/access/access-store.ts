/**
 * The store's access rows in memory, loaded at start and read for every message, so that a
 * revocation applies from the next message on. Changes made by a message (a pairing request, a
 * redeemed claim) are committed with that message's journal row or not at all; an operator's
 * changes are durable when the promise resolves. A change takes effect immediately, so that two
 * concurrent messages cannot use the same code, and is undone if it cannot be stored.
 *
 * For commands: `allow` and `revoke` edit an allow list, `list` shows it, `approve` takes a pairing
 * code. All of them are idempotent.
 */
import type { Clock, Digest, Random } from "../../domain/ports/index.ts";
import {
  type AccessChange,
  type AccessEntry,
  type AccessState,
  entriesOf,
  type Grant,
  type OpenClaim,
} from "../../machines/access/access-entries.ts";
import {
  type AccessInput,
  allow,
  approvePairing,
  approvePerson,
  askToPair,
  issueClaim,
  redeemClaim,
  revoke,
  revokeClaim,
  revokePairing,
} from "../../machines/access/pairing.ts";
import type { Configs } from "../journal/config-versions.ts";
import type { Journal } from "../journal/journal.ts";
import type { AccessStore, Pending } from "../protocol/access-store.ts";

export interface AccessStorePorts {
  readonly clock: Pick<Clock, "now">;
  readonly random: Random;
  readonly digest: Digest;
  readonly journal: Pick<Journal, "offer">;
  readonly configs: Pick<Configs, "current">;
}

const labelLetters = "abcdefghjkmnpqrstuvwxyz23456789";
const labelLength = 6;

/** Opens a store with these rows (`Store.access`). */
export function openAccessStore(
  rows: readonly { readonly name: string; readonly body: string }[],
  { clock, random, digest, journal, configs }: AccessStorePorts,
): AccessStore {
  const grants = new Map<string, Grant>();
  const open = new Map<string, Exclude<AccessEntry, Grant>>();
  const state: AccessState = { grants, open };
  /** Channel to account to `scope:id`. */
  const known = new Map<string, Map<string, Set<string>>>();

  /** Whether the config names an owner. */
  const owned = () => configs.current().commands.ownerAllowFrom.length > 0;
  const read = (name: string): AccessEntry | null => grants.get(name) ?? open.get(name) ?? null;

  function put([name, entry]: AccessChange): void {
    const before = grants.get(name);
    if (before !== undefined) {
      known.get(before.channel)?.get(before.account)?.delete(`${before.scope}:${before.id}`);
      grants.delete(name);
    }
    open.delete(name);
    if (entry === null) return;
    if (entry.kind !== "grant") return void open.set(name, entry);
    grants.set(name, entry);
    const { channel, account, scope, id } = entry;
    const accounts = known.get(channel) ?? new Map<string, Set<string>>();
    const people = accounts.get(account) ?? new Set<string>();
    known.set(channel, accounts.set(account, people.add(`${scope}:${id}`)));
  }
  function learn(found: readonly { readonly name: string; readonly body: string | null }[]): void {
    for (const { name, body } of found)
      put([name, body === null ? null : (JSON.parse(body) as AccessEntry)]);
  }
  learn(rows);

  function make(changes: readonly AccessChange[]): Pending {
    const before = changes.map(([name]): AccessChange => [name, read(name)]);
    for (const change of changes) put(change);
    return {
      writes: changes.map(([name, entry]) => {
        const body = entry === null ? null : JSON.stringify(entry);
        return { kind: "access", name, body };
      }),
      undo() {
        // Entries changed by someone else since stay changed.
        for (const [index, [name, entry]] of changes.entries())
          if (read(name) === entry) put(before[index] as AccessChange);
      },
    };
  }

  /** Applies changes and stores them. */
  async function keep(changes: readonly AccessChange[]): Promise<void> {
    if (changes.length === 0) return;
    const { writes, undo } = make(changes);
    try {
      await journal.offer([], writes);
    } catch (error) {
      undo();
      throw error;
    }
  }

  const input = (): AccessInput => ({
    state,
    now: clock.now(),
    chance: () => random.next(),
    digest,
  });
  const done = async (changes: readonly AccessChange[]): Promise<boolean> => {
    await keep(changes);
    return changes.length > 0;
  };
  const label = (): string => {
    let text = "";
    while (text.length < labelLength)
      text += labelLetters.charAt(Math.floor(random.next() * labelLetters.length));
    return text;
  };

  return {
    has: (scope, { channel, account, id }) =>
      known.get(channel)?.get(account)?.has(`${scope}:${id}`) === true,
    list() {
      const now = clock.now();
      return {
        grants: entriesOf(state, "grant", now),
        pairings: entriesOf(state, "pairing", now),
        claims: entriesOf(state, "claim", now).map(shownClaim),
        guesses: entriesOf(state, "guesses", now),
      };
    },
    ask(person) {
      const asked = askToPair(input(), person);
      return asked === null ? null : { pairing: asked.pairing, ...make(asked.changes) };
    },
    redeem(code, person) {
      const result = redeemClaim(input(), code, person);
      return { result, ...make(result.changes) };
    },
    async approve(code, by, from) {
      const how = { by, from: from ?? null, owned: owned() };
      const answer = approvePairing(input(), code, how);
      await keep(answer.changes);
      return answer;
    },
    async approvePerson(id, by) {
      const answer = approvePerson(input(), id, { by, owned: owned() });
      if (answer !== null) await keep(answer.changes);
      return answer;
    },
    async allow({ scope, ...person }, by) {
      const changes = allow(input(), person, scope, by);
      if (changes !== null) await keep(changes);
      return changes !== null;
    },
    revoke: (revocation) => done(revoke({ state }, revocation)),
    revokePairing: (code) => done(revokePairing(input(), code)),
    revokeClaim: (name) => done(revokeClaim(input(), name)),
    learn,
    async issue(wanted) {
      const issued = issueClaim(input(), { ...wanted, label: label() });
      if (issued === null) return null;
      await keep(issued.changes);
      return { code: issued.code, claim: shownClaim(issued.claim) };
    },
  };
}

function shownClaim({ hash: _, ...claim }: OpenClaim): Omit<OpenClaim, "hash"> {
  return claim;
}
