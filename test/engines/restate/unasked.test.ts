/**
 * What nobody has asked for, said by daemons that are processes of their own on a real Restate: one of them says it,
 * and when that one dies, another.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DaemonNodes, type Node } from "../../support/restate/daemon-nodes.ts";
import { haveRestate } from "../../support/restate/server.ts";
import { rounds } from "../../support/rounds.ts";

const everyMs = 5_000;
/** Entries of the schedule that are due one after the other. */
const notesAtOnce = rounds(6, 10);
const beating = "agent:main:webhook:group:#beats";

describe.skipIf(!haveRestate)("of two nodes that share a Restate", () => {
  let world: DaemonNodes;
  beforeAll(async () => {
    world = await DaemonNodes.open(2, {
      conversations: { [beating]: { heartbeat: { everyMs } } },
    });
  }, 120_000);
  afterAll(() => world?.close());

  const beats = () => world.turns.filter(({ heartbeat }) => heartbeat);

  test("one starts each heartbeat, after it rested and after a kill, and nothing comes twice", async () => {
    const [first] = world.nodes as [Node, Node];
    await world.speak(first, "#beats", "m1");
    // The next comes once it rests: quiet for two seconds, and nothing due for two.
    await world.until(() => beats().length === 1);
    for (let round = 0; round < rounds(1, 6); round += 1) {
      const dying = beats().at(-1)?.pid ?? 0;
      // In every other round in the middle of its turn.
      if (round % 2 === 0)
        await world.until(() => world.said.some(({ text }) => text.includes(String(dying))));
      const node = world.nodeOf(dying) as Node;
      await world.end(node);
      const before = beats().length;
      await world.until(() => beats().length > before);
      expect(beats().at(-1)?.pid).not.toBe(dying);
      await world.start(node);
    }
    const wanted = beats().length + 1;
    await world.until(() => beats().length >= wanted);
    const due = (await world.identities(beating)).flatMap((identity) =>
      identity.startsWith("heartbeat|") ? Number(identity.split("|")[1]) : [],
    );
    const gaps = due.slice(1).map((at, place) => at - (due[place] as number));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(everyMs);
    expect(await world.saidAgain(beating)).toEqual([]);
    type Status = { heartbeats: { key: string; at: number }[] };
    for (const node of world.nodes) {
      const { heartbeats } = await world.ask<Status>(node, "/status");
      expect(heartbeats).toMatchObject([{ key: beating }]);
    }
  }, 300_000);

  interface Listed {
    readonly schedules: readonly { readonly name: string; readonly last: unknown }[];
    readonly saidBy: string | null;
  }
  const listed = (node: Node) => world.ask<Listed>(node, "/schedules");
  const to = { channel: "webhook", chat: { id: "#notes", kind: "group" } };
  const notes = "agent:main:webhook:group:#notes";
  const saidThere = () =>
    new Set(world.said.flatMap((one) => (one.chat === "#notes" ? one.text : [])));

  /** The node that says the schedule, as both show it. */
  async function sayer(): Promise<Node> {
    for (;;) {
      for (const node of world.running()) {
        const { saidBy } = await listed(node);
        const found = world.running().find(({ port }) => saidBy?.endsWith(`:${port}`));
        if (found !== undefined) return found;
      }
      await new Promise((next) => setTimeout(next, 200));
    }
  }

  test("an agent's entry, ordered on whichever node has its conversation, is said", async () => {
    const [first, second] = world.nodes as [Node, Node];
    await world.speak(second, "#own", "m3", "remind me");
    const own = () => world.said.flatMap(({ chat, text }) => (chat === "#own" ? text : []));
    await world.until(() => own().length === 1);
    expect(own()[0]).toMatch(/^tool: Scheduled: own/u);
    await world.until(() => own().length === 2);
    expect(own()[1]).toMatch(/^turn/u);
    await expect
      .poll(async () => (await listed(first)).schedules, { timeout: 30_000, interval: 200 })
      .toEqual([]);
  }, 60_000);

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
      await world.until(() => saidThere().has(texts[2] as string));
      await world.end(dying, round % 3 === 2 ? "SIGTERM" : "SIGKILL");
      await world.until(() => saidThere().has(texts.at(-2) as string));
      expect((await sayer()) === other).toBe(true);
      if (round < rounds(0, 6)) await world.start(dying);
      const ownTexts = texts.filter((_, place) => place % 3 !== 0);
      await world.until(() => ownTexts.every((text) => saidThere().has(text)));
      expect(saidThere()).not.toContain(gone);
      for (const node of world.running())
        await expect
          .poll(async () => (await listed(node)).schedules, { timeout: 30_000, interval: 200 })
          .toEqual([]);
    }
    const due = (await world.identities(notes)).filter((identity) =>
      identity.includes("schedule|"),
    );
    expect(due).toHaveLength(rounds(1, 6) * notesAtOnce);
    expect(new Set(due).size).toBe(due.length);
    expect(await world.saidAgain(notes)).toEqual([]);
  }, 600_000);

  test("a conversation at rest is woken by a config that a start has given it", async () => {
    const later = "agent:main:webhook:group:#later";
    const [speaking] = world.running() as [Node];
    await world.speak(speaking, "#later", "m2");
    const ofLater = () => world.said.filter(({ chat }) => chat === "#later");
    await world.until(() => ofLater().length === 1);
    const heartbeat = { everyMs: 1_000 };
    // One node or both.
    const started = world.nodes.slice(0, rounds(1, 2));
    await world.configure({ conversations: { [later]: { heartbeat } } }, started);
    await world.until(() => ofLater().length >= 3);
    expect(await world.saidAgain(later)).toEqual([]);
  });
});
