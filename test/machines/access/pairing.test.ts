/** The rules of the access list, over any order of what may happen to it. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sha256 } from "../../../src/adapters/system/digest.ts";
import { limits } from "../../../src/domain/limits.ts";
import {
  type AccessChange,
  type AccessEntry,
  type AccessState,
  entriesOf,
  type Grant,
} from "../../../src/machines/access/access-entries.ts";
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
import { property } from "../../support/property.ts";

/** The access rules on a clock and a chance of their own. */
class AccessWorld {
  now = 1_000;
  readonly grants = new Map<string, Grant>();
  readonly open = new Map<string, Exclude<AccessEntry, Grant>>();
  #die = 1;

  get input() {
    const state: AccessState = { grants: this.grants, open: this.open };
    return { state, now: this.now, chance: () => this.#next(), digest: sha256 };
  }
  #next(): number {
    this.#die = (this.#die * 48_271) % 2_147_483_647;
    return this.#die / 2_147_483_647;
  }
  put(changes: readonly AccessChange[] | null): boolean {
    for (const [name, entry] of changes ?? []) {
      this.grants.delete(name);
      this.open.delete(name);
      if (entry?.kind === "grant") this.grants.set(name, entry);
      else if (entry !== null) this.open.set(name, entry);
    }
    return (changes?.length ?? 0) > 0;
  }
  ask(id: string, account = "a", channel = "telegram") {
    const asked = askToPair(this.input, { channel, account, id, name: id });
    this.put(asked?.changes ?? null);
    return asked?.pairing ?? null;
  }
  approve(code: string, owned = false) {
    const answer = approvePairing(this.input, code, { by: "console", from: null, owned });
    this.put(answer.changes);
    return answer;
  }
  issue(role: "owner" | "member" = "member") {
    const label = `l${this.open.size}${this.now}`;
    const issued = issueClaim(this.input, { role, ttlMs: 60_000, by: "console", label });
    this.put(issued?.changes ?? null);
    if (issued === null) throw new Error("no code");
    return { ...issued, label };
  }
  redeem(code: string, id: string, account = "a") {
    const answer = redeemClaim(this.input, code, { channel: "telegram", account, id });
    this.put(answer.changes);
    return answer;
  }
  grantsOf(id: string): string[] {
    const mine = entriesOf(this.input.state, "grant", this.now).filter((one) => one.id === id);
    return mine.map(({ scope, account }) => `${account} ${scope}`).sort();
  }
}

describe("pairing", () => {
  test("gives a stranger a code once, and again only when it is over", () => {
    const access = new AccessWorld();
    const first = access.ask("7");
    expect(first?.code).toMatch(/^[A-HJ-NP-Z2-9]{8}$/);
    expect(access.ask("7")).toBeNull();
    access.now += limits.pairingMsMax - 1;
    expect(access.ask("7")).toBeNull();
    access.now += 1;
    expect(access.ask("7")?.code).not.toBe(first?.code);
    expect(access.approve(first?.code ?? "").outcome).toBe("unknown");
  });

  property([fc.array(fc.string({ minLength: 1 }), { minLength: 4, maxLength: 40 })])(
    "has at most three of an account wait, and another account none the less for it",
    (ids) => {
      const access = new AccessWorld();
      for (const id of ids) access.ask(id, "a");
      const waiting = entriesOf(access.input.state, "pairing", access.now);
      expect(waiting.length).toBe(Math.min(3, new Set(ids).size));
      expect(access.ask("someone", "b")).not.toBeNull();
      expect(access.ask("someone", "a", "slack")).not.toBeNull();
    },
  );

  test("lets in by the code, once, and only there", () => {
    const access = new AccessWorld();
    const { code } = access.ask("7") ?? { code: "" };
    expect(access.approve(code.toLowerCase())).toMatchObject({ outcome: "approved", owner: true });
    expect(access.grantsOf("7")).toEqual(["a owner", "a paired"]);
    expect(access.approve(code).outcome).toBe("unknown");
  });

  test("makes an owner of the first alone, and of nobody where there is one", () => {
    const access = new AccessWorld();
    const owners = ["1", "2", "3"].map((id) => {
      const answer = access.approve(access.ask(id)?.code ?? "");
      return answer.outcome === "approved" && answer.owner;
    });
    expect(owners).toEqual([true, false, false]);
    // Not even when the owner is gone: who comes next has not been looked at as the first.
    access.put(revoke(access.input, { channel: "telegram", id: "1" }));
    expect(access.approve(access.ask("4")?.code ?? "")).toMatchObject({ owner: false });
    const owned = new AccessWorld();
    expect(owned.approve(owned.ask("1")?.code ?? "", true)).toMatchObject({ owner: false });
    const claimed = new AccessWorld();
    claimed.redeem(claimed.issue("owner").code, "9");
    expect(claimed.approve(claimed.ask("1")?.code ?? "")).toMatchObject({ owner: false });
  });

  test("lets in the newest that waits under an id", () => {
    const access = new AccessWorld();
    access.ask("7", "a");
    access.now += 1;
    access.ask("7", "b");
    const answer = approvePerson(access.input, "7", { by: "console", owned: true });
    expect(answer?.person.account).toBe("b");
    expect(approvePerson(access.input, "8", { by: "console", owned: true })).toBeNull();
  });

  test("takes a code back before it was used", () => {
    const access = new AccessWorld();
    const { code } = access.ask("7") ?? { code: "" };
    expect(access.put(revokePairing(access.input, code))).toBe(true);
    expect(access.approve(code).outcome).toBe("unknown");
    expect(revokePairing(access.input, code)).toEqual([]);
  });

  test("looks at no code on the console after five wrong ones, until the lock is over", () => {
    const access = new AccessWorld();
    const { code } = access.ask("7") ?? { code: "" };
    for (let n = 0; n < limits.codeGuessesMax; n += 1)
      expect(access.approve("AAAAAAAA").outcome).toBe("unknown");
    expect(access.approve(code).outcome).toBe("locked");
    access.now += limits.codeLockMs;
    expect(access.approve(code).outcome).toBe("approved");
  });
});

