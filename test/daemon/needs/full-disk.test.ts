/**
 * A full disk, on a real daemon whose database refuses to commit as SQLite does on one: it is one
 * entry of what needs a person, with what to do, and ends by itself when there is space again.
 */
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { type Database, loadDriver } from "../../../src/adapters/stores/sqlite-driver.ts";
import type { NeedsAnswer } from "../../../src/daemon/api-types/needs.ts";
import { builtPages } from "../../support/built/files.ts";
import {
  createLiveDaemon,
  group,
  type LiveDaemon,
  toScout,
} from "../../support/daemon/live-daemon.ts";
import { earshot } from "../../support/runtime/commands.ts";

const disk = { isFull: false };

/** A database of this driver, on the disk above. */
function onDisk({ DatabaseSync }: ReturnType<typeof loadDriver>) {
  return function open(path: string): Database {
    const database = new DatabaseSync(path);
    return {
      get isOpen() {
        return database.isOpen;
      },
      get isTransaction() {
        return database.isTransaction;
      },
      prepare: (sql) => database.prepare(sql),
      close: () => database.close(),
      exec(sql) {
        // As both drivers say it: SQLITE_FULL.
        if (disk.isFull && sql === "COMMIT")
          throw Object.assign(new Error("database or disk is full"), { errcode: 13 });
        database.exec(sql);
      },
    };
  };
}

let daemon: LiveDaemon;
afterEach(() => daemon.close());

test("a full disk is one entry with what to do, and ends by itself when there is space", async () => {
  const driver = { DatabaseSync: onDisk(loadDriver()) };
  const { getBuiltinModule } = process;
  const builtin = (name: string) =>
    name === "node:sqlite" ? driver : getBuiltinModule.call(process, name);
  const loading = vi.spyOn(process, "getBuiltinModule").mockImplementation(builtin as never);
  onTestFinished(() => loading.mockRestore());
  daemon = await createLiveDaemon({ pagesDir: builtPages });
  await daemon.start();
  const needs = async () => ((await daemon.ask("/needs")) as NeedsAnswer).needs;
  const cli = (...args: string[]) => earshot(args, { EARSHOT_STATE_DIR: daemon.stateDir });
  const hello = { chat: group("garden"), text: "hello", ...toScout };
  disk.isFull = true;
  await expect(daemon.say(hello)).rejects.toThrow("the disk is full");
  expect(await needs()).toMatchObject([
    {
      kind: "daemon",
      title: "earshot has a problem",
      meaning:
        "Cannot write the journal: the disk is full. Free some space; earshot continues automatically.",
      acts: [],
    },
  ]);
  expect(await cli("needs")).toMatchObject({
    code: 1,
    out: expect.stringContaining("the disk is full"),
  });
  expect((await cli("status")).out).toContain("the disk is full");
  disk.isFull = false;
  await vi.waitFor(async () => expect(await needs()).toEqual([]), 20_000);
  await daemon.say(hello);
  expect(await cli("needs")).toMatchObject({ code: 0, out: "nothing needs you\n" });
});
