/**
 * What a node makes of things that happen on another: the answer to a visitor of its web chat, files that were taken or
 * made there, and an account whose token the platform refuses, or which only the other one cannot reach.
 */
import type { ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Need } from "../../../src/daemon/api-types/needs.ts";
import { newFolder } from "../../support/daemon/folder.ts";
import { soon, soonAsked } from "../../support/daemon/inspect-socket.ts";
import { group, type LiveDaemon, toScout } from "../../support/daemon/live-daemon.ts";
import { openPage, type Page } from "../../support/daemon/page.ts";
import { openFrames } from "../../support/daemon/room-daemon.ts";
import { freePort } from "../../support/free-port.ts";
import { type DaemonProcess, startProcess } from "../../support/restate/daemon-process.ts";
import { IngressProxy } from "../../support/restate/ingress-proxy.ts";
import { haveRestate } from "../../support/restate/server.ts";
import { createTwoDaemons, type TwoDaemons } from "../../support/restate/two-daemons.ts";
import { Loopback } from "../../support/servers/loopback.ts";
import { sampleFiles } from "../../support/servers/media.ts";
import {
  sampleToken,
  startTelegramServer,
  type TelegramServer,
} from "../../support/servers/telegram.ts";

/** Says what it knows of files that it is sent, sends one when it is asked to, or gives a tale, piece by piece. */
const agentWith = (narrator: string) => `
export default async function* (turn) {
  for (let piece = "?"; turn.said.includes("tale") && piece !== ""; ) {
    piece = await (await fetch("${narrator}")).text();
    yield { type: "text", text: piece };
  }
  if (turn.said.includes("tale")) return;
  if (turn.said.includes("Draw")) return yield { type: "media", source: "chart.png", caption: turn.said };
  const [, id, facts] = turn.prompt.match(/attachment_id:(a[0-9]+-[0-9]+)\\] (.*)/) ?? [];
  if (id === undefined) return yield { type: "text", text: "You said " + turn.said };
  const inside = await turn.callTool("attachment_fetch", { attachment_id: id });
  yield { type: "text", text: "I see " + facts + ". " + inside.slice(0, 300) };
}`;

/** An agent whose program is in that folder. */
const agentsIn = (workspace: string) => {
  const driver = { kind: "module", module: join(workspace, "agent.mjs") };
  return { agents: { list: [{ id: "main", name: "Scout", workspace, driver }] } };
};
const media = { maxBytes: 800_000 };
/** Of a daemon: where it listens, and what clients must send. */
type Reached = Pick<LiveDaemon, "base" | "token">;

