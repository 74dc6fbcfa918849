/**
 * kill -9 while messages come in, several times on one state directory: after each start the search
 * catches up with the journal, and in the end has each message that was acknowledged, once.
 */
import { expect, onTestFinished, test } from "vitest";
import type { SearchAnswer } from "../../../src/daemon/api-types/search.ts";
import {
  type DaemonProcess,
  startLast,
  startProcess,
} from "../../support/daemon/daemon-process.ts";
import { newFolder } from "../../support/daemon/folder.ts";
import { call, line, roomKey, writeRoomConfig } from "../../support/daemon/room-daemon.ts";
import { rounds } from "../../support/rounds.ts";

const kills = rounds(1, 3);
const folder = newFolder();
let daemon: DaemonProcess;
const reached = () => ({
  base: daemon.page.origin,
  token: new URLSearchParams(daemon.page.hash.slice(1)).get("token") ?? "",
});

/** Says one line after the other; the ids of those that were taken before the process died. */
async function chatter(round: number): Promise<string[]> {
  const taken: string[] = [];
  for (let n = 0; ; n += 1) {
    const id = `r${round}n${n}`;
    const text = `line ${id} about the weather`;
    try {
      const answer = await call(
        reached(),
        "/api/inbound",
        line(id, "ann", text, { mentions: ["bo"] }),
      );
      if (answer.ok) taken.push(id);
    } catch {
      return taken;
    }
  }
}

async function search(before: number | null): Promise<SearchAnswer> {
  const room = encodeURIComponent(roomKey);
  const from = before === null ? "" : `&before=${before}`;
  const answer = await call(reached(), `/api/search?limit=200&room=${room}${from}`);
  return (await answer.json()) as SearchAnswer;
}

async function everything(): Promise<string[]> {
  const ids: string[] = [];
  let next: number | null = null;
  do {
    const page: SearchAnswer = await search(next);
    ids.push(...page.found.map(({ id }) => id));
    next = page.next;
  } while (next !== null);
  return ids;
}

test("each acknowledged message is found once after kill -9 at any time", async () => {
  writeRoomConfig(folder, []);
  const acknowledged: string[] = [];
  for (let round = 0; round < kills; round += 1) {
    daemon = await startProcess(folder, folder);
    const said = chatter(round);
    const isIndexing = async () =>
      (await search(null)).found.some(({ id }) => id.startsWith(`r${round}n`));
    await expect.poll(isIndexing, { timeout: 30_000 }).toBe(true);
    await daemon.kill();
    acknowledged.push(...(await said));
  }
  daemon = await startLast(folder, folder);
  onTestFinished(() => daemon.kill());
  const ready = async () => {
    const { index } = await search(null);
    return index.state === "ready" && index.done === index.total;
  };
  await expect.poll(ready, { timeout: 30_000 }).toBe(true);
  const found = await everything();
  expect(new Set(found).size).toBe(found.length);
  expect(acknowledged.length).toBeGreaterThan(kills);
  expect(acknowledged.filter((id) => !found.includes(id))).toEqual([]);
});
