/** What each rule changes in the access list, to the letter: who gave what and when, and what else goes. */
import { describe, expect, test } from "vitest";
import { limits } from "../../../src/domain/limits.ts";
import {
  type AccessChange,
  type AccessEntry,
  type AccessState,
  type Grant,
  type Guesses,
  nameOfEntry,
  type OpenClaim,
  type Pairing,
  removeEntry,
  setEntry,
} from "../../../src/machines/access/access-entries.ts";
import { hashOfClaim } from "../../../src/machines/access/codes.ts";
import {
  allow,
  approvePairing,
  approvePerson,
  askToPair,
  issueClaim,
  lockOf,
  redeemClaim,
  revoke,
  revokeClaim,
  revokePairing,
} from "../../../src/machines/access/pairing.ts";

const now = 5_000;
const here = { channel: "irc", account: "work" };
const ann = { ...here, id: "ann" };
const digest = (text: string) => `<${text}>`;
const claimCode = "claim-ABCDEF-GHJKLM";

const pairing = (id: string, code: string, over: Partial<Pairing> = {}): Pairing => ({
  kind: "pairing",
  ...here,
  id,
  name: id,
  code,
  at: 1,
  expiresAt: 9_000,
  ...over,
});
const claim = (over: Partial<OpenClaim> = {}): OpenClaim => ({
  kind: "claim",
  label: "desk",
  hash: hashOfClaim(claimCode, digest),
  role: "owner",
  at: 1,
  expiresAt: 9_000,
  by: "console",
  ...over,
});
const grant = (over: Partial<Grant> = {}): Grant => ({
  kind: "grant",
  scope: "paired",
  ...ann,
  at: now,
  by: "console",
  ...over,
});
const guesses = (count: number, place: Guesses["place"] = here, until = 9_000): Guesses => ({
  kind: "guesses",
  place,
  count,
  until,
});
const first = { kind: "first", at: now } as const;
/** Over at this very moment. */
const over = claim({ label: "over", hash: "x", expiresAt: now });

type Open = Exclude<AccessEntry, Grant>;
function input(entries: readonly AccessEntry[], chance = () => 0) {
  const isGrant = (entry: AccessEntry): entry is Grant => entry.kind === "grant";
  const grants = new Map(entries.filter(isGrant).map((one) => [nameOfEntry(one), one]));
  const rest = entries.filter((entry): entry is Open => !isGrant(entry));
  const open = new Map(rest.map((one) => [nameOfEntry(one), one]));
  const state: AccessState = { grants, open };
  return { state, now, chance, digest };
}
/** A list that has so many grants more, which none of the questions is about. */
function crowded(count: number, entries: readonly AccessEntry[] = []) {
  const given = input(entries);
  const grants = new Map(given.state.grants);
  Object.defineProperty(grants, "size", { value: given.state.grants.size + count });
  return { ...given, state: { ...given.state, grants } };
}
const onConsole = { by: "console", from: null, owned: false };

describe("who asks to pair", () => {
  test("is kept with the name, the place and the hour of the code", () => {
    const asked = askToPair(input([over]), { ...ann, name: "Ann" });
    const kept = pairing("ann", "AAAAAAAA", {
      name: "Ann",
      at: now,
      expiresAt: now + limits.pairingMsMax,
    });
    expect(asked).toEqual({ pairing: kept, changes: [removeEntry(over), setEntry(kept)] });
  });

  test("has a code that nobody else has, or none where chance gives no other", () => {
    const waits = pairing("bob", "AAAAAAAA", { account: "home" });
    expect(askToPair(input([waits]), { ...ann, name: "Ann" })).toBeNull();
    let drawn = 0;
    const chance = () => (drawn++ < 7 * 8 ? 0 : 1 / 32);
    expect(askToPair(input([waits], chance), { ...ann, name: "Ann" })?.pairing.code).toBe(
      "BBBBBBBB",
    );
    expect(drawn).toBe(8 * 8);
  });

  test("is given none where the list is full, by grants and open entries together", () => {
    const waits = pairing("bob", "BBBBBBBB");
    const ask = (count: number) =>
      askToPair(crowded(count, [waits]), { ...ann, name: "Ann" }) !== null;
    expect([ask(limits.accessRowsMax - 2), ask(limits.accessRowsMax - 1)]).toEqual([true, false]);
  });
});

describe("an approval", () => {
  const waits = pairing("ann", "AAAABBBB");

  test("says who gave it and when, and the first of all makes an owner", () => {
    const approved = [removeEntry(over), removeEntry(waits), setEntry(grant())];
    const isFirst = approvePairing(input([over, waits]), "aaaa-bbbb", onConsole);
    expect(isFirst).toEqual({
      outcome: "approved",
      owner: true,
      person: waits,
      changes: [...approved, setEntry(grant({ scope: "owner" })), setEntry(first)],
    });
    expect(approvePerson(input([over, waits]), "ann", { by: "console", owned: true })).toEqual({
      outcome: "approved",
      owner: false,
      person: waits,
      changes: [...approved, setEntry(first)],
    });
    const later = approvePairing(
      input([over, waits, { kind: "first", at: 1 }]),
      waits.code,
      onConsole,
    );
    expect(later).toEqual({ outcome: "approved", owner: false, person: waits, changes: approved });
    const member = grant({ scope: "member", id: "bob" });
    expect(approvePairing(input([waits, member]), waits.code, onConsole)).toMatchObject({
      owner: true,
    });
  });

  test("is of the one whose code it is", () => {
    const other = pairing("bob", "BBBBAAAA");
    for (const one of [waits, other])
      expect(approvePairing(input([waits, other]), one.code, onConsole)).toMatchObject({
        person: one,
      });
    for (const one of [waits, other])
      expect(revokePairing(input([waits, other]), one.code)).toEqual([removeEntry(one)]);
    const named = approvePerson(input([waits, other]), "ann", { by: "console", owned: false });
    expect(named).toMatchObject({ person: waits });
  });
});

