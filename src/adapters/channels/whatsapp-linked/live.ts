/** A connection that is logged in, with what sending over it needs. */
import type { Connection } from "./connection.ts";
import type { LinkedGroups } from "./groups.ts";
import type { Baileys } from "./library.ts";
import type { LinkedPeople } from "./people.ts";
import type { LinkedStore } from "./store.ts";

/** What sending needs; null while there is no connection. */
export interface LinkedLink {
  live: Live | null;
}
export interface Live {
  readonly baileys: Baileys;
  readonly connection: Connection;
  readonly store: LinkedStore;
  readonly people: LinkedPeople;
  readonly groups: LinkedGroups;
}
