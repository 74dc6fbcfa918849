/**
 * Bytes of a database and its log that changed, were torn or ended on the disk. Whatever is hit: the store is
 * refused with an error that names the file and what helps, or it answers, and then with the rows that
 * were written, never with another text. Each place is a seed's choice over a copy; fast-check prints it.
 */
import { copyFileSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkDatabase } from "../../src/adapters/stores/check-database.ts";
import { loadDriver } from "../../src/adapters/stores/sqlite-driver.ts";
import { openSqliteStore } from "../../src/adapters/stores/sqlite-store.ts";
import { EarshotError } from "../../src/domain/errors.ts";
import type {
  ConversationRow,
  EventRow,
  OutboxRow,
  Store,
  StoreWrite,
} from "../../src/domain/ports/index.ts";
import type { TranscriptLine } from "../../src/domain/session.ts";
import { newFolder } from "../support/daemon/folder.ts";
import { property } from "../support/property.ts";
import { rounds } from "../support/rounds.ts";

const rows = 150;
const words = "the kettle is on and nobody has asked for tea yet ".repeat(6);
const body = (index: number) =>
  JSON.stringify({ type: "message.received", at: index, text: `${index} ${words}` });
const writes: readonly StoreWrite[] = Array.from({ length: rows }, (_, index): StoreWrite[] => [
  {
    kind: "event",
    eid: index,
    conv: 1 + (index % 7),
    key: `k${index % 7}`,
    at: index,
    cfg: 0,
    identity: `i${index}`,
    messageId: `m${index}`,
    body: body(index),
  },
  {
    kind: "outbox",
    row: {
      id: `o${index}`,
      conv: 1 + (index % 7),
      key: `k${index % 7}`,
      turnId: `t${index}`,
      index: 0,
      kind: "reply",
      state: "pending",
      createdAt: index,
      dueAt: index,
      attempts: 0,
      doubts: 0,
      body: body(index),
      messageIds: null,
      error: null,
    },
  },
  {
    kind: "checkpoint",
    conv: 1 + (index % 7),
    recordSeq: index + 1,
    epoch: 1,
    record: body(index),
  },
  {
    kind: "transcript",
    conv: 1 + (index % 7),
    line: {
      id: index + 1,
      sessionId: `s${index % 7}`,
      turnId: `t${index}`,
      role: "user",
      at: index,
      text: `${index} ${words}`,
      author: { id: "ann", name: "Ann" },
    },
  },
]).flat();
const kinds = writes.length / rows;

const none: ConversationRow = { conv: 0, key: "", recordSeq: 0, epoch: 0, record: null };

interface Read {
  readonly events: readonly EventRow[];
  readonly outbox: readonly OutboxRow[];
  readonly conversations: readonly ConversationRow[];
  readonly lines: readonly TranscriptLine[];
}
const readAll = async (store: Store): Promise<Read> => ({
  events: await store.scan(0, 10 * rows),
  outbox: await store.outboxOpen(),
  conversations: await Promise.all(
    Array.from({ length: 7 }, async (_, index) => (await store.conversation(index + 1)) ?? none),
  ),
  lines: (
    await Promise.all(
      Array.from({ length: 7 }, (_, index) =>
        store.transcript({ sessionId: `s${index}`, limit: rows }),
      ),
    )
  ).flat(),
});

/** A database of which the first half is in the file and the rest in its log, copied as a crash would. */
async function written(): Promise<{ folder: string; read: Read }> {
  const folder = newFolder();
  const path = join(folder, "earshot.db");
  const first = await openSqliteStore({ path });
  await first.commit(writes.slice(0, (rows / 2) * kinds));
  await first.close();
  const { DatabaseSync } = loadDriver();
  const database = new DatabaseSync(path);
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
  const second = await openSqliteStore({ path });
  for (let at = (rows / 2) * kinds; at < writes.length; at += 10)
    await second.commit(writes.slice(at, at + 10));
  const read = await readAll(second);
  const copy = newFolder();
  for (const name of ["earshot.db", "earshot.db-wal"])
    copyFileSync(join(folder, name), join(copy, name));
  await second.close();
  return { folder: copy, read };
}
const source = written();

type Damage = (path: string) => void;

/** What comes of a copy with damage: what it read, or why it was refused. */
async function outcome(file: string, damage: Damage): Promise<Read | EarshotError> {
  const { folder } = await source;
  const copy = newFolder();
  for (const name of ["earshot.db", "earshot.db-wal"])
    copyFileSync(join(folder, name), join(copy, name));
  damage(join(copy, file));
  const path = join(copy, "earshot.db");
  let store: Store | null = null;
  try {
    store = await openSqliteStore({ path });
    const read = await readAll(store);
    await store.commit([{ kind: "meta", name: "probe", value: "1" }]);
    return read;
  } catch (error) {
    expect(error).toBeInstanceOf(EarshotError);
    const { code, message } = error as EarshotError;
    expect(code).toMatch(/^EAR_STORE_(DAMAGED|VERSION)$/);
    expect(message).toContain(path);
    expect(message).toMatch(/\. [A-Z]\w+ /);
    return error as EarshotError;
  } finally {
    await store?.close().catch((error: unknown) => expect(error).toBeInstanceOf(Error));
  }
}

/** What `earshot doctor` says of the same copy. */
const doctorSays = (path: string) =>
  checkDatabase(path).then(
    () => "undamaged",
    (error: unknown) => (error instanceof EarshotError ? error.code : String(error)),
  );

