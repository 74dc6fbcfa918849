/**
 * The webchat against a whole daemon: pages agree, nothing is lost or doubled, and who may not
 * speak does not.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { closeCodes } from "../../../src/adapters/channels/webchat/protocol.ts";
import { type Daemon, startDaemon } from "../../../src/daemon/daemon.ts";
import { newFolder } from "../../support/daemon/folder.ts";
import { openPage } from "../../support/daemon/page.ts";

const stateDir = newFolder();
let daemon: Daemon;
const start = () =>
  startDaemon({ stateDir, port: 0, workers: 0, env: {}, writeLog: () => undefined });
beforeAll(async () => {
  daemon = await start();
});
afterAll(() => daemon.stop());

describe("a conversation", () => {
  test("is taken, decided, answered, and told in that order", async () => {
    const page = await openPage(daemon.base, daemon.token);
    const ready = await page.wait("ready");
    expect(ready.agent).toEqual({ id: "main", name: "earshot" });
    const id = page.say("hello");
    const said = await page.wait("said");
    await page.wait("turn", ({ state }) => state === "end");
    const taken = page.of("taken").find((frame) => frame.id === id);
    expect(taken?.text).toBe("hello");
    expect(taken?.n).toBeLessThan(said.n);
    expect(page.of("decided").at(-1)).toMatchObject({ id, decision: "engage", rule: "dm" });
    expect(said.text).toContain("built-in guide");
    const order = page.frames.map((frame) =>
      frame.type === "turn" ? `turn ${frame.state}` : frame.type,
    );
    const first = ["taken", "turn start", "said", "turn end"].map((type) => order.indexOf(type));
    expect(first).toEqual([...first].sort((a, b) => a - b));
    expect(page.of("turn").at(-1)).toMatchObject({ outcome: "replied", turnId: said.turnId });
    page.close();
  });

  test("shows the ack while it is worked on, and takes it off", async () => {
    const page = await openPage(daemon.base, daemon.token);
    await page.wait("ready");
    const id = page.say("and now?");
    await page.wait("ack", (frame) => frame.message === id && !frame.on);
    const acks = page.of("ack").filter((frame) => frame.message === id);
    expect(acks.map(({ emoji, on }) => [emoji, on])).toEqual([
      ["👀", true],
      ["👀", false],
    ]);
    page.close();
  });

  test("reaches every open page once, whoever wrote", async () => {
    const pages = await Promise.all([1, 2, 3].map(() => openPage(daemon.base, daemon.token)));
    const [writer] = pages as [(typeof pages)[0]];
    await Promise.all(pages.map((page) => page.wait("ready")));
    const id = writer.say("for all");
    const { n } = await writer.wait("taken", (frame) => frame.id === id);
    const answers = await Promise.all(pages.map((page) => page.wait("said", (one) => one.n > n)));
    expect(new Set(answers.map((answer) => answer.id)).size).toBe(1);
    for (const page of pages) {
      expect(page.of("taken").filter((frame) => frame.id === id)).toHaveLength(1);
      page.close();
    }
  });

  test("comes back from any number on, without a gap and without a double", async () => {
    const whole = await openPage(daemon.base, daemon.token);
    const { n } = await whole.wait("ready");
    await whole.wait("said", (frame) => frame.n <= n);
    const parts = (page: typeof whole) =>
      [...page.of("taken"), ...page.of("said")].map((frame) => frame.n).sort((a, b) => a - b);
    const all = parts(whole);
    expect(all.length).toBeGreaterThan(3);
    expect(new Set(all).size).toBe(all.length);
    const middle = all[2] as number;
    const late = await openPage(daemon.base, daemon.token, middle);
    await late.wait("said", (frame) => frame.n === all.at(-1));
    expect(parts(late)).toEqual(all.filter((number) => number > middle));
    whole.close();
    late.close();
  });

  test("a message sent twice under one id is one message, and both senders hear so", async () => {
    const one = await openPage(daemon.base, daemon.token);
    const two = await openPage(daemon.base, daemon.token);
    await Promise.all([one.wait("ready"), two.wait("ready")]);
    const id = one.say("only once");
    two.say("only once", id);
    const first = await one.wait("taken", (frame) => frame.id === id);
    const second = await two.wait("taken", (frame) => frame.id === id);
    expect(second.n).toBe(first.n);
    one.say("only once", id);
    const third = await openPage(daemon.base, daemon.token);
    await third.wait("ready");
    await third.wait("taken", (frame) => frame.id === id);
    expect(third.of("taken").filter((frame) => frame.id === id)).toHaveLength(1);
    for (const page of [one, two, third]) page.close();
  });
});

describe("a page that may not", () => {
  test("is closed for a wrong token, a frame of no kind, and a message before hello", async () => {
    const wrong = await openPage(daemon.base, "x".repeat(32));
    expect(await wrong.closed).toBe(closeCodes.badToken);
    for (const text of ["{", '{"type":"shout"}', '{"type":"message","id":"1","text":"hi"}']) {
      const page = await openPage(daemon.base, null);
      page.raw(text);
      expect(await page.closed).toBe(closeCodes.badFrame);
      expect(page.frames).toEqual([]);
    }
  });

  test("is closed when it says nothing", async () => {
    const page = await openPage(daemon.base, null);
    expect(await page.closed).toBe(closeCodes.noHello);
  });

  test("is closed at its next message once the token was written anew", async () => {
    const page = await openPage(daemon.base, daemon.token);
    await page.wait("ready");
    const path = join(stateDir, "token");
    await writeFile(path, "n".repeat(40));
    const id = page.say("still me");
    expect(await page.closed).toBe(closeCodes.badToken);
    await writeFile(path, daemon.token);
    const again = await openPage(daemon.base, daemon.token);
    await again.wait("ready");
    expect(again.of("taken").filter((frame) => frame.id === id)).toEqual([]);
    again.close();
  });
});

test("a daemon stopped and started again still has the whole conversation", async () => {
  const before = await openPage(daemon.base, daemon.token);
  const { n } = await before.wait("ready");
  await daemon.stop();
  expect(await before.closed).toBe(1_001);
  daemon = await start();
  const after = await openPage(daemon.base, daemon.token);
  expect((await after.wait("ready")).n).toBeGreaterThanOrEqual(n);
  await after.wait("said");
  expect(after.of("taken").map(({ text }) => text)).toContain("hello");
  const decided = after.of("decided").map(({ decision }) => decision);
  expect(new Set(decided)).toEqual(new Set(["engage"]));
  after.close();
});

test("a daemon that stops tells its pages the last answer before it lets them go", async () => {
  const folder = newFolder();
  for (let round = 0; round < 3; round += 1) {
    const own = await startDaemon({
      stateDir: folder,
      port: 0,
      workers: 0,
      env: {},
      writeLog: () => undefined,
    });
    const page = await openPage(own.base, own.token);
    await page.wait("ready");
    const before = page.of("said").length;
    page.say(`hello ${round}`);
    await page.wait("turn", ({ state }) => state === "start");
    await own.stop({ drainMs: 10_000 });
    expect([round, page.of("said").length - before]).toEqual([round, 1]);
    expect(page.of("turn").at(-1)).toMatchObject({ state: "end", outcome: "replied" });
  }
});
