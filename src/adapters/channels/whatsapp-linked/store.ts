/**
 * What a linked device keeps
 * ==========================
 * Its identity, its keys and sessions, the messages that are decrypted and not yet delivered, and the
 * newest ones that it sent. A message can be decrypted once: its text and the session that moved on with it
 * are stored in one commit, before its arrival is acknowledged to WhatsApp. One file for each account, readable
 * by earshot's user only.
 */
import { chmodSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { AuthenticationCreds, SignalDataSet, SignalKeyStore } from "baileys";
import { limits } from "../../../domain/limits.ts";
import type { Millis } from "../../../domain/message.ts";
import {
  type Database,
  loadDriver,
  type Statement,
  storeError,
} from "../../stores/sqlite-driver.ts";
import type { Baileys } from "./library.ts";

const fileName = "linked-device.sqlite";
/** Of the library's key stores, the one that is not its own: see `inboxed`. */
export const inboxType = "earshot-inbox";

const schema = `
CREATE TABLE IF NOT EXISTS key (
  type TEXT NOT NULL, id TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (type, id)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS inbox (
  seq INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE, node TEXT NOT NULL, plain TEXT NOT NULL,
  done INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS sent (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, message TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS file (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, file TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS heard (seq INTEGER PRIMARY KEY, place TEXT NOT NULL UNIQUE, heard TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS person (lid TEXT PRIMARY KEY, id TEXT NOT NULL) WITHOUT ROWID;
`;

/** A decrypted message: the stanza that it came in, and its padded content, both in base64. */
export interface Received {
  readonly node: string;
  readonly plain: string;
}
export interface Waiting extends Received {
  readonly seq: number;
}

/** A message that was heard or sent. */
export interface Heard {
  readonly authorId: string;
  /** The author's address in this chat, which others know the message by. */
  readonly address: string;
  readonly isSelf: boolean;
  readonly text: string;
}

type Keys = Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;

export class LinkedStore {
  readonly #database: Database;
  readonly #baileys: Baileys;
  readonly #statements = new Map<string, Statement>();

  /** @throws EarshotError EAR_STORE_* */
  constructor(folder: string, baileys: Baileys) {
    this.#baileys = baileys;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, fileName);
    const { DatabaseSync } = loadDriver();
    this.#database = guarded(() => new DatabaseSync(path));
    guarded(() => {
      chmodSync(path, 0o600);
      this.#database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
      // Another process links the account while this one waits for it.
      this.#database.exec("PRAGMA busy_timeout = 5000");
      this.#database.exec(schema);
    });
  }

  /** Whether an account has been linked, or tried to. */
  static isThere(folder: string): boolean {
    return existsSync(join(folder, fileName));
  }

  close(): void {
    this.#statements.clear();
    if (!this.#database.isOpen) return;
    try {
      // A connection whose statements are still in memory leaves its log, with keys that were deleted since.
      guarded(() => this.#database.exec("PRAGMA wal_checkpoint(TRUNCATE)"));
    } finally {
      this.#database.close();
    }
  }

  /** The device's identity; null: none was made. */
  creds(): AuthenticationCreds | null {
    return this.#value("creds", "") as AuthenticationCreds | null;
  }

  saveCreds(creds: AuthenticationCreds): void {
    // The code of a linking that goes on is a secret for a terminal only.
    this.#write(() => this.#put("creds", "", { ...creds, pairingCode: undefined }));
  }

  /** Forgets the device, its keys and what it has of messages. */
  clear(): void {
    this.#write(() =>
      this.#database.exec(
        "DELETE FROM key; DELETE FROM inbox; DELETE FROM sent; DELETE FROM file; DELETE FROM heard",
      ),
    );
  }

  /** A daemon keeps away until then, ms since the epoch; null: it may connect. */
  holdUntil(at: Millis | null): void {
    this.#write(() => (at === null ? this.#delete("hold", "") : this.#put("hold", "", at)));
  }

  isHeld(now: Millis): boolean {
    return Number(this.#value("hold", "") ?? 0) > now;
  }

  /** WhatsApp does not accept this device any more. */
  end(): void {
    this.#write(() => this.#put("ended", "", true));
  }

  hasEnded(): boolean {
    return this.#value("ended", "") === true;
  }

  /** For the library. Every call of `set` is one commit. */
  get keys(): SignalKeyStore {
    return {
      get: ((type: string, ids: readonly string[]) => {
        const found: Record<string, unknown> = {};
        for (const id of ids) {
          const value = this.#value(type, id);
          if (value !== null) found[id] = value;
        }
        return found;
      }) as SignalKeyStore["get"],
      set: (data: SignalDataSet) =>
        this.#write(() => {
          for (const [type, values] of Object.entries(data as Keys))
            for (const [id, value] of Object.entries(values ?? {}))
              if (type === inboxType) this.#receive(id, value as Received);
              else if (value === null || value === undefined) this.#delete(type, id);
              else this.#put(type, id, value);
        }),
    };
  }

  /** What came in this form before; it then waits to be delivered again. Null: nothing did. */
  receivedAgain(digest: string): Buffer | null {
    const row = this.#use("SELECT plain FROM inbox WHERE digest = ?").get(digest) as
      | Received
      | undefined;
    if (row === undefined) return null;
    this.#write(() => this.#use("UPDATE inbox SET done = 0 WHERE digest = ?").run(digest));
    return Buffer.from(row.plain, "base64");
  }

  /** The oldest messages that wait to be delivered. */
  waiting(count: number): readonly Waiting[] {
    return guarded(() =>
      this.#use("SELECT seq, node, plain FROM inbox WHERE done = 0 ORDER BY seq LIMIT ?").all(
        count,
      ),
    ) as Waiting[];
  }

  /** They are delivered. The newest are kept: WhatsApp repeats what it does not know to have arrived. */
  delivered(rows: readonly Waiting[]): void {
    this.#write(() => {
      for (const { seq } of rows) this.#use("UPDATE inbox SET done = 1 WHERE seq = ?").run(seq);
      this.#use("DELETE FROM inbox WHERE done = 1 AND seq <= (SELECT max(seq) FROM inbox) - ?").run(
        limits.linkedReceivedMax,
      );
    });
  }

  /** Keeps what was sent, for devices that ask for it again. */
  rememberSent(id: string, message: Uint8Array): void {
    this.#keep(
      "INSERT OR REPLACE INTO sent (id, message) VALUES (?, ?)",
      [id, base64(message)],
      "DELETE FROM sent WHERE seq <= (SELECT max(seq) FROM sent) - ?",
      limits.linkedSentMax,
    );
  }

  sent(id: string): Buffer | null {
    const row = this.#use("SELECT message FROM sent WHERE id = ?").get(id) as
      | { message: string }
      | undefined;
    return row === undefined ? null : Buffer.from(row.message, "base64");
  }

  /** Keeps where a file is, and its key; the first one of an id is kept. */
  rememberFile(id: string, file: object): void {
    this.#keep(
      "INSERT OR IGNORE INTO file (id, file) VALUES (?, ?)",
      [id, JSON.stringify(file)],
      "DELETE FROM file WHERE seq <= (SELECT max(seq) FROM file) - ?",
      limits.linkedFilesMax,
    );
  }

  file(id: string): unknown {
    const row = this.#use("SELECT file FROM file WHERE id = ?").get(id) as
      | { file: string }
      | undefined;
    return row === undefined ? null : (JSON.parse(row.file) as unknown);
  }

  /** Keeps who has written a message, for replies, edits and reactions to it. */
  rememberHeard(place: string, heard: Heard): void {
    this.#keep(
      "INSERT OR REPLACE INTO heard (place, heard) VALUES (?, ?)",
      [place, JSON.stringify(heard)],
      "DELETE FROM heard WHERE seq <= (SELECT max(seq) FROM heard) - ?",
      limits.linkedHeardMax,
    );
  }

  heard(place: string): Heard | null {
    const row = this.#use("SELECT heard FROM heard WHERE place = ?").get(place) as
      | { heard: string }
      | undefined;
    return row === undefined ? null : (JSON.parse(row.heard) as Heard);
  }

  /** The number behind an id without one, as far as the library knows it. */
  numberOf(lidUser: string): string | null {
    const known = this.#value("lid-mapping", `${lidUser}_reverse`);
    return typeof known === "string" ? known : null;
  }

  /** The id under which a person is known who writes without a number; the first one is kept. */
  personOf(lid: string, id: string | null): string {
    const known = this.knownAs(lid);
    if (known !== null) return known;
    const first = id ?? lid;
    this.#write(() => this.#use("INSERT INTO person (lid, id) VALUES (?, ?)").run(lid, first));
    return first;
  }

  knownAs(lid: string): string | null {
    const row = this.#use("SELECT id FROM person WHERE lid = ?").get(lid) as
      | { id: string }
      | undefined;
    return row?.id ?? null;
  }

  /** Inserts a row, and deletes what is more than `max` rows older. */
  #keep(insert: string, row: readonly string[], prune: string, max: number): void {
    this.#write(() => {
      this.#use(insert).run(...row);
      this.#use(prune).run(max);
    });
  }

  #receive(digest: string, { node, plain }: Received): void {
    this.#use("INSERT OR IGNORE INTO inbox (digest, node, plain) VALUES (?, ?, ?)").run(
      digest,
      node,
      plain,
    );
  }

  #value(type: string, id: string): unknown {
    const { BufferJSON, proto } = this.#baileys;
    const row = guarded(() =>
      this.#use("SELECT value FROM key WHERE type = ? AND id = ?").get(type, id),
    ) as { value: string } | undefined;
    if (row === undefined) return null;
    const value: unknown = JSON.parse(row.value, BufferJSON.reviver);
    return type === "app-state-sync-key"
      ? proto.Message.AppStateSyncKeyData.fromObject(value as object)
      : value;
  }

  #put(type: string, id: string, value: unknown): void {
    const text = JSON.stringify(value, this.#baileys.BufferJSON.replacer);
    this.#use("INSERT OR REPLACE INTO key (type, id, value) VALUES (?, ?, ?)").run(type, id, text);
  }

  #delete(type: string, id: string): void {
    this.#use("DELETE FROM key WHERE type = ? AND id = ?").run(type, id);
  }

  #write(work: () => void): void {
    guarded(() => {
      this.#database.exec("BEGIN IMMEDIATE");
      try {
        work();
        this.#database.exec("COMMIT");
      } catch (error) {
        if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
        throw error;
      }
    });
  }

  #use(sql: string): Statement {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const made = this.#database.prepare(sql);
    this.#statements.set(sql, made);
    return made;
  }
}

export const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");

function guarded<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw storeError(error);
  }
}
