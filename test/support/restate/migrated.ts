/** What a daemon has that moves to Restate, besides its conversations. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { expect } from "vitest";
import { openOutgoingFiles } from "../../../src/adapters/media/outgoing-files.ts";
import { openUploads } from "../../../src/adapters/media/uploads.ts";
import { answerFileId } from "../../../src/daemon/engine/files.ts";
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

/**
 * Files of a daemon: an upload that was sent, one that was not, one that is too old, a file of an answer, and one that an
 * agent sends. Resolves to the text of those that move, by the id by which nodes look for them.
 */
export async function filesBeside(stateDir: string): Promise<Readonly<Record<string, string>>> {
  const unique = () => randomUUID().replaceAll("-", "");
  let now = Date.now() - 30 * 86_400_000;
  const uploads = openUploads({ folder: join(stateDir, "uploads"), now: () => now, unique });
  const terms = { declared: "text/plain", bytesMax: 1_000_000, totalMax: 1_000_000 };
  const keep = (text: string, more: object = {}) =>
    uploads.keep(
      (async function* () {
        yield Buffer.from(text);
      })(),
      { ...terms, name: `${text}.txt`, ...more },
    );
  await keep("old", { owner: { of: "message", id: "old" } });
  now = Date.now();
  const [sent, unsent] = [await keep("sent"), await keep("unsent")];
  await uploads.send([sent.id], "message");
  await keep("drawn", { owner: { of: "answer", id: "turn:0" } });
  const outgoing = openOutgoingFiles({
    folder: join(stateDir, "outgoing"),
    stateDir,
    closed: () => [],
    now: () => now,
    unique,
    folderOf: () => stateDir,
  });
  const { id } = await outgoing.keep("chart", terms);
  return {
    [sent.id]: "sent",
    [unsent.id]: "unsent",
    [answerFileId("turn:0")]: "drawn",
    [id]: "chart",
  };
}
