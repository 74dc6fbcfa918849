/**
 * `earshot outbox` beside a running daemon on a Telegram that refuses one part and loses the answer
 * to another: what is listed, sent again and given up, and with which exit code.
 */
import { expect, test } from "vitest";
import { telegramDaemon } from "../../../support/telegram/telegram-daemon.ts";

const config = {
  agents: { list: [{ id: "main", driver: { kind: "scripted" } }] },
  messages: { inbound: { debounceMs: 50, debounceMaxMs: 200 } },
  stream: { mode: "off" },
  turn: { onInDoubt: "hold" },
};
interface Listed {
  readonly id: string;
  readonly state: string;
  readonly kind: string;
  readonly error: string | null;
  readonly body: { readonly text?: string };
}

test("a dead part and one in doubt are listed, sent again, given up", async () => {
  const daemon = await telegramDaemon(config);
  const { server, rooms } = daemon;
  await daemon.startHere();
  const rows = async (state: string) => {
    const { outbox } = await daemon.get<{ outbox: Listed[] }>(`/api/outbox?state=${state}`);
    return outbox.filter(({ kind }) => kind === "reply");
  };
  const one = async (state: string): Promise<Listed> => {
    await expect.poll(() => rows(state), { timeout: 60_000 }).toHaveLength(1);
    return (await rows(state))[0] as Listed;
  };
  expect((await daemon.run("outbox")).out.trim()).toBe("no parts");

  // Refused for good: asked once, never again.
  server.faults.add("sendMessage", { kind: "refuse", status: 403 });
  daemon.say("ann", "hello");
  const dead = await one("dead");
  const table = await daemon.run("outbox", "list");
  expect(table.code).toBe(0);
  expect(table.out).toMatch(new RegExp(`${dead.id} +dead +1 +agent:main:main`));
  expect(table.out).toContain("403");
  const json = await daemon.run("outbox", "list", "--state", "dead", "--json");
  const listed = JSON.parse(json.out) as Listed[];
  expect(listed.find(({ id }) => id === dead.id)).toMatchObject({ body: { text: "ok" } });
  expect(server.calls("sendMessage")).toHaveLength(1);

  // The operator insists.
  const again = await daemon.run("outbox", "resend", dead.id, "--json");
  expect([again.code, JSON.parse(again.out)]).toMatchObject([0, { done: true }]);
  await server.until(() => server.world.answers(rooms.ann).length === 1, "the answer");
  expect((await one("sent")).id).toBe(dead.id);
  const tooOften = await daemon.run("outbox", "resend", dead.id);
  expect([tooOften.code, tooOften.out]).toEqual([1, ""]);
  expect(tooOften.err).toContain("sent already");

  // Sent, and the answer lost: held, as the config says, and given up by the operator.
  server.faults.add("sendMessage", { kind: "reset", done: true });
  daemon.say("bob", "hello");
  const doubt = await one("in-doubt");
  expect((await daemon.run("outbox")).out).toMatch(/ in-doubt +1 /);
  expect((await daemon.run("outbox", "drop", doubt.id)).code).toBe(0);
  expect(await rows("in-doubt")).toEqual([]);
  expect((await daemon.run("outbox", "drop", doubt.id)).code).toBe(1);
  await daemon.quiet();
  expect(server.world.answers(rooms.bob)).toHaveLength(1);
  expect(server.calls("sendMessage")).toHaveLength(3);
  expect(daemon.reacted()).toEqual([]);

  expect((await daemon.run("outbox", "resend", "nobody:0")).code).toBe(1);
  const unknown = await daemon.run("outbox", "list", "--state", "lost");
  expect(unknown.code).toBe(2);
  expect(unknown.err.trim().split("\n")).toHaveLength(1);
  await daemon.stop();
  expect((await daemon.run("outbox")).code).toBe(2);
});