describe.skipIf(!haveRestate)("on a node that has neither conversation nor connection", () => {
  let all: TwoDaemons;
  let proxy: IngressProxy;
  let telegram: TelegramServer;
  /** Another, which takes the token; and the way of one node to it. */
  let reached: TelegramServer;
  let way: IngressProxy;
  /** Keeps no copy. */
  let bare: LiveDaemon;
  const workspace = newFolder();
  /** The agent's question for the next piece of its tale. */
  const asking: ((piece: string) => void)[] = [];
  const narrator = new Loopback(async (_request, response) => {
    response.end(await new Promise<string>((answer) => void asking.push(answer)));
  });
  /** Gives it, when it is asked for; an empty one ends the tale. */
  const give = async (piece: string) => {
    await soon(() => expect(asking).toHaveLength(1));
    asking.pop()?.(piece);
  };

  beforeAll(async () => {
    telegram = await startTelegramServer();
    telegram.faults.add("getMe", { kind: "refuse", status: 401 }, 1_000);
    reached = await startTelegramServer();
    way = await IngressProxy.open(reached.apiRoot);
    const account = (apiRoot: string) => ({ botToken: sampleToken, apiRoot, pollSeconds: 1 });
    const channels = (root: string) => {
      const accounts = { home: account(telegram.apiRoot), shop: account(root) };
      return { webhook: {}, telegram: { accounts } };
    };
    await narrator.up();
    writeFileSync(join(workspace, "agent.mjs"), agentWith(narrator.url));
    writeFileSync(join(workspace, "chart.png"), sampleFiles.png);
    all = await createTwoDaemons({
      pagesDir: "",
      config: { ...agentsIn(workspace), media, channels: channels(reached.apiRoot) },
      ofBack: async (ingress) => {
        proxy = await IngressProxy.open(ingress);
        return { ingress: proxy.url, config: { channels: channels(way.url) } };
      },
    });
    await all.back.start();
    await all.front.start();
  });
  afterAll(async () => {
    await all?.close();
    await proxy?.close();
    await way?.close();
    await Promise.all([telegram?.close(), reached?.close(), narrator.down()]);
  });

  const needs = async (node: LiveDaemon) => ((await node.ask("/needs")) as { needs: Need[] }).needs;
  const disconnected = async (node: LiveDaemon) =>
    (await needs(node)).filter(({ kind }) => kind === "connection");
  const shown = async (node: LiveDaemon, account = "home") => {
    type Shown = { account: string; state: string; detail: string | null };
    const { channels } = (await node.ask("/channels")) as {
      channels: { id: string; accounts: Shown[] }[];
    };
    const found = channels.find(({ id }) => id === "telegram")?.accounts;
    return found?.find((one) => one.account === account);
  };
  const retry = (node: LiveDaemon) =>
    fetch(`${node.base}/api/needs/${encodeURIComponent("connection:telegram:home")}/retry`, {
      method: "POST",
      headers: { authorization: `Bearer ${node.token}` },
    });
  const logins = () => telegram.calls("getMe").length;

  test("a refused token: each node asks the platform once, says so, and asks again when it is told to", async () => {
    const { front, back } = all;
    for (const node of [back, front])
      await soonAsked(async () => expect(await disconnected(node)).toHaveLength(1));
    expect(logins()).toBe(2);
    const [need] = await disconnected(front);
    expect(need?.title).toBe("Telegram, account home, is disconnected");
    expect(need?.meaning).toMatch(/token.*try again without a change/u);
    // One that starts later tries as well, and none of the others afterwards.
    bare = await all.another(false);
    await bare.start();
    await soonAsked(async () => expect(await disconnected(bare)).toHaveLength(1));
    expect(logins()).toBe(3);
    expect((await retry(front)).status).toBe(200);
    await soonAsked(async () => expect(await disconnected(front)).toHaveLength(1));
    await soon(() => expect(logins()).toBe(4));
    telegram.faults.clear();
    expect((await retry(back)).status).toBe(200);
    await soonAsked(async () => expect(await shown(back)).toMatchObject({ state: "live" }));
    for (const node of [front, bare]) {
      await soonAsked(async () => expect(await disconnected(node)).toEqual([]));
      expect(await shown(node)).toMatchObject({
        state: "elsewhere",
        detail: expect.stringMatching(/ has it; this node was halted: /u),
      });
    }
    expect(logins()).toBe(5);
  });

  test("a node that does not reach the platform passes the connection on to one that does", async () => {
    const { front, back } = all;
    await soonAsked(async () => expect(await shown(back, "shop")).toMatchObject({ state: "live" }));
    way.take = async () => true;
    await soonAsked(async () => {
      const states = [await shown(front, "shop"), await shown(bare, "shop")];
      expect(states.map((one) => one?.state)).toContain("live");
    });
    await soonAsked(async () =>
      expect(await shown(back, "shop")).toMatchObject({
        state: "elsewhere",
        detail: expect.stringMatching(/ has it; this node could not connect: /u),
      }),
    );
  });

  test("a visitor gets the answer that another node made, also when its report of it was lost", async () => {
    const page = await openPage(all.front.base, all.front.token);
    page.say("Where are the beans?");
    const first = await page.wait("said");
    /** Reports of the other node that were lost. */
    let lost = "";
    proxy.take = async ({ url, body }) => {
      if (url.endsWith("/publish")) lost += body;
      return url.endsWith("/publish");
    };
    page.say("And the turnips?");
    await soon(() => expect(lost).toContain('"out":"send"'));
    expect(page.of("said").at(-1)).toEqual(first);
    proxy.take = async () => false;
    const second = await page.wait("said", ({ n }) => n > first.n);
    expect(page.of("taken").map(({ text }) => text)).toContain("And the turnips?");
    expect(page.of("taken").filter(({ n }) => n < second.n)).toHaveLength(2);
    page.close();
  });

  /** What a page was shown of the turn, in order; what repeats itself once. */
  const story = ({ frames }: Page, turnId: string) =>
    frames
      .flatMap((frame): string[] => {
        if (frame.type === "typing") return [`typing ${frame.on}`];
        if (frame.type === "turn" && frame.turnId === turnId)
          return [`turn ${frame.state} ${frame.outcome ?? frame.key}`];
        if (frame.type === "delta" && frame.turnId === turnId) return ["grows"];
        return frame.type === "said" && frame.turnId === turnId ? [frame.text] : [];
      })
      .filter((one, place, list) => one !== list[place - 1]);
  const acks = (page: Page, id: string) =>
    page.of("ack").flatMap(({ message, emoji, on }) => (message === id ? [[emoji, on]] : []));

  test("an answer grows on the pages of each node, with who writes, its start and end, and acks", async () => {
    const nodes = [all.back, all.front];
    const pages = await Promise.all(nodes.map(({ base, token }) => openPage(base, token)));
    const [here, there] = pages as [Page, Page];
    const { n } = await there.wait("ready");
    const id = there.say("A tale, please.");
    const { turnId } = await there.wait("turn");
    const pieces = ["Once there was a turnip. ", "It grew. ", "Nobody saw it."];
    for (const piece of pieces) {
      await give(piece);
      // The end of a text is shown with what follows.
      const shown = piece.slice(0, -2);
      for (const page of pages) await page.wait("delta", ({ text }) => text.includes(shown));
    }
    const deltas = there.of("delta").map(({ text }) => text);
    expect(here.of("delta").map(({ text }) => text)).toEqual(expect.arrayContaining(deltas));
    for (const [place, text] of deltas.entries())
      expect(text.startsWith(deltas[place - 1] ?? "")).toBe(true);
    // One that is opened now is shown what there is.
    const late = await openPage(all.front.base, all.front.token, n);
    expect(await late.wait("turn")).toMatchObject({ turnId, state: "start" });
    expect((await late.wait("delta")).text).toBe(deltas.at(-1));
    expect((await late.wait("typing")).on).toBe(true);
    await give("");
    for (const page of [...pages, late]) {
      await page.wait("turn", (frame) => frame.state === "end");
      await page.wait("ack", ({ message, on }) => message === id && !on);
    }
    expect(story(here, turnId)).toEqual([
      "typing true",
      "turn start agent:main:main",
      "grows",
      "typing false",
      pieces.join(""),
      "turn end replied",
    ]);
    expect(story(there, turnId)).toEqual(story(here, turnId));
    expect(acks(here, id)).toEqual([
      ["👀", true],
      ["👀", false],
    ]);
    expect(acks(there, id)).toEqual(acks(here, id));
    // A page has the message before the ack on it.
    const order = there.frames.map(({ type }) => type);
    expect(order.indexOf("taken")).toBeLessThan(order.indexOf("ack"));
    for (const page of [...pages, late]) page.close();
  });

  test("an open room shows the words of a turn that runs on another node, as they come", async () => {
    const { front } = all;
    await front.say({ chat: group("#garden"), text: "Scout, a tale for all", ...toScout });
    await give("It was a dark ");
    const garden = "agent:main:webhook:group:#garden";
    // The room may be news to this node.
    const frames = await soonAsked(() => openFrames(front, undefined, garden));
    await frames.until(({ writing }) => writing?.text.startsWith("It was a") === true);
    await give("night in the barn ");
    await frames.until(({ writing }) => writing?.text.includes("night in the") === true);
    await give("");
    await frames.until(({ writing }) => writing === null);
    await frames.close();
  });

  const hashOf = (bytes: string | Uint8Array) => createHash("sha256").update(bytes).digest("hex");
  /** A file of a node, and what is said of it. */
  const fileAt = async ({ base, token }: Reached, id: string, method = "GET") => {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`${base}/api/webchat/uploads/${id}`, { method, headers });
    const facts = ["type", "length", "disposition"].map((of) =>
      answer.headers.get(`content-${of}`),
    );
    const bytes = Buffer.from(await answer.arrayBuffer());
    return {
      status: answer.status,
      facts,
      hash: hashOf(bytes),
      text: bytes.toString("utf8", 0, 500),
    };
  };
  /** The same, once Restate has answered in time. */
  const known = (node: Reached, id: string, method = "GET") =>
    soonAsked(async () => {
      const file = await fileAt(node, id, method);
      expect(file.status, file.text).not.toBe(503);
      return file;
    });
  const upload = async (
    { base, token }: Reached,
    name: string,
    body: string | Buffer<ArrayBuffer>,
  ) => {
    const answer = await fetch(`${base}/api/webchat/uploads?name=${name}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "text/plain" },
      body,
    });
    return { status: answer.status, text: await answer.text() };
  };
  const uploaded = async (node: Reached, name: string, body: string | Buffer<ArrayBuffer>) =>
    (JSON.parse((await upload(node, name, body)).text) as { id: string }).id;
  /** More than two pieces. */
  const long = Buffer.alloc(media.maxBytes, "0123456789 beans\n");

  test("an upload is read by the agent on another node, and by pages of each, byte for byte", async () => {
    const { front, back } = all;
    const page = await openPage(front.base, front.token);
    const id = await uploaded(front, "beans.txt", long);
    const own = await known(front, id);
    expect(own).toMatchObject({ status: 200, hash: hashOf(long) });
    expect(own.facts).toEqual([
      "application/octet-stream",
      String(media.maxBytes),
      "attachment; filename*=UTF-8''beans.txt",
    ]);
    // Not sent yet, and known to all.
    for (const node of [back, bare]) expect(await known(node, id)).toEqual(own);
    page.say("What is in it?", undefined, [id]);
    const answer = await page.wait("said", ({ text }) => text.includes("I see"));
    expect(answer.text).toContain("0123456789 beans");
    const head = { ...own, hash: hashOf(""), text: "" };
    for (const node of [front, back, bare]) expect(await known(node, id, "HEAD")).toEqual(head);
    // It has its message: no other gets it, and nobody deletes it, on whichever node.
    for (const node of [front, back]) {
      const { status } = await fileAt(node, id, "DELETE");
      expect(status).toBe(404);
    }
    const there = await openPage(back.base, back.token);
    const second = there.say("Mine", undefined, [id]);
    expect(await there.wait("error")).toMatchObject({ id: second });
    // One that was uploaded on this node is sent, or deleted, through that one.
    const [sent, dropped] = [
      await uploaded(front, "a.txt", "kale"),
      await uploaded(front, "b", "b"),
    ];
    expect((await fileAt(back, dropped, "DELETE")).status).toBe(200);
    expect((await fileAt(bare, dropped)).status).toBe(404);
    there.say("And in this one?", undefined, [sent]);
    await there.wait("said", ({ text }) => text.includes("kale"));
    expect((await fileAt(front, sent, "DELETE")).status).toBe(404);
    for (const one of [page, there]) one.close();
  });

  test("a file of an answer is on the pages of each node, now and later, and read there", async () => {
    const { front, back } = all;
    const pages = await Promise.all([front, back].map(({ base, token }) => openPage(base, token)));
    pages[0]?.say("Draw it.");
    const drawn = await Promise.all(
      pages.map((page) => page.wait("said", ({ attachments = [] }) => attachments.length > 0)),
    );
    expect(drawn[0]).toEqual(drawn[1]);
    const [file] = drawn[0]?.attachments ?? [];
    expect(file).toMatchObject({ kind: "image", mime: "image/png", name: "chart.png" });
    for (const node of [back, front, bare]) {
      const found = await known(node, file?.id ?? "");
      expect(found).toMatchObject({ status: 200, hash: hashOf(sampleFiles.png) });
      expect(found.facts[0]).toBe("image/png");
    }
    for (const page of pages) page.close();
  });

  test("a file that nobody has is not found, one that is too large is not taken, and without Restate both are said to wait", async () => {
    const { front, back } = all;
    for (const id of ["01unknown", "..%2Ftoken", "UPPER"]) {
      const { status, text } = await fileAt(back, id);
      expect([status, text]).toEqual([404, expect.stringContaining("Cannot find that file")]);
    }
    const tooLarge = await upload(front, "large.txt", Buffer.alloc(media.maxBytes + 1, "a"));
    expect(tooLarge).toMatchObject({
      status: 413,
      text: expect.stringContaining("media.maxBytes"),
    });
    const id = await uploaded(front, "late.txt", "later");
    proxy.take = async ({ url }) => url.startsWith("/files/");
    const away = await fileAt(back, id);
    expect([away.status, away.text]).toEqual([503, expect.stringContaining("Restate")]);
    const refused = await upload(back, "early.txt", "early");
    expect(refused).toMatchObject({ status: 503, text: expect.stringContaining("Restate") });
    const page = await openPage(front.base, front.token);
    const { n } = await page.wait("ready");
    page.say("What is late?", undefined, [id]);
    const answer = await page.wait("said", (frame) => frame.n > n);
    expect(answer.text).toContain("is Restate running?");
    page.close();
    proxy.take = async () => false;
    const [copies, aside] = ["copies", "copies-aside"].map((of) => join(back.stateDir, of));
    renameSync(copies as string, aside as string);
    const uncopied = await fileAt(back, id);
    expect([uncopied.status, uncopied.text]).toEqual([503, expect.stringContaining("ENOENT")]);
    renameSync(aside as string, copies as string);
    expect(await known(back, id)).toMatchObject({ status: 200, text: "later" });
  });

  test("a visitor of a node that keeps no copy is told at once that nothing would be shown there", async () => {
    const page = await openPage(bare.base, bare.token);
    const id = page.say("Is anybody there?");
    const refused = await page.wait("error");
    expect(refused.id).toBe(id);
    expect(refused.message).toMatch(/^Cannot read conversations on this node: it keeps no copy/u);
    expect(refused.message).toContain(all.front.base);
    page.close();
  });

  test("files of a node that was killed for good are there on the others", async () => {
    const { front } = all;
    await all.back.stop();
    const lost: DaemonProcess = { folder: newFolder(), process: null };
    const port = await freePort();
    const own = { ...agentsIn(workspace), media, engine: all.engineOfBack, server: { port } };
    writeFileSync(join(lost.folder, "earshot.json5"), JSON.stringify(own), { mode: 0o600 });
    const world = { logged: "" };
    await startProcess(lost, world);
    const base = `http://127.0.0.1:${port}`;
    const token = readFileSync(join(lost.folder, "token"), "utf8").trim();
    const page = await openPage(base, token);
    const id = await uploaded({ base, token }, "last.txt", long);
    page.say("Draw once more.", undefined, [id]);
    const drawn = await page.wait("said", ({ text }) => text === "Draw once more.");
    const ended = once(lost.process as ChildProcess, "exit");
    lost.process?.kill("SIGKILL");
    await ended;
    rmSync(lost.folder, { recursive: true });
    await all.back.start();
    expect(await known(front, id), world.logged).toMatchObject({
      status: 200,
      hash: hashOf(long),
    });
    const drawing = await known(front, drawn.attachments?.[0]?.id ?? "");
    expect(drawing).toMatchObject({ status: 200, hash: hashOf(sampleFiles.png) });
  });
});
