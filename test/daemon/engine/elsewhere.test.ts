/**
 * What a node makes of things that happen on another: the answer to a visitor of its web chat, and an account whose
 * token the platform refuses, or which only the other one cannot reach.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Need } from "../../../src/daemon/api-types/needs.ts";
import { newFolder } from "../../support/daemon/folder.ts";
import { soon } from "../../support/daemon/inspect-socket.ts";
import { group, type LiveDaemon, toScout } from "../../support/daemon/live-daemon.ts";
import { openPage, type Page } from "../../support/daemon/page.ts";
import { openFrames } from "../../support/daemon/room-daemon.ts";
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
  if (turn.said.includes("Draw")) return yield { type: "media", source: "chart.png" };
  const [, id, facts] = turn.prompt.match(/attachment_id:(a[0-9]+-[0-9]+)\\] (.*)/) ?? [];
  if (id === undefined) return yield { type: "text", text: "You said " + turn.said };
  const inside = await turn.callTool("attachment_fetch", { attachment_id: id });
  yield { type: "text", text: "I see " + facts + ". " + inside };
}`;

describe.skipIf(!haveRestate)("on a node that has neither conversation nor connection", () => {
  let all: TwoDaemons;
  let proxy: IngressProxy;
  let telegram: TelegramServer;
  /** Another, which takes the token; and the way of one node to it. */
  let reached: TelegramServer;
  let way: IngressProxy;
  /** Keeps no copy. */
  let bare: LiveDaemon;
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
    const folder = newFolder();
    await narrator.up();
    writeFileSync(join(folder, "agent.mjs"), agentWith(narrator.url));
    writeFileSync(join(folder, "chart.png"), sampleFiles.png);
    const driver = { kind: "module", module: join(folder, "agent.mjs") };
    const agents = { list: [{ id: "main", name: "Scout", workspace: folder, driver }] };
    all = await createTwoDaemons({
      pagesDir: "",
      config: { agents, channels: channels(reached.apiRoot) },
      ofBack: async (ingress) => {
        proxy = await IngressProxy.open(ingress);
        return { ingress: proxy.url, config: { channels: channels(way.url) } };
      },
    });
    await all.back.start();
    await all.front.start();
  }, 120_000);
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
      await soon(async () => expect(await disconnected(node)).toHaveLength(1));
    expect(logins()).toBe(2);
    const [need] = await disconnected(front);
    expect(need?.title).toBe("Telegram, account home, is disconnected");
    expect(need?.meaning).toMatch(/token.*try again without a change/u);
    // One that starts later tries as well, and none of the others afterwards.
    bare = await all.another(false);
    await bare.start();
    await soon(async () => expect(await disconnected(bare)).toHaveLength(1));
    expect(logins()).toBe(3);
    expect((await retry(front)).status).toBe(200);
    await soon(async () => expect(await disconnected(front)).toHaveLength(1));
    await soon(() => expect(logins()).toBe(4));
    telegram.faults.clear();
    expect((await retry(back)).status).toBe(200);
    await soon(async () => expect(await shown(back)).toMatchObject({ state: "live" }));
    for (const node of [front, bare]) {
      await soon(async () => expect(await disconnected(node)).toEqual([]));
      expect(await shown(node)).toMatchObject({
        state: "elsewhere",
        detail: expect.stringMatching(/ has it; this node was halted: /u),
      });
    }
    expect(logins()).toBe(5);
  });

  test("a node that does not reach the platform passes the connection on to one that does", async () => {
    const { front, back } = all;
    await soon(async () => expect(await shown(back, "shop")).toMatchObject({ state: "live" }));
    way.take = async () => true;
    await soon(async () => {
      const states = [await shown(front, "shop"), await shown(bare, "shop")];
      expect(states.map((one) => one?.state)).toContain("live");
    });
    await soon(async () =>
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
    const frames = await openFrames(front, undefined, "agent:main:webhook:group:#garden");
    await frames.until(({ writing }) => writing?.text.startsWith("It was a") === true);
    await give("night in the barn ");
    await frames.until(({ writing }) => writing?.text.includes("night in the") === true);
    await give("");
    await frames.until(({ writing }) => writing === null);
    await frames.close();
  });

  test("files stay where they are: the agent is told of one that it cannot read, a visitor sees the name of another", async () => {
    const { base, token } = all.front;
    const page = await openPage(base, token);
    const uploaded = await fetch(`${base}/api/webchat/uploads?name=beans.txt`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "text/plain" },
      body: "broad beans",
    });
    const { id } = (await uploaded.json()) as { id: string };
    page.say("What is in it?", undefined, [id]);
    const answer = await page.wait("said", ({ text }) => text.includes("I see"));
    expect(answer.text).toContain("not stored on this node, or no longer");
    page.say("Draw it.");
    const drawn = await page.wait("said", ({ text }) => text.includes("chart.png"));
    expect(drawn.attachments).toBe(undefined);
    page.close();
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
});