describe("a claim", () => {
  const wanted = { role: "member", by: "console", label: "door", code: claimCode } as const;

  test("is kept with its label, its role and its end, which is not too far", () => {
    const issue = (ttlMs: number) => issueClaim(input([over]), { ...wanted, ttlMs });
    const kept = claim({ label: "door", role: "member", at: now, expiresAt: now + 1 });
    expect(issue(1)).toEqual({
      code: claimCode,
      claim: kept,
      changes: [removeEntry(over), setEntry(kept)],
    });
    expect(issue(limits.claimMsMax + 1)?.claim.expiresAt).toBe(now + limits.claimMsMax);
  });

  test("gives its role in its own name, and is gone", () => {
    const open = claim();
    expect(redeemClaim(input([over, open]), claimCode.toLowerCase(), ann)).toEqual({
      outcome: "granted",
      role: "owner",
      changes: [
        removeEntry(over),
        removeEntry(open),
        setEntry(grant({ scope: "owner", by: "claim desk" })),
      ],
    });
    const other = claim({ label: "other", hash: "x" });
    expect(revokeClaim(input([open, other]), "other")).toEqual([removeEntry(other)]);
  });
});

describe("wrong codes", () => {
  const guess = (entries: readonly AccessEntry[], from: Guesses["place"] = here) =>
    approvePairing(input(entries), "WRONG", { ...onConsole, from });
  const counted = (count: number, place: Guesses["place"] = here) =>
    setEntry(guesses(count, place, now + limits.codeLockMs));

  test("are counted where they are said, and begin again when they are over", () => {
    const unknown = (...changes: AccessChange[]) => ({ outcome: "unknown", changes });
    expect(guess([over])).toEqual(unknown(removeEntry(over), counted(1)));
    expect(guess([guesses(3)])).toEqual(unknown(counted(4)));
    expect(guess([guesses(3)], null)).toEqual(unknown(counted(1, null)));
    expect(guess([guesses(3, null)], null)).toEqual(unknown(counted(4, null)));
    // Their entry is named once in a change: it is set, and not removed as well.
    expect(guess([over, guesses(5, here, now)])).toEqual(unknown(removeEntry(over), counted(1)));
    expect(redeemClaim(input([guesses(3)]), claimCode, ann)).toEqual(unknown(counted(4)));
  });

  test("lock their place and no other", () => {
    const most = guesses(limits.codeGuessesMax);
    const locked = { outcome: "locked", until: 9_000, changes: [] };
    const waits = pairing("bob", "AAAABBBB");
    const say = (from: Guesses["place"]) =>
      approvePairing(input([most, waits, claim()]), waits.code, { ...onConsole, from });
    expect(say(here)).toEqual(locked);
    expect(redeemClaim(input([most, claim()]), claimCode, ann)).toEqual(locked);
    for (const place of [null, { ...here, account: "home" }, { ...here, channel: "sms" }])
      expect(say(place).outcome).toBe("approved");
    expect(lockOf(input([most]).state, here, 8_999)).toBe(9_000);
    expect(lockOf(input([most]).state, here, 9_000)).toBeNull();
    expect(lockOf(input([guesses(limits.codeGuessesMax - 1)]).state, here, now)).toBeNull();
  });
});

describe("a list", () => {
  test("takes somebody with who said so and when, where it is not full", () => {
    const bob = pairing("bob", "AAAAAAAA");
    const take = (count: number, entries: readonly AccessEntry[] = []) =>
      allow(crowded(count, [bob, ...entries]), ann, "direct", "irc:cy");
    const taken = [setEntry(grant({ scope: "direct", by: "irc:cy" }))];
    expect(take(limits.accessRowsMax - 2)).toEqual(taken);
    expect(take(limits.accessRowsMax - 1)).toBeNull();
    expect(take(0, [grant()])).toEqual(taken);
    expect(take(limits.accessRowsMax, [grant({ scope: "direct" })])).toEqual([]);
  });

  test("gives back what somebody has, and the code that they wait with, of nobody else", () => {
    const waits = pairing("ann", "AAAABBBB");
    const list = [grant(), grant({ scope: "group" }), waits, claim(), guesses(1), first];
    const others = [
      grant({ id: "bob" }),
      grant({ channel: "sms" }),
      pairing("bob", "BBBBAAAA"),
      pairing("ann", "BBBBBBBB", { channel: "sms" }),
    ];
    const home = grant({ account: "home" });
    const taken = (asked: object) =>
      revoke(input([...list, ...others, home]), { channel: "irc", id: "ann", ...asked });
    const mine = [grant(), grant({ scope: "group" })].map(removeEntry);
    expect(taken({ account: "work" })).toEqual([...mine, removeEntry(waits)]);
    expect(taken({})).toEqual([...mine, removeEntry(home), removeEntry(waits)]);
    expect(taken({ scope: "group" })).toEqual([removeEntry(grant({ scope: "group" }))]);
  });
});
