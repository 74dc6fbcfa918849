/**
 * What nobody has asked for, said by daemons that are processes of their own on a real Restate: one of them says it,
 * and when that one dies, another.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DaemonNodes, type Node } from "../../support/restate/daemon-nodes.ts";
import { haveRestate } from "../../support/restate/server.ts";
import { rounds } from "../../support/rounds.ts";

const everyMs = 5_000;
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

  test("a conversation at rest is woken by a config that a start has given it", async () => {
    const later = "agent:main:webhook:group:#later";
    const [, second] = world.nodes as [Node, Node];
    await world.speak(second, "#later", "m2");
    const ofLater = () => world.said.filter(({ chat }) => chat === "#later");
    await world.until(() => ofLater().length === 1);
    const heartbeat = { everyMs: 1_000 };
    await world.configure({ conversations: { [later]: { heartbeat } } });
    await world.until(() => ofLater().length >= 3);
    expect(await world.saidAgain(later)).toEqual([]);
  }, 120_000);
});
