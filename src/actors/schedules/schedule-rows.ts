/** The rows of schedules in the store of a runtime, and schedules that another runtime has. */
import type { EarshotConfig } from "../../domain/config/index.ts";
import type { MetaWrite, Store } from "../../domain/ports/index.ts";
import type { ScheduleOperator, ScheduleRows, Schedules } from "../protocol/schedules.ts";
import { indexName, rowOf } from "./schedule-entries.ts";

/** The rows of a store that runs had before, by their names: those of the config, and the others. */
export async function scheduleRowsOf(
  store: Pick<Store, "meta">,
  { schedule }: Pick<EarshotConfig, "schedule">,
): Promise<readonly { readonly name: string; readonly body: string }[]> {
  const index = (await store.meta(indexName)) ?? "[]";
  const names = new Set([...schedule.map(({ name }) => name), ...(JSON.parse(index) as string[])]);
  const found: { name: string; body: string }[] = [];
  for (const name of names) {
    const body = await store.meta(rowOf(name));
    if (body !== null && body !== "") found.push({ name: rowOf(name), body });
  }
  return found.length === 0 ? [] : [...found, { name: indexName, body: index }];
}

/** Rows that nobody else changes. */
export const ownRows = (
  store: Pick<Store, "meta">,
  keep: (writes: readonly MetaWrite[]) => Promise<void>,
): ScheduleRows => ({
  row: (name) => store.meta(name),
  keep: (writes) => keep(writes).then(() => true),
  basis: () => 0,
});

/** Those of another runtime, which says them. */
export const borrowed = (owner: () => ScheduleOperator): Schedules => ({
  list: () => owner().list(),
  unsaid: () => owner().unsaid(),
  add: (spec) => owner().add(spec),
  addFor: (key, spec) => owner().addFor(key, spec),
  pause: (name, paused) => owner().pause(name, paused),
  remove: (name) => owner().remove(name),
  sayer: () => owner().sayer(),
  load: async () => undefined,
  start: () => undefined,
  retune: async () => undefined,
  busy: () => 0,
  stop: () => undefined,
});
