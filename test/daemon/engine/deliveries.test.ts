/**
 * Three real daemons on a real Restate: an inspector of any of them shows the deliveries of a conversation with the
 * states that they have on the node that makes the sends, and goes on with them when that node dies.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Opened, openInspect, soon } from "../../support/daemon/inspect-socket.ts";
import { DaemonNodes, type Node } from "../../support/restate/daemon-nodes.ts";
import { haveRestate } from "../../support/restate/server.ts";

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

describe.skipIf(!haveRestate)("of three nodes", () => {
  let world: DaemonNodes;
  let opened: Opened[] = [];
  beforeAll(async () => {
    world = await DaemonNodes.open(3, {});
  }, 120_000);
  afterEach(() => {
    world.answers = () => 204;
    for (const { socket } of opened.splice(0)) socket.close();
  });
  afterAll(() => world?.close());

  async function inspect(node: Node, wish: string): Promise<Opened> {
    const url = `http://127.0.0.1:${node.api}/inspect/ws${wish}`;
    const one = await openInspect(url, { headers: world.headersFor(node) });
    opened = [...opened, one];
    return one;
  }
  const keyOf = (chat: string) => encodeURIComponent(`agent:main:webhook:group:${chat}`);
  const senderOf = () => world.nodeOf(world.turns.at(-1)?.pid ?? 0) as Node;

  test("each shows how a delivery fails and is tried again as the one that makes it", async () => {
    world.answers = () => (world.said.length === 1 ? 503 : 204);
    const all = await Promise.all(world.nodes.map((node) => inspect(node, "?words=1")));
    const [first] = world.nodes as readonly [Node, Node, Node];
    const wishes = [`?words=1&key=${keyOf("#plums")}`, "", `?key=${keyOf("#pears")}`];
    const [own, wordless, foreign] = (await Promise.all(
      world.nodes.map((_, place) => inspect(first, wishes[place] ?? "")),
    )) as [Opened, Opened, Opened];
    await world.speak(first, "#plums", "m1");
    for (const seen of [...all, own, wordless])
      await soon(() =>
        expect(path(seen)).toEqual([
          ...['send "sending"', 'defer "waiting"'],
          ...['send "sending"', 'confirm "sent"'],
        ]),
      );
    const sender = all[world.nodes.indexOf(senderOf())] as Opened;
    expect(JSON.stringify(story(sender)[1])).toContain("503");
    for (const seen of [...all, own]) expect(story(seen)).toEqual(story(sender));
    const [actor] = framesOf(own);
    expect([actor?.type, actor?.name]).toEqual([
      "@xstate.actor",
      `delivery ${world.said.at(-1)?.id}`,
    ]);
    // Why is text.
    expect(story(wordless)[1]?.snapshot?.context.detail).toMatch(
      /^\(\d+ characters, not shown\)$/u,
    );
    expect(framesOf(foreign)).toEqual([]);
  }, 120_000);

  test("the others show what becomes of a delivery whose node has died, as the one that goes on", async () => {
    const said = () => world.said.filter(({ chat }) => chat === "#figs").length;
    // The first is never answered.
    world.answers = () => (said() === 1 ? new Promise(() => undefined) : 204);
    const all = await Promise.all(world.nodes.map((node) => inspect(node, "?words=1")));
    await world.speak(world.nodes[0] as Node, "#figs", "m2");
    for (const seen of all) await soon(() => expect(path(seen)[0]).toBe('send "sending"'));
    const dying = senderOf();
    await world.end(dying);
    const others = all.filter((_, place) => world.nodes[place] !== dying);
    for (const seen of others)
      await soon(() =>
        expect(path(seen)).toEqual([
          ...['send "sending"', 'doubt "in-doubt"', 'resend "pending"'],
          ...['send "sending"', 'confirm "sent"'],
        ]),
      );
    const [one, another] = others.map(story);
    expect(another).toEqual(one);
    expect(said()).toBe(2);
  }, 300_000);
});
