/**
 * Daemons that are processes of their own on a real Restate, and die: what nobody has asked for is said by one of them,
 * and by another when that one dies; an inspector of any node shows the deliveries of a conversation with the states
 * that they have on the node that makes the sends, and goes on with them when that node dies. Each start of a process
 * is a second of processor time or two, so they are one life of two of them, in which each test begins with those
 * that the one before it has left; the node on which nothing is ever active is in the process of the test.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Opened, openInspect, soon } from "../../support/daemon/inspect-socket.ts";
import { createLiveDaemon, type LiveDaemon } from "../../support/daemon/live-daemon.ts";
import { DaemonNodes, type Node } from "../../support/restate/daemon-nodes.ts";
import { haveRestate } from "../../support/restate/server.ts";
import { rounds } from "../../support/rounds.ts";

const everyMs = 5_000;
/** Entries of the schedule that are due one after the other. */
const notesAtOnce = rounds(6, 10);
const keyOf = (chat: string) => `agent:main:webhook:group:${chat}`;
const [beating, notes] = [keyOf("#beats"), keyOf("#notes")];

describe.skipIf(!haveRestate)("of two nodes that share a Restate", () => {
  let world: DaemonNodes;
  /** On this one nothing is active. */
  let third: LiveDaemon;
  let opened: Opened[] = [];
  beforeAll(async () => {
    world = await DaemonNodes.open(2, {
      conversations: { [beating]: { heartbeat: { everyMs } } },
    });
  });
  afterEach(() => {
    world.answers = () => 204;
    for (const { socket } of opened.splice(0)) socket.close();
  });
  afterAll(() => world?.close());

  const saidIn = (chat: string) => world.said.flatMap((one) => (one.chat === chat ? one.text : []));

  interface Listed {
    readonly schedules: readonly { readonly name: string; readonly last: unknown }[];
    readonly saidBy: string | null;
  }
  const listed = (node: Node) => world.ask<Listed>(node, "/schedules");
  /** Resolves when the node shows no entry any more. */
  const isEmpty = (node: Node) =>
    expect
      .poll(async () => (await listed(node)).schedules, { timeout: 30_000, interval: 250 })
      .toEqual([]);
  const to = { channel: "webhook", chat: { id: "#notes", kind: "group" } };

  /** The node that says the schedule, as both show it. */
  async function sayer(): Promise<Node> {
    for (;;) {
      for (const node of world.running()) {
        const { saidBy } = await listed(node);
        const found = world.running().find(({ port }) => saidBy?.endsWith(`:${port}`));
        if (found !== undefined) return found;
      }
      await new Promise((next) => setTimeout(next, 250));
    }
  }

  test("an agent's entry, ordered on whichever node has its conversation, is said", async () => {
    const [first, second] = world.nodes as [Node, Node];
    await world.speak(second, "#own", "m3", "remind me");
    const own = () => saidIn("#own");
    await world.until(() => own().length === 1);
    expect(own()[0]).toMatch(/^tool: Scheduled: own/u);
    await world.until(() => own().length === 2);
    expect(own()[1]).toMatch(/^turn/u);
    await isEmpty(first);
  });

  test("one says each entry of the schedule, another when it is killed, and nothing twice", async () => {
    for (let round = 0; round < rounds(1, 6); round += 1) {
      const dying = await sayer();
      const other = world.nodes.find((node) => node !== dying) as Node;
      const texts = Array.from({ length: notesAtOnce }, (_, place) => `note ${round} ${place}`);
      const from = Date.now() + 6_000;
      const add = (name: string, place: number, what: "text" | "prompt") =>
        world.ask(place % 2 === 0 ? dying : other, "/schedules", {
          name,
          to,
          at: new Date(from + place * 1_200).toISOString(),
          [what]: name,
        });
      const gone = `note ${round} removed`;
      await add(gone, 3, "text");
      await Promise.all([
        ...texts.map((text, place) => add(text, place, place % 3 === 0 ? "prompt" : "text")),
        world.ask(other, `/schedules/${encodeURIComponent(gone)}/remove`, {}),
      ]);
      expect(await world.command(other, "schedule", "list")).toContain("said by the node ");
      const saidThere = () => new Set(saidIn("#notes"));
      await world.until(() => saidThere().has(texts[2] as string));
      await world.end(dying, round % 3 === 2 ? "SIGTERM" : "SIGKILL");
      await world.until(() => saidThere().has(texts.at(-2) as string));
      expect((await sayer()) === other).toBe(true);
      if (round < rounds(0, 6)) await world.start(dying);
      const ownTexts = texts.filter((_, place) => place % 3 !== 0);
      await world.until(() => ownTexts.every((text) => saidThere().has(text)));
      expect(saidThere()).not.toContain(gone);
      for (const node of world.running()) await isEmpty(node);
    }
    const due = (await world.identities(notes)).filter((identity) =>
      identity.includes("schedule|"),
    );
    expect(due).toHaveLength(rounds(1, 6) * notesAtOnce);
    expect(new Set(due).size).toBe(due.length);
    expect(await world.saidAgain(notes)).toEqual([]);
  });

  interface Frame {
    readonly type: string;
    readonly sessionId: string;
    readonly name?: string;
    readonly event?: { readonly type: string };
    readonly snapshot?: { readonly value: string; readonly context: { readonly detail: unknown } };
  }
  const framesOf = ({ frames }: Opened) =>
    (frames as unknown as readonly Frame[]).filter(({ sessionId }) =>
      sessionId.startsWith("delivery/"),
    );
  /** What caused each state of the deliveries, and the state with its counters and why. */
  const story = (seen: Opened) =>
    framesOf(seen).flatMap(({ type, sessionId, event, snapshot }) =>
      type === "@xstate.snapshot" ? [{ sessionId, event, snapshot }] : [],
    );
  const path = (seen: Opened) =>
    story(seen).map(({ event, snapshot }) => `${event?.type} "${snapshot?.value}"`);

  async function inspect(node: Node | LiveDaemon, wish: string): Promise<Opened> {
    const isLive = "base" in node;
    const base = isLive ? node.base : `http://127.0.0.1:${node.api}`;
    const headers = isLive ? { authorization: `Bearer ${node.token}` } : world.headersFor(node);
    const one = await openInspect(`${base}/inspect/ws${wish}`, { headers });
    opened = [...opened, one];
    return one;
  }
  /** Ends all but one of the nodes, and starts one on which nothing is active. */
  async function alone(): Promise<Node> {
    const [speaking, ...more] = world.running() as [Node, ...Node[]];
    for (const node of more) await world.end(node);
    third = await createLiveDaemon({
      pagesDir: "",
      config: { engine: { ...world.engine, port: 0 } },
    });
    await third.start();
    return speaking;
  }
  const beats = () => world.turns.filter(({ heartbeat }) => heartbeat);
  /** The node that made the first heartbeat. */
  let dead: Node;

  test("each shows how a delivery fails and is tried again as the one that makes it", async () => {
    dead = await alone();
    const before = world.said.length;
    world.answers = () => (world.said.length === before + 1 ? 503 : 204);
    const pears = encodeURIComponent(keyOf("#pears"));
    const [own, there, wordless, foreign] = (await Promise.all([
      inspect(dead, "?words=1"),
      inspect(third, `?words=1&key=${encodeURIComponent(keyOf("#plums"))}`),
      inspect(third, ""),
      inspect(third, `?key=${pears}`),
    ])) as [Opened, Opened, Opened, Opened];
    await world.speak(dead, "#plums", "m4");
    for (const seen of [own, there, wordless])
      await soon(() =>
        expect(path(seen)).toEqual([
          ...['send "sending"', 'defer "waiting"'],
          ...['send "sending"', 'confirm "sent"'],
        ]),
      );
    expect(JSON.stringify(story(own)[1])).toContain("503");
    expect(story(there)).toEqual(story(own));
    const [actor] = framesOf(there);
    expect([actor?.type, actor?.name]).toEqual([
      "@xstate.actor",
      `delivery ${world.said.at(-1)?.id}`,
    ]);
    // Why is text.
    expect(story(wordless)[1]?.snapshot?.context.detail).toMatch(
      /^\(\d+ characters, not shown\)$/u,
    );
    expect(framesOf(foreign)).toEqual([]);
  });

  test("the others show what becomes of a delivery whose node has died, as the one that goes on", async () => {
    await world.speak(dead, "#beats", "m1");
    // The first comes once it rests: quiet for two seconds, and nothing due for two.
    await world.until(() => beats().length === 1);
    // In the middle of its turn, or after it.
    await world.until(() => world.said.some(({ text }) => text.includes(String(beats()[0]?.pid))));
    const said = () => saidIn("#figs").length;
    // The first is never answered.
    world.answers = ({ chat }) =>
      chat === "#figs" && said() === 1 ? new Promise(() => undefined) : 204;
    const figs = `?words=1&key=${encodeURIComponent(keyOf("#figs"))}`;
    const shown = await inspect(third, figs);
    await world.speak(dead, "#figs", "m2");
    await soon(() => expect(path(shown)[0]).toBe('send "sending"'));
    const next = world.nodes.find((node) => node !== dead) as Node;
    await world.start(next);
    const own = await inspect(next, figs);
    await world.end(dead);
    const after = ['doubt "in-doubt"', 'resend "pending"', 'send "sending"', 'confirm "sent"'];
    await soon(() => expect(path(shown)).toEqual(['send "sending"', ...after]));
    await soon(() => expect(path(own).slice(-after.length)).toEqual(after));
    expect(story(shown).slice(-after.length)).toEqual(story(own).slice(-after.length));
    expect(said()).toBe(2);
    await third.close();
  });

  test("one starts each heartbeat, after it rested and after a kill, and nothing comes twice", async () => {
    for (let round = 0; round < rounds(0, 6); round += 1) {
      for (const node of world.nodes) await world.start(node);
      const dying = beats().at(-1)?.pid ?? 0;
      // In every other round in the middle of its turn.
      if (round % 2 === 0)
        await world.until(() => world.said.some(({ text }) => text.includes(String(dying))));
      const node = world.nodeOf(dying);
      if (node !== undefined) await world.end(node);
      const before = beats().length;
      await world.until(() => beats().length > before);
      expect(beats().at(-1)?.pid).not.toBe(dying);
    }
    const first = beats()[0]?.pid;
    // Of the node that goes on, after the kill of the last test, and then once it has rested.
    const later = () => beats().filter(({ pid }) => pid !== first).length;
    const wanted = later() + 2;
    await world.until(() => later() >= wanted);
    const due = (await world.identities(beating)).flatMap((identity) =>
      identity.startsWith("heartbeat|") ? Number(identity.split("|")[1]) : [],
    );
    const gaps = due.slice(1).map((at, place) => at - (due[place] as number));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(everyMs);
    expect(await world.saidAgain(beating)).toEqual([]);
    type Status = { heartbeats: { key: string; at: number }[] };
    for (const node of world.running()) {
      const { heartbeats } = await world.ask<Status>(node, "/status");
      expect(heartbeats).toMatchObject([{ key: beating }]);
    }
  });

  test("a conversation at rest is woken by a config that a start has given it", async () => {
    const later = keyOf("#later");
    const [speaking] = world.running() as [Node];
    await world.speak(speaking, "#later", "m5");
    await world.until(() => saidIn("#later").length === 1);
    const heartbeat = { everyMs: 1_000 };
    // One node or both.
    const started = world.nodes.slice(0, rounds(1, 2));
    await world.configure({ conversations: { [later]: { heartbeat } } }, started);
    await world.until(() => saidIn("#later").length >= 3);
    expect(await world.saidAgain(later)).toEqual([]);
  });
});