/** Every row that is read is one that was written; the journal's keep their order. */
async function expectTrue(found: Read | EarshotError): Promise<void> {
  if (found instanceof EarshotError) return;
  const { read } = await source;
  const events = new Map(read.events.map((row) => [row.seq, row]));
  const outbox = new Map(read.outbox.map((row) => [row.id, row]));
  const lines = new Map(read.lines.map((line) => [line.id, line]));
  for (const row of found.events) expect(row).toEqual(events.get(row.seq));
  for (const row of found.outbox) expect(row).toEqual(outbox.get(row.id));
  for (const line of found.lines) expect(line).toEqual(lines.get(line.id));
  for (const { conv, record, recordSeq } of found.conversations)
    if (record !== null) {
      expect(record).toBe(body(recordSeq - 1));
      expect(1 + ((recordSeq - 1) % 7)).toBe(conv);
    }
}

const place = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });
const flip =
  (where: number, bit: number): Damage =>
  (path) => {
    const bytes = readFileSync(path);
    const at = Math.floor(where * bytes.length);
    bytes[at] = (bytes[at] as number) ^ (1 << bit);
    writeFileSync(path, bytes);
  };

/** What a disk writes or not, as a whole. */
const sector = 512;
/** Sectors that a write has not reached, or that hold what belongs elsewhere; null: zeros. */
const torn =
  (where: number, count: number, from: number | null): Damage =>
  (path) => {
    const bytes = readFileSync(path);
    const startOf = (share: number) => Math.floor((share * bytes.length) / sector) * sector;
    const length = Math.min(count * sector, bytes.length - startOf(where));
    const other = from === null ? null : startOf(from);
    const instead =
      other === null ? Buffer.alloc(length) : Buffer.from(bytes.subarray(other, other + length));
    instead.copy(bytes, startOf(where));
    writeFileSync(path, bytes);
  };

describe.each(["earshot.db", "earshot.db-wal"])("%s", (file) => {
  property([place, fc.nat({ max: 7 })], { numRuns: rounds(30, 3_000) })(
    "a flipped bit is refused with the file and what helps, or changes no row that is read",
    async (where, bit) => expectTrue(await outcome(file, flip(where, bit))),
  );

  property([place], { numRuns: rounds(10, 500) })(
    "cut anywhere it is refused, or what is read was written",
    async (where) => {
      const { folder } = await source;
      const length = Math.floor(where * readFileSync(join(folder, file)).length);
      await expectTrue(await outcome(file, (path) => truncateSync(path, length)));
    },
  );

  const sectors = fc.integer({ min: 1, max: 12 });
  property([place, sectors, fc.option(place)], { numRuns: rounds(10, 1_000) })(
    "sectors that were not written, or hold others' bytes, are refused, or change no row that is read",
    async (where, count, from) => expectTrue(await outcome(file, torn(where, count, from))),
  );
});

test("a letter changed within a message is found, in the journal as in what is to be sent", async () => {
  const found = await outcome("earshot.db", (path) => {
    const text = readFileSync(path, "latin1");
    expect(text).toContain("kettle");
    writeFileSync(path, text.replaceAll("kettle", "cattle"), "latin1");
  });
  expect(found).toMatchObject({ code: "EAR_STORE_DAMAGED", disposition: "terminal" });
});

test.each([
  ["the record of a conversation", "conversation", "record"],
  ["a line of a transcript", "transcript", "text"],
])(
  "a letter changed in %s is found when it is read, and by doctor",
  async (what, table, column) => {
    const change: Damage = (path) => {
      const { DatabaseSync } = loadDriver();
      const database = new DatabaseSync(path);
      database.exec(`UPDATE ${table} SET ${column} = replace(${column}, 'kettle', 'cattle')`);
      database.close();
    };
    const found = await outcome("earshot.db", change);
    expect(found).toMatchObject({ code: "EAR_STORE_DAMAGED" });
    expect((found as EarshotError).message).toContain(what.split(" ")[1]);
    const path = join(newFolder(), "earshot.db");
    copyFileSync(join((await source).folder, "earshot.db"), path);
    change(path);
    expect(await doctorSays(path)).toBe("EAR_STORE_DAMAGED");
  },
);

test("rows of a version without their checksums are read as they are", async () => {
  const { read } = await source;
  const found = await outcome("earshot.db", (path) => {
    const { DatabaseSync } = loadDriver();
    const database = new DatabaseSync(path);
    for (const table of ["conversation", "transcript"])
      database.exec(`ALTER TABLE ${table} DROP COLUMN sum`);
    database.exec("PRAGMA user_version = 4");
    database.close();
  });
  expect(found).toEqual(read);
});

test("doctor reads all of it: sound, with a changed letter, with a page of nothing", async () => {
  const { folder } = await source;
  const path = join(newFolder(), "earshot.db");
  copyFileSync(join(folder, "earshot.db"), path);
  expect(await checkDatabase(path)).toBe(rows / 2);
  const text = readFileSync(path, "latin1");
  writeFileSync(path, text.replaceAll("kettle", "cattle"), "latin1");
  expect(await doctorSays(path)).toBe("EAR_STORE_DAMAGED");
  const bytes = Buffer.from(text, "latin1");
  writeFileSync(path, bytes.fill(0, 8 * 4_096, 9 * 4_096));
  expect(await doctorSays(path)).toBe("EAR_STORE_DAMAGED");
  expect(await checkDatabase(join(newFolder(), "none.db"))).toBeNull();
});

test("undamaged it reads as it was written", async () => {
  const { read } = await source;
  expect(read.events).toHaveLength(rows);
  expect(await outcome("earshot.db", () => undefined)).toEqual(read);
});
