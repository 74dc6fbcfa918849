/**
 * A record or a line of a transcript that the disk has changed, under a whole runtime: nobody is answered
 * from it, and the status, or the outcome of the turn, says which file is damaged.
 */
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadDriver } from "../../src/adapters/stores/sqlite-driver.ts";
import { openSqliteStore } from "../../src/adapters/stores/sqlite-store.ts";
import { newFolder } from "../support/daemon/folder.ts";
import { World } from "../support/runtime/world.ts";

const notice = "Something went wrong while I was answering. Please try again.";

test.each([
  { table: "conversation", column: "record", said: [] },
  { table: "transcript", column: "text", said: [notice] },
])("a changed $column of a $table is not answered from", async ({ table, column, said }) => {
  const path = join(newFolder(), "earshot.db");
  const first = new World({ store: await openSqliteStore({ path }) });
  await first.start();
  first.runs.push({ afterMs: 0, steps: [{ text: "with milk" }] });
  await first.say("tea?", { id: "t1", direct: true });
  await first.pass(5_000);
  expect(first.sent.map(({ text }) => text)).toEqual(["with milk"]);
  await first.runtime.passivateAll();
  await first.runtime.stop();
  await first.store.close();

  const { DatabaseSync } = loadDriver();
  const database = new DatabaseSync(path);
  database.exec(`UPDATE ${table} SET ${column} = ${column} || ' '`);
  database.close();

  let ids = 0;
  const second = new World({
    store: await openSqliteStore({ path }),
    ports: { ids: { next: () => `second${++ids}` } },
  });
  second.clock.advanceTo(first.clock.now());
  await second.start();
  second.runs.push({ afterMs: 0, steps: [{ text: "with lemon" }] });
  await second.say("and now?", { id: "t2", direct: true });
  await second.pass(60_000);
  const { problem } = second.runtime.status();
  const causes = second.events("agent_end").map((line) => JSON.stringify(line));
  expect([problem ?? "", ...causes].join("\n")).toContain(`${path}: it is damaged (`);
  expect(second.sent.map(({ text }) => text)).toEqual(said);
  await second.runtime.stop();
  await second.store.close();
});
