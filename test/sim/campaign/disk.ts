/**
 * The disk of a run: a real database in memory, under a store that fails, tears commits, is full or
 * slow as the plan says. It outlives the processes that use it.
 */
import type { SimulatedClock } from "../../../src/actors/simulation/simulated-clock.ts";
import { openTemporaryStore } from "../../../src/adapters/stores/sqlite-store.ts";
import { EarshotError } from "../../../src/domain/errors.ts";
import type { Store, StoreWrite } from "../../../src/domain/ports/index.ts";
import { nameOf, type Written } from "./history.ts";
import type { Happening } from "./plan.ts";

type Fault = Extract<Happening, { does: "disk" }>;

/** A write that the driver cannot bind: it fails after the rows before it are written. */
const torn = { kind: "meta", name: "torn", value: Symbol("torn") } as unknown as StoreWrite;

/** The process that uses the disk. */
export interface DiskUser {
  readonly isAlive: () => boolean;
  readonly onCommit: (rows: readonly Written[]) => void;
  /** The first so many commits survive a loss of power. */
  readonly onSync: (commits: number) => void;
}

export class Disk {
  readonly store: Store = openTemporaryStore();
  readonly #clock: SimulatedClock;
  #faults: { fault: Fault; skip: number; left: number }[] = [];
  #commits = 0;
  #slow: { ms: number; until: number } | null = null;

  constructor(clock: SimulatedClock) {
    this.#clock = clock;
  }

  order(fault: Fault): void {
    this.#faults.push({ fault, skip: fault.skip, left: fault.calls });
  }

  slowDown(ms: number, forMs: number): void {
    this.#slow = { ms, until: this.#clock.now() + forMs };
  }

  heal(): void {
    this.#faults = [];
    this.#slow = null;
  }

  /** Commits for a process; one that died while the disk was slow has not asked. */
  async commit(
    writes: readonly StoreWrite[],
    until: "durable" | "ordered",
    { isAlive, onCommit, onSync }: DiskUser,
  ): Promise<number[]> {
    await this.#wait();
    if (!isAlive()) return new Promise<never>(() => undefined);
    const how = this.#meet("commit");
    if (how === "fail") throw failed("commit");
    if (how === "full") throw new EarshotError("EAR_STORE_FULL", "Cannot write: the disk is full");
    if (how === "tear") return this.store.commit([...writes, torn]);
    const answers = await this.store.commit(writes);
    onCommit(writes.flatMap((write, index) => written(write, answers[index] ?? 0)));
    this.#commits += 1;
    if (how === "unanswered") throw failed("commit");
    if (until === "durable") await this.sync({ isAlive, onCommit, onSync });
    return answers;
  }

  /** Syncs for a process what is committed by now. */
  async sync({ isAlive, onSync }: DiskUser): Promise<void> {
    const upTo = this.#commits;
    await this.#wait();
    if (!isAlive()) return new Promise<never>(() => undefined);
    if (this.#meet("sync") !== null) throw failed("sync");
    onSync(upTo);
  }

  /** Reads for a process. @throws EarshotError when this read fails. */
  read<T>(call: string, work: () => T): T | Promise<Awaited<T>> {
    if (this.#meet(call) !== null) throw failed(call);
    const slow = this.#wait();
    return slow === undefined ? work() : (slow.then(work) as Promise<Awaited<T>>);
  }

  /** A record of an epoch before all others, with nothing in it, for every conversation. */
  async writeStaleRecords(done: (rows: readonly Written[]) => void): Promise<void> {
    const conversations = await this.store.conversations({ limit: 1_000 });
    const writes = conversations
      .filter(({ epoch }) => epoch > 1)
      .map(({ conv, recordSeq }): StoreWrite => {
        return { kind: "checkpoint", conv, recordSeq: recordSeq + 1, epoch: 1, record: "{}" };
      });
    if (writes.length === 0) return;
    const answers = await this.store.commit(writes);
    this.#commits += 1;
    done(writes.flatMap((write, index) => written(write, answers[index] ?? 0)));
  }

  #meet(call: string): Fault["how"] | null {
    const one = this.#faults.find(({ fault }) => fault.call === call);
    if (one === undefined) return null;
    if (one.skip > 0) {
      one.skip -= 1;
      return null;
    }
    one.left -= 1;
    if (one.left <= 0) this.#faults = this.#faults.filter((other) => other !== one);
    return one.fault.how;
  }

  #wait(): Promise<void> | undefined {
    if (this.#slow === null || this.#clock.now() >= this.#slow.until) return undefined;
    const { ms } = this.#slow;
    return new Promise((resolve) => {
      this.#clock.setTimer(this.#clock.now() + ms / 2, resolve);
    });
  }
}

const failed = (call: string) =>
  new EarshotError("EAR_STORE_FAILED", `Cannot use the journal: a fault was ordered (${call})`);

/** What is read of an event. A command's message belongs to no conversation, but has its chat. */
interface StoredEvent {
  readonly type: string;
  readonly at: number;
  readonly id?: string;
  readonly message?: { readonly chat?: { readonly id: string } };
}

function written(write: StoreWrite, answer: number): Written[] {
  switch (write.kind) {
    case "event": {
      if (answer === 0) return [];
      const { type, at, id, message: said } = JSON.parse(write.body) as StoredEvent;
      const { conv, messageId } = write;
      const chat = said?.chat?.id ?? write.key.split(":").at(-1) ?? "";
      const message = messageId === null ? null : nameOf(chat, messageId);
      const about = type === "deadline.due" ? (id ?? null) : null;
      const also = write.also?.flatMap((one) => written(one, 1)) ?? [];
      return [{ kind: "event", seq: answer, conv, type, at, about, message }, ...also];
    }
    case "applied":
      return [{ kind: "applied", seq: write.seq, answer }];
    case "checkpoint": {
      const { kind, conv, recordSeq, epoch } = write;
      return [{ kind, conv, recordSeq, epoch, answer }];
    }
    case "outbox": {
      const { id, state, doubts, kind, body } = write.row;
      const { expiresAt = null } = JSON.parse(body) as { expiresAt?: number };
      return [{ kind: "outbox", id, state, doubts, rowKind: kind, expiresAt }];
    }
    case "deadline":
      return [{ kind: "deadline", conv: write.conv, id: write.id, due: write.at }];
    default:
      return [];
  }
}