describe("claims", () => {
  test("give their role to the first who says them, on that account", () => {
    const access = new AccessWorld();
    const { code } = access.issue("member");
    expect(access.redeem(code, "7", "a")).toMatchObject({ outcome: "granted", role: "member" });
    expect(access.redeem(code, "8", "b").outcome).toBe("unknown");
    expect(access.grantsOf("7")).toEqual(["a member"]);
    expect(access.grantsOf("8")).toEqual([]);
  });

  test("are worthless when they are too old or taken back", () => {
    const access = new AccessWorld();
    const old = access.issue();
    access.now += 60_000;
    expect(access.redeem(old.code, "7").outcome).toBe("unknown");
    const back = access.issue();
    expect(access.put(revokeClaim(access.input, back.label))).toBe(true);
    expect(access.redeem(back.code, "7").outcome).toBe("unknown");
    expect(revokeClaim(access.input, back.label)).toEqual([]);
  });

  test("leave nothing of the code in the access", () => {
    const access = new AccessWorld();
    const { code } = access.issue();
    const kept = JSON.stringify([...access.open.values()]).toUpperCase();
    for (const group of code.split("-").slice(1)) expect(kept).not.toContain(group);
  });

  test("are bounded in number", () => {
    const access = new AccessWorld();
    for (let n = 0; n < limits.claimsOpenMax; n += 1) {
      access.now += 1;
      access.issue();
    }
    const wanted = { role: "member", ttlMs: 60_000, by: "console", label: "more" } as const;
    expect(issueClaim(access.input, wanted)).toBeNull();
    access.now += 120_000;
    expect(issueClaim(access.input, wanted)).not.toBeNull();
  });

  type Guess = { readonly account: "a" | "b"; readonly afterMs: number };
  const guesses = fc.array(
    fc.record({
      account: fc.constantFrom("a" as const, "b" as const),
      afterMs: fc.nat({ max: limits.codeLockMs / 3 }),
    }),
    { minLength: 1, maxLength: 60 },
  );
  property([guesses])(
    "A17: of any guesses at most five are looked at within a lock's time, each account for itself",
    (list: readonly Guess[]) => {
      const access = new AccessWorld();
      const looked: Record<"a" | "b", number[]> = { a: [], b: [] };
      for (const { account, afterMs } of list) {
        access.now += afterMs;
        const { outcome } = access.redeem("CLAIM-AAAAAA-BBBBBB", "7", account);
        if (outcome === "unknown") looked[account].push(access.now);
        const place = { channel: "telegram", account };
        if (outcome === "locked")
          expect(lockOf(access.input.state, place, access.now)).not.toBeNull();
      }
      for (const times of Object.values(looked))
        for (const [index, at] of times.entries()) {
          const fifth = times[index + limits.codeGuessesMax];
          if (fifth !== undefined) expect(fifth - at).toBeGreaterThanOrEqual(limits.codeLockMs);
        }
      expect(access.grantsOf("7")).toEqual([]);
      // Another account's right code is good all the while.
      expect(access.redeem(access.issue().code, "8", "c").outcome).toBe("granted");
    },
  );
});

describe("lists", () => {
  const person = { channel: "telegram", account: "a", id: "7" };

  test("take somebody once, and give them back by scope, by account or whole", () => {
    const access = new AccessWorld();
    expect(access.put(allow(access.input, person, "direct", "telegram:1"))).toBe(true);
    expect(allow(access.input, person, "direct", "telegram:1")).toEqual([]);
    access.put(allow(access.input, person, "group", "telegram:1"));
    access.put(allow(access.input, { ...person, account: "b" }, "group", "telegram:1"));
    const where = { channel: "telegram", id: "7" };
    access.put(revoke(access.input, { ...where, scope: "group", account: "a" }));
    expect(access.grantsOf("7")).toEqual(["a direct", "b group"]);
    access.put(revoke(access.input, where));
    expect(access.grantsOf("7")).toEqual([]);
    expect(revoke(access.input, where)).toEqual([]);
  });

  property([fc.string({ minLength: 1 }), fc.string({ minLength: 1 })])(
    "A13: nobody but the very same id is taken back",
    (one, other) => {
      fc.pre(one !== other);
      const access = new AccessWorld();
      for (const id of [one, other])
        access.put(allow(access.input, { ...person, id }, "direct", "x"));
      access.put(revoke(access.input, { channel: "telegram", id: one }));
      expect([access.grantsOf(one), access.grantsOf(other)]).toEqual([[], ["a direct"]]);
    },
  );
});
