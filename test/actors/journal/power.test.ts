/**
 * A loss of power undoes what was not synced. Whatever leaves the process (an acknowledgement, the call
 * of an agent, the call of a platform) rests on nothing that could be undone: it is looked up in the
 * files as the last sync before that moment left them.
 */
import { copyFileSync, fdatasync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { openSqliteStore } from "../../../src/adapters/stores/sqlite-store.ts";
import type { Store } from "../../../src/domain/ports/index.ts";
import { saying } from "../../support/agents/recording-agent.ts";
import { sessionWorld } from "../../support/runtime/session-world.ts";

const syncFile = promisify(fdatasync);

/** A store in a file, and the newest copy of it that a loss of power would leave. */
async function synced() {
  const folder = mkdtempSync(join(tmpdir(), "earshot-power-"));
  const path = join(folder, "earshot.db");
  let copies = 0;
  let durable = "";
  const store = await openSqliteStore({
    path,
    async syncFile(file) {
      copies += 1;
      const copy = join(folder, `copy-${copies}.db`);
      for (const part of ["", "-wal"]) copyFileSync(`${path}${part}`, `${copy}${part}`);
      await syncFile(file);
      durable = copy;
    },
  });
  onTestFinished(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  return { store, durable: () => durable };
}

test("what leaves the process was synced before", async () => {
  const { store, durable } = await synced();
  const left: { copy: string; rests: (then: Store) => Promise<unknown> }[] = [];
  const leaves = (rests: (then: Store) => Promise<unknown>) =>
    left.push({ copy: durable(), rests });
  const world = await sessionWorld({}, { store });
  world.onSend = () =>
    leaves(async (then) => {
      const [row, ...others] = await then.outboxOpen();
      return [row?.state, others.length];
    });
  const expected: unknown[] = [];
  for (const [n, text] of ["one", "two", "three"].entries()) {
    world.answers.push(({ turnId }) => {
      leaves(async (then) => (await then.runs()).some((run) => run.turnId === turnId));
      return saying(`answer ${n}`);
    });
    await world.say(text, { direct: true });
    leaves(async (then) => {
      const rows = await then.scan(0, 1_000);
      return rows.filter(({ body }) => body.includes(`"text":"${text}"`)).length;
    });
    await world.pass(5_000);
    expected.push(1, true, ["sending", 0]);
  }
  const found: unknown[] = [];
  for (const { copy, rests } of left) {
    const then = await openSqliteStore({ path: copy });
    found.push(await rests(then));
    await then.close();
  }
  expect(found).toEqual(expected);
});
