/** The rules of the access book, over any order of what may happen to it. */
import { fc, test as property } from "@fast-check/vitest";
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

/** A book on a clock and a die of its own. */
class Book {
  now = 1_000;
  readonly grants = new Map<string, Grant>();
  readonly open = new Map<string, Exclude<AccessEntry, Grant>>();
  #die = 1;

  get door() {
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
    const asked = askToPair(this.door, { channel, account, id, name: id });
    this.put(asked?.changes ?? null);
    return asked?.pairing ?? null;
  }
  approve(code: string, owned = false) {
    const answer = approvePairing(this.door, code, { by: "console", from: null, owned });
    this.put(answer.changes);
    return answer;
  }
  issue(role: "owner" | "member" = "member") {
    const label = `l${this.open.size}${this.now}`;
    const issued = issueClaim(this.door, { role, ttlMs: 60_000, by: "console", label });
    this.put(issued?.changes ?? null);
    if (issued === null) throw new Error("no code");
    return { ...issued, label };
  }
  redeem(code: string, id: string, account = "a") {
    const answer = redeemClaim(this.door, code, { channel: "telegram", account, id });
    this.put(answer.changes);
    return answer;
  }
  held(id: string): string[] {
    const mine = entriesOf(this.door.state, "grant", this.now).filter((one) => one.id === id);
    return mine.map(({ scope, account }) => `${account} ${scope}`).sort();
  }
}

describe("pairing", () => {
  test("tells a stranger a code once, and again only when it is over", () => {
    const book = new Book();
    const first = book.ask("7");
    expect(first?.code).toMatch(/^[A-HJ-NP-Z2-9]{8}$/);
    expect(book.ask("7")).toBeNull();
    book.now += limits.pairingMsMax - 1;
    expect(book.ask("7")).toBeNull();
    book.now += 1;
    expect(book.ask("7")?.code).not.toBe(first?.code);
    expect(book.approve(first?.code ?? "").outcome).toBe("unknown");
  });

  property.prop([fc.array(fc.string({ minLength: 1 }), { minLength: 4, maxLength: 40 })])(
    "has at most three of an account wait, and another account none the less for it",
    (ids) => {
      const book = new Book();
      for (const id of ids) book.ask(id, "a");
      const waiting = entriesOf(book.door.state, "pairing", book.now);
      expect(waiting.length).toBe(Math.min(3, new Set(ids).size));
      expect(book.ask("someone", "b")).not.toBeNull();
      expect(book.ask("someone", "a", "slack")).not.toBeNull();
    },
  );

  test("lets in by the code, once, and only there", () => {
    const book = new Book();
    const { code } = book.ask("7") ?? { code: "" };
    expect(book.approve(code.toLowerCase())).toMatchObject({ outcome: "approved", owner: true });
    expect(book.held("7")).toEqual(["a owner", "a paired"]);
    expect(book.approve(code).outcome).toBe("unknown");
  });

  test("makes an owner of the first alone, and of nobody where there is one", () => {
    const book = new Book();
    const owners = ["1", "2", "3"].map((id) => {
      const answer = book.approve(book.ask(id)?.code ?? "");
      return answer.outcome === "approved" && answer.owner;
    });
    expect(owners).toEqual([true, false, false]);
    // Not even when the owner is gone: who comes next has not been looked at as the first.
    book.put(revoke(book.door, { channel: "telegram", id: "1" }));
    expect(book.approve(book.ask("4")?.code ?? "")).toMatchObject({ owner: false });
    const owned = new Book();
    expect(owned.approve(owned.ask("1")?.code ?? "", true)).toMatchObject({ owner: false });
    const claimed = new Book();
    claimed.redeem(claimed.issue("owner").code, "9");
    expect(claimed.approve(claimed.ask("1")?.code ?? "")).toMatchObject({ owner: false });
  });

  test("lets in the newest that waits under an id", () => {
    const book = new Book();
    book.ask("7", "a");
    book.now += 1;
    book.ask("7", "b");
    const answer = approvePerson(book.door, "7", { by: "console", owned: true });
    expect(answer?.person.account).toBe("b");
    expect(approvePerson(book.door, "8", { by: "console", owned: true })).toBeNull();
  });

  test("takes a code back before it was used", () => {
    const book = new Book();
    const { code } = book.ask("7") ?? { code: "" };
    expect(book.put(revokePairing(book.door, code))).toBe(true);
    expect(book.approve(code).outcome).toBe("unknown");
    expect(revokePairing(book.door, code)).toEqual([]);
  });

  test("looks at no code on the console after five wrong ones, until the lock is over", () => {
    const book = new Book();
    const { code } = book.ask("7") ?? { code: "" };
    for (let n = 0; n < limits.codeGuessesMax; n += 1)
      expect(book.approve("AAAAAAAA").outcome).toBe("unknown");
    expect(book.approve(code).outcome).toBe("locked");
    book.now += limits.codeLockMs;
    expect(book.approve(code).outcome).toBe("approved");
  });
});

