/** What a database has beside its conversations, as the nodes of an engine share it. */
import type { Database, Statement } from "./sqlite-driver.ts";
import { exactly } from "./sqlite-text.ts";

export interface NamedRow {
  readonly name: string;
  readonly body: string;
}

/** What one account has read of its platform: values by their identities. */
export interface AccountCursors {
  readonly channel: string;
  readonly account: string;
  readonly values: Readonly<Record<string, string>>;
}

export interface SharedSource {
  /** Who may speak, paired people included. */
  readonly access: readonly NamedRow[];
  /** Entries of the schedule, and a row with the names of those that are not in the config. */
  readonly schedules: readonly NamedRow[];
  readonly cursors: readonly AccountCursors[];
}

/** @param database of a daemon that does not run */
export function sharedIn(database: Database): SharedSource {
  const all = <Row>(text: string): Row[] =>
    (exactly(database.prepare(text)) as Statement).all() as Row[];
  const cursors = new Map<string, AccountCursors & { values: Record<string, string> }>();
  for (const { channel, account, identity, value } of all<Record<string, string>>(
    "SELECT channel, account, identity, value FROM cursor ORDER BY channel, account, identity",
  )) {
    const name = JSON.stringify([channel, account]);
    const one = cursors.get(name) ?? {
      channel: String(channel),
      account: String(account),
      values: {},
    };
    one.values[String(identity)] = String(value);
    cursors.set(name, one);
  }
  return {
    access: all("SELECT name, body FROM access ORDER BY name"),
    schedules: all(
      "SELECT name, value AS body FROM meta WHERE value <> '' AND " +
        "(name = 'schedules' OR (name >= 'schedule|' AND name < 'schedule}')) ORDER BY name",
    ),
    cursors: [...cursors.values()],
  };
}
