/**
 * A store for tests
 * =================
 * A disk that outlives the processes on it: closing it changes nothing, so the next runtime finds
 * what was committed. Faults are injected before the wrapped store is asked, so a call that fails
 * has read and written nothing; only an `unanswered` commit has.
 */
import { openTemporaryStore } from "../../../src/adapters/stores/sqlite-store.ts";
import { EarshotError } from "../../../src/domain/errors.ts";
import type { Store } from "../../../src/domain/ports/index.ts";

/** Which calls fail. Counts from the next call on, starting with 1. */
export interface StoreFault {
  readonly at: number;
  /** Every call from then on fails. @default false: that one */
  readonly forever?: boolean;
  /** @default "EAR_STORE_FAILED" */
  readonly code?: "EAR_STORE_FAILED" | "EAR_STORE_FULL" | "EAR_STORE_DAMAGED";
  /** @default "commit" */
  readonly call?: keyof Store;
  /** The commit is made, and then fails. @default false */
  readonly unanswered?: boolean;
}

export interface TestStore extends Store {
  fail(fault: StoreFault): void;
  /** Ends the fault and the count. */
  heal(): void;
  /** Commits since the count began. */
  commits(): number;
  /** Whether commits are dropped, as those of a process that was killed. */
  drop(isDropping: boolean): void;
}

/** Wraps a store. @default an empty one */
export function createTestStore(store: Store = openTemporaryStore()): TestStore {
  let fault: StoreFault | null = null;
  let calls = new Map<PropertyKey, number>();
  let isDropping = false;

  /** Counts a call. @throws EarshotError when it is one that fails. */
  function meet(call: keyof Store): void {
    calls.set(call, (calls.get(call) ?? 0) + 1);
    failAs(call, false);
  }

  /** `isDone`: the call was carried out. */
  function failAs(call: keyof Store, isDone: boolean): void {
    const count = calls.get(call) ?? 0;
    if (fault === null || call !== (fault.call ?? "commit")) return;
    if (fault.forever === true ? count < fault.at : count !== fault.at) return;
    if (fault.unanswered === true && !isDone) return;
    throw new EarshotError(
      fault.code ?? "EAR_STORE_FAILED",
      `Cannot use the journal: a fault was ordered (${call}, call ${count})`,
    );
  }

  const own: Partial<TestStore> = {
    fail(ordered) {
      calls = new Map();
      fault = ordered;
    },
    heal() {
      calls = new Map();
      fault = null;
    },
    commits: () => calls.get("commit") ?? 0,
    drop(is) {
      isDropping = is;
    },
    async commit(writes) {
      if (isDropping) return writes.map(() => 0);
      meet("commit");
      const answers = await store.commit(writes);
      if (fault?.unanswered === true) failAs("commit", true);
      return answers;
    },
    dirtySize: () => store.dirtySize(),
    checkOwner() {
      meet("checkOwner");
      store.checkOwner();
    },
    close: async () => undefined,
  };
  return new Proxy(store, {
    get(target, name) {
      if (name in own) return own[name as keyof TestStore];
      const read = Reflect.get(target, name) as unknown;
      if (typeof read !== "function") return read;
      return async (...values: readonly unknown[]) => {
        meet(name as keyof Store);
        return Reflect.apply(read, target, values) as unknown;
      };
    },
  }) as TestStore;
}

/** A store whose search for unapplied events waits until it is let go: a start that takes long. */
export function heldStore() {
  const store = openTemporaryStore();
  let held: Promise<void> = Promise.resolve();
  let letGo = () => {};
  const hold = () => {
    held = new Promise((resolve) => {
      letGo = resolve;
    });
  };
  const slow = new Proxy(store, {
    get(target, name: keyof Store) {
      const method = Reflect.get(target, name) as (...values: readonly unknown[]) => unknown;
      if (name !== "unapplied") return method;
      return (...values: readonly unknown[]) =>
        held.then(() => Reflect.apply(method, target, values));
    },
  });
  return { store: createTestStore(slow), hold, letGo: () => letGo() };
}
