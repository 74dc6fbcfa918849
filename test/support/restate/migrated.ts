/** What a daemon has that moves to Restate, besides its conversations. */
import { expect } from "vitest";
import { scheduleSchema } from "../../../src/domain/schedule.ts";
import type { World } from "../runtime/world.ts";

export const cursor = (channel: string, account: string, identity: string) =>
  ({ kind: "cursor", channel, account, identity }) as const;

/** Where agents are woken, and what a daemon has beside its conversations: somebody was paired, a line is paused, two accounts have read. */
export async function beside(world: World): Promise<void> {
  await world.say("Are you there?", { direct: true });
  await world.pass(60_000);
  await world.store.commit([
    { kind: "access", name: "telegram:default:ann", body: JSON.stringify({ by: "operator" }) },
    { ...cursor("telegram", "default", "updates"), value: "17" },
    { ...cursor("matrix", "work", "sync"), value: "s42" },
  ]);
  const schedules = world.runtime.schedules();
  const to = { channel: "telegram", chat: { id: "room-1", kind: "group" } };
  const tea = { name: "tea", to, text: "Tea.", cron: "0 16 * * *" };
  expect(await schedules.add(scheduleSchema.parse(tea))).toBe("added");
  expect(await schedules.pause("tea", true)).toBe(true);
}
