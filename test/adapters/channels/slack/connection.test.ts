/**
 * The socket and its faults: what is waited out, what ends the account, and when Slack may forget an event.
 */
import { expect, test } from "vitest";
import { slackRig } from "../../../support/slack/slack-rig.ts";

test("an event is acknowledged when it is durable, not before", async () => {
  const { server, workspace, ann, kitchen, open } = await slackRig();
  const channel = open();
  await channel.live();
  channel.refuseDeliveries(1);
  const { ts } = workspace.say(kitchen, ann, "keep it");
  await expect
    .poll(() => channel.logs.some(({ event }) => event === "slack.intake-closed"))
    .toBe(true);
  expect(server.acknowledged).toEqual([]);
  await channel.message(ts);
  await expect.poll(() => server.acknowledged.length).toBe(1);
});

test("what says nothing here is acknowledged as well, and kinds that nobody knows are named once", async () => {
  const { server, workspace, ann, kitchen, open } = await slackRig();
  const channel = open();
  await channel.live();
  for (const type of ["file_shared", "file_shared", "app_home_opened"])
    workspace.event({ type, user: ann.id, channel: kitchen.id });
  await expect.poll(() => server.acknowledged.length).toBe(3);
  const named = channel.logs.filter(({ event }) => event === "slack.event-ignored");
  expect(named.map(({ fields }) => fields)).toEqual([
    { kind: "file_shared" },
    { kind: "app_home_opened" },
  ]);
  expect(channel.events()).toEqual([]);
});

test("sockets that break before they are ready, and a rate limit, are waited out", async () => {
  const { server, workspace, ann, kitchen, open } = await slackRig();
  server.faults.add("hello", { kind: "reset" });
  server.faults.add("apps.connections.open", { kind: "refuse", status: 429, retryAfter: 1 });
  server.faults.add("apps.connections.open", { kind: "refuse", status: 500 });
  const channel = open();
  await channel.live();
  await channel.message(workspace.say(kitchen, ann, "hello").ts);
  const details = channel.states.filter(({ state }) => state === "backing-off");
  expect(details.map(({ detail }) => detail)).toEqual([
    expect.stringContaining("it asks to wait 1 s"),
    expect.stringContaining("its server failed (HTTP 500)"),
    expect.stringContaining("it closed before it was ready"),
  ]);
  const [first, second] = server.calls.filter(({ method }) => method === "apps.connections.open");
  expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(990);
});

test.each([
  ["an app token without its scope", "apps.connections.open", "connections:write"],
  ["a bot token that was refused", "auth.test", "users:read"],
])("%s ends the account and is named", async (_what, method, scope) => {
  const { server, open } = await slackRig();
  server.missing.set(method, scope);
  const error = await open().ended();
  expect(error).toMatchObject({ disposition: "terminal", code: "EAR_CHANNEL_AUTH" });
  expect((error as Error).message).toContain(`the scope ${scope} is missing`);
});

test("Socket Mode that was turned off ends the account when Slack says so", async () => {
  const { server, open } = await slackRig();
  const channel = open();
  await channel.live();
  server.failures.set("apps.connections.open", ["app_not_found"]);
  server.refresh();
  expect(await channel.ended()).toMatchObject({
    disposition: "terminal",
    message: expect.stringContaining("app_not_found"),
  });
});

test("it stops at once while it reads what was said before, and reads it the next time", async () => {
  const { server, workspace, ann, kitchen, open } = await slackRig();
  const first = open();
  await first.live();
  await first.message(workspace.say(kitchen, ann, "before").ts);
  await first.stop();
  const { ts } = workspace.say(kitchen, ann, "between");
  server.faults.add("conversations.history", { kind: "hang" });
  const second = open({}, first.cursors);
  await server.until(() => server.called("conversations.history").length > 0, "the reading");
  const began = performance.now();
  await second.stop();
  expect(performance.now() - began).toBeLessThan(2_000);
  const third = open({}, first.cursors);
  await third.message(ts);
});

test("more than may wait is read from the history instead, in order, and nothing is lost", async () => {
  const { workspace, ann, kitchen, open } = await slackRig();
  const channel = open();
  await channel.live();
  channel.refuseDeliveries(3);
  const said = Array.from({ length: 600 }, (_, n) => workspace.say(kitchen, ann, `line ${n}`).ts);
  await channel.message(said.at(-1) as string);
  await expect.poll(() => channel.identities().length, { timeout: 10_000 }).toBe(said.length);
  expect(channel.logs.some(({ event }) => event === "slack.intake-full")).toBe(true);
  expect(channel.identities()).toEqual(said);
});