describe("claims", () => {
  test("give their role to the first who says them, on that account", () => {
    const book = new Book();
    const { code } = book.issue("member");
    expect(book.redeem(code, "7", "a")).toMatchObject({ outcome: "granted", role: "member" });
    expect(book.redeem(code, "8", "b").outcome).toBe("unknown");
    expect(book.held("7")).toEqual(["a member"]);
    expect(book.held("8")).toEqual([]);
  });

  test("are worthless when they are too old or taken back", () => {
    const book = new Book();
    const old = book.issue();
    book.now += 60_000;
    expect(book.redeem(old.code, "7").outcome).toBe("unknown");
    const back = book.issue();
    expect(book.put(revokeClaim(book.door, back.label))).toBe(true);
    expect(book.redeem(back.code, "7").outcome).toBe("unknown");
    expect(revokeClaim(book.door, back.label)).toEqual([]);
  });

  test("leave nothing of the code in the book", () => {
    const book = new Book();
    const { code } = book.issue();
    const kept = JSON.stringify([...book.open.values()]).toUpperCase();
    for (const group of code.split("-").slice(1)) expect(kept).not.toContain(group);
  });

  test("are bounded in number", () => {
    const book = new Book();
    for (let n = 0; n < limits.claimsOpenMax; n += 1) {
      book.now += 1;
      book.issue();
    }
    const wanted = { role: "member", ttlMs: 60_000, by: "console", label: "more" } as const;
    expect(issueClaim(book.door, wanted)).toBeNull();
    book.now += 120_000;
    expect(issueClaim(book.door, wanted)).not.toBeNull();
  });

  type Guess = { readonly account: "a" | "b"; readonly afterMs: number };
  const guesses = fc.array(
    fc.record({
      account: fc.constantFrom("a" as const, "b" as const),
      afterMs: fc.nat({ max: limits.codeLockMs / 3 }),
    }),
    { minLength: 1, maxLength: 60 },
  );
  property.prop([guesses])(
    "A17: of any guesses at most five are looked at within a lock's time, each account for itself",
    (list: readonly Guess[]) => {
      const book = new Book();
      const looked: Record<"a" | "b", number[]> = { a: [], b: [] };
      for (const { account, afterMs } of list) {
        book.now += afterMs;
        const { outcome } = book.redeem("CLAIM-AAAAAA-BBBBBB", "7", account);
        if (outcome === "unknown") looked[account].push(book.now);
        const place = { channel: "telegram", account };
        if (outcome === "locked") expect(lockOf(book.door.state, place, book.now)).not.toBeNull();
      }
      for (const times of Object.values(looked))
        for (const [index, at] of times.entries()) {
          const fifth = times[index + limits.codeGuessesMax];
          if (fifth !== undefined) expect(fifth - at).toBeGreaterThanOrEqual(limits.codeLockMs);
        }
      expect(book.held("7")).toEqual([]);
      // Another account's right code is good all the while.
      expect(book.redeem(book.issue().code, "8", "c").outcome).toBe("granted");
    },
  );
});

describe("lists", () => {
  const person = { channel: "telegram", account: "a", id: "7" };

  test("take somebody once, and give them back by scope, by account or whole", () => {
    const book = new Book();
    expect(book.put(allow(book.door, person, "direct", "telegram:1"))).toBe(true);
    expect(allow(book.door, person, "direct", "telegram:1")).toEqual([]);
    book.put(allow(book.door, person, "group", "telegram:1"));
    book.put(allow(book.door, { ...person, account: "b" }, "group", "telegram:1"));
    const where = { channel: "telegram", id: "7" };
    book.put(revoke(book.door, { ...where, scope: "group", account: "a" }));
    expect(book.held("7")).toEqual(["a direct", "b group"]);
    book.put(revoke(book.door, where));
    expect(book.held("7")).toEqual([]);
    expect(revoke(book.door, where)).toEqual([]);
  });

  property.prop([fc.string({ minLength: 1 }), fc.string({ minLength: 1 })])(
    "A13: nobody but the very same id is taken back",
    (one, other) => {
      fc.pre(one !== other);
      const book = new Book();
      for (const id of [one, other]) book.put(allow(book.door, { ...person, id }, "direct", "x"));
      book.put(revoke(book.door, { channel: "telegram", id: one }));
      expect([book.held(one), book.held(other)]).toEqual([[], ["a direct"]]);
    },
  );
});
