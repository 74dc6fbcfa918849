/** What an account could not recover: in the list of needs, in `earshot channels` and in the API. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import type { NeedsAnswer } from "../../../src/daemon/api-types/needs.ts";
import { builtPages } from "../../support/built/files.ts";
import { writeGapPlugin } from "../../support/daemon/gap-plugin.ts";
import { createLiveDaemon, type LiveDaemon } from "../../support/daemon/live-daemon.ts";
import { call } from "../../support/daemon/room-daemon.ts";
import { earshot } from "../../support/runtime/commands.ts";

let daemon: LiveDaemon;
afterEach(() => daemon.close());

const from = Date.UTC(2026, 10, 24, 3, 0);
const to = from + 12 * 60_000;
const gaps = [
  { from, to, rooms: ["#garden", "#shed"], lost: "messages" },
  { from, to, rooms: [], lost: "edits" },
] as const;

test("lost messages need a person until they were seen; lost edits are shown only", async () => {
  const config = writeGapPlugin(mkdtempSync(join(tmpdir(), "gap-")), gaps);
  daemon = await createLiveDaemon({ pagesDir: builtPages, config });
  await daemon.start();
  const cli = (...args: string[]) => earshot(args, { EARSHOT_STATE_DIR: daemon.stateDir });
  const needs = async () => ((await daemon.ask("/needs")) as NeedsAnswer).needs;
  await vi.waitFor(async () => expect(await needs()).toHaveLength(1), 20_000);
  const [need] = await needs();
  expect(need).toMatchObject({
    kind: "gap",
    channel: "pigeon",
    account: "default",
    title: "Pigeon was disconnected, and messages may be lost",
    rooms: ["#garden", "#shed"],
    from,
    to,
  });
  expect(need?.meaning).toContain(
    "Messages in #garden, #shed from 2026-11-24 03:00 UTC to 2026-11-24 03:12 UTC were not received",
  );
  const shown = await cli("channels");
  expect(shown.out + shown.err).toContain(
    "pigeon/default: messages may be lost from 2026-11-24 03:00 to 2026-11-24 03:12 UTC " +
      "(#garden, #shed)",
  );
  expect(shown.out + shown.err).toContain(
    "pigeon/default: edits and deletions are not known from 2026-11-24 03:00",
  );
  const asked = (await daemon.ask("/channels")) as {
    channels: { id: string; accounts: { gaps: unknown[] }[] }[];
  };
  const pigeon = asked.channels.find(({ id }) => id === "pigeon");
  expect(pigeon?.accounts[0]?.gaps).toMatchObject(gaps);
  expect(await cli("status")).toMatchObject({ code: 0 });

  const { id = "" } = need ?? {};
  expect((await call(daemon, `/api/needs/${encodeURIComponent(id)}/seen`, {})).status).toBe(200);
  expect(await needs()).toEqual([]);
  expect((await call(daemon, `/api/needs/${encodeURIComponent(id)}/seen`, {})).status).toBe(404);
});
