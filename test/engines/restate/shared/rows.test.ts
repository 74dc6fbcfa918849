/**
 * What nodes share besides conversations, on a real Restate: one knows what another has stored, and of two that
 * change the same at once one is refused.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSystemClock } from "../../../../src/adapters/system/clock.ts";
import { engineLimits } from "../../../../src/domain/ports/engine/engine-limits.ts";
import { ingressCaller } from "../../../../src/engines/restate/calls/ingress-call.ts";
import {
  createSharedFiles,
  type FileFacts,
} from "../../../../src/engines/restate/files/shared-files.ts";
import { createNodeLeases } from "../../../../src/engines/restate/leases/connection-leases.ts";
import { createSharedNews, type SharedNews } from "../../../../src/engines/restate/leases/news.ts";
import type { RestateNode } from "../../../../src/engines/restate/node.ts";
import { registerNodes } from "../../../../src/engines/restate/registration.ts";
import {
  createSharedRows,
  type SharedRows,
} from "../../../../src/engines/restate/shared/shared-rows.ts";
import { openTestNode } from "../../../support/restate/node.ts";
import { haveRestate, type RestateServer, startRestate } from "../../../support/restate/server.ts";

const access = (name: string, body: string | null) => ({ kind: "access", name, body }) as const;

describe.skipIf(!haveRestate)("what all nodes share", () => {
  let restate: RestateServer;
  let node: RestateNode;
  const open: SharedRows[] = [];

  beforeAll(async () => {
    restate = await startRestate();
    node = await openTestNode();
    await registerNodes(restate.admin, `http://127.0.0.1:${node.port}`);
  });
  afterAll(async () => {
    for (const one of open) one.stop();
    await node?.close();
    await restate?.stop();
  });

  /** What a node has, and what it has learned of others. */
  function join(news?: SharedNews) {
    let asked = 0;
    const toRestate = ingressCaller(restate.ingress);
    const learned: Record<string, string | null> = {};
    let changed: () => void = () => undefined;
    const rows = createSharedRows({
      clock: createSystemClock(),
      log: () => undefined,
      call: (path, ...more) => {
        if (path.endsWith("/since")) asked += 1;
        return toRestate(path, ...more);
      },
      ...(news !== undefined && { news }),
      onChanged: (found) => {
        for (const { name, body } of found) learned[name] = body;
        changed();
      },
    });
    open.push(rows);
    const until = async (name: string, body: string | null) => {
      while (learned[name] !== body)
        await new Promise<void>((resolve) => {
          changed = resolve;
        });
    };
    return { rows, learned, until, asked: () => asked };
  }

  test("rows: the first node gives its own, others get them, and learn each change", async () => {
    const [one, two] = [join(), join()];
    const own = [{ name: "ann", body: "1" }];
    expect(await one.rows.load(own)).toEqual(own);
    expect(await two.rows.load([{ name: "old", body: "0" }])).toEqual(own);
    two.rows.start();
    await one.rows.store([access("bob", "2"), access("ann", null)]);
    await two.until("bob", "2");
    expect(two.learned).toEqual({ bob: "2", ann: null });
    expect(one.learned).toEqual({});
    expect(await join().rows.load([])).toEqual([{ name: "bob", body: "2" }]);
  });

  test("of two nodes that change the same row at once, one is refused and has learned the other's", async () => {
    const [one, two] = [join(), join()];
    await Promise.all([one.rows.load([]), two.rows.load([])]);
    const done = await Promise.allSettled([
      one.rows.store([access("code", "one")]),
      two.rows.store([access("code", "two")]),
    ]);
    expect(done.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const [loser, winner] = done[0].status === "rejected" ? [one, "two"] : [two, "one"];
    expect(loser.learned).toEqual({ code: winner });
    await loser.rows.store([access("code", "again")]);
    expect(await join().rows.load([])).toContainEqual({ name: "code", body: "again" });
  });

  test("a node that hears of a change asks once, for that", async () => {
    const nodes = ["a", "b"].map((name) => {
      const news = createSharedNews(false);
      const call = ingressCaller(restate.ingress);
      const own = { node: name, boot: name, clock: createSystemClock(), log: () => undefined };
      const leases = createNodeLeases({ ...own, call, news });
      return { news, leases, ...join(news) };
    });
    const [one, two] = nodes as [(typeof nodes)[number], (typeof nodes)[number]];
    await Promise.all(nodes.map(({ rows }) => rows.load([])));
    await expect.poll(() => nodes.every(({ news }) => news.isHearing())).toBe(true);
    two.rows.start();
    const before = two.asked();
    await one.rows.store([access("carl", "1")]);
    await two.until("carl", "1");
    await one.rows.store([access("carl", "2")]);
    await two.until("carl", "2");
    expect(two.asked() - before).toBe(2);
    await Promise.all(nodes.map(({ leases }) => leases.close()));
  });

  test("a node that has missed more changes than are kept reads everything again", async () => {
    const [one, two] = [join(), join()];
    await Promise.all([one.rows.load([]), two.rows.load([])]);
    for (let from = 0; from < 300; from += 50)
      await one.rows.store(
        Array.from({ length: 50 }, (_, index) => access(`many${from + index}`, "x")),
      );
    await one.rows.store([access("many7", null), access("bob", null)]);
    two.rows.start();
    await two.until("bob", null);
    expect(Object.values(two.learned).filter((body) => body === "x")).toHaveLength(299);
  });

  test("cursors: any node reads how far an account has come", async () => {
    const [one, two] = [join(), join()];
    const cursor = { kind: "cursor", channel: "telegram", account: "bot", identity: "i" } as const;
    expect(await two.rows.cursor("telegram", "bot", "i")).toBe(null);
    await one.rows.store([{ ...cursor, value: "17" }]);
    expect(await two.rows.cursor("telegram", "bot", "i")).toBe("17");
    expect(await two.rows.cursor("telegram", "bot", "other")).toBe(null);
  });

  /** Files as a node has them. */
  const joinFiles = () => createSharedFiles(ingressCaller(restate.ingress));
  const facts = (more: Partial<FileFacts> = {}): FileFacts => ({
    label: "a label",
    owner: null,
    keepMs: 60_000,
    ...more,
  });
  async function* parts(...all: Uint8Array[]) {
    yield* all;
  }
  const wholeOf = async (source: AsyncIterable<Uint8Array>) => {
    const all: Uint8Array[] = [];
    for await (const one of source) all.push(one);
    return Buffer.concat(all);
  };

  test("files: what one node stores in pieces of any size, another reads byte for byte, and its facts", async () => {
    const [one, two] = [joinFiles(), joinFiles()];
    const size = engineLimits.filePieceBytes;
    for (const length of [0, 1, size - 1, size, size + 1, 2 * size + 7]) {
      const bytes = Buffer.from(Array.from({ length }, (_, at) => (at * 7 + (at >> 8)) % 251));
      const id = `file${length}`;
      const cut = Math.floor(length / 3);
      expect(await two.about(id)).toBe(null);
      await one.store(id, facts(), parts(bytes.subarray(0, cut), bytes.subarray(cut)));
      const file = await two.about(id);
      const pieces = Math.ceil(length / size);
      expect(file).toMatchObject({ bytes: length, pieces, label: "a label", owner: null });
      if (file === null) throw new Error("it is gone");
      expect((await wholeOf(two.read(id, file))).equals(bytes)).toBe(true);
    }
  });

  test("a file that was not completed is none, and a stored one is never changed", async () => {
    const files = joinFiles();
    const broken = async function* () {
      yield Buffer.alloc(engineLimits.filePieceBytes, 1);
      throw new Error("the disk is gone");
    };
    await expect(files.store("whole", facts(), broken())).rejects.toThrow("the disk is gone");
    expect(await files.about("whole")).toBe(null);
    await files.store("whole", facts(), parts(Buffer.from("first")));
    await expect(files.store("whole", facts(), parts(Buffer.from("other")))).rejects.toThrow(
      "stored already",
    );
    const file = await files.about("whole");
    if (file === null) throw new Error("it is gone");
    expect(String(await wholeOf(files.read("whole", file)))).toBe("first");
    const other = { ...file, sha256: "0".repeat(64) };
    await expect(wholeOf(files.read("whole", other))).rejects.toThrow("other bytes");
  });

  test("of two messages that want a file one gets it; its time is then the owner's, and it is deleted for good", async () => {
    const [one, two] = [joinFiles(), joinFiles()];
    for (const id of ["kept", "left"])
      await one.store(id, facts({ keepMs: 1_500 }), parts(Buffer.from(id)));
    const wanted = await Promise.all([
      one.own("kept", "message 1", 60_000),
      two.own("kept", "message 2", 60_000),
    ]);
    expect([...wanted].sort()).toEqual(["other", "owned"]);
    const owner = wanted[0] === "owned" ? "message 1" : "message 2";
    expect(await two.own("kept", owner, 60_000)).toBe("owned");
    expect(await one.erase("kept", false)).toBe(false);
    while ((await two.about("left")) !== null) await sleep(50);
    expect(await two.about("kept")).toMatchObject({ owner });
    expect(await two.own("left", owner, 60_000)).toBe("gone");
    expect(await one.erase("kept", true)).toBe(true);
    expect([await two.about("kept"), await two.erase("kept", true)]).toEqual([null, false]);
  });
});
