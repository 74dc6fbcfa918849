/**
 * Events that Slack posts: through the whole daemon's door, signed as
 * https://docs.slack.dev/authentication/verifying-requests-from-slack describes it.
 */
import { createHmac } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { openHookDaemon } from "../../../support/daemon/hook-daemon.ts";
import { botToken, startSlackServer } from "../../../support/slack/slack-server.ts";
import type { Sent } from "../../../support/slack/slack-workspace.ts";

const signingSecret = "8f742231b10e8888abcd99yyyzzz85a5";
const path = "/hooks/slack/default";

function headersOf(
  body: string,
  { at = Date.now(), secret = signingSecret, type = "json" } = {},
): Record<string, string> {
  const timestamp = String(Math.floor(at / 1_000));
  const mac = createHmac("sha256", secret).update(`v0:${timestamp}:${body}`).digest("hex");
  return {
    "content-type":
      type === "json" ? "application/json" : "application/x-www-form-urlencoded; charset=utf-8",
    "x-slack-request-timestamp": timestamp,
    "x-slack-signature": `v0=${mac}`,
  };
}

async function rig() {
  const server = await startSlackServer();
  onTestFinished(() => server.down());
  const { workspace } = server;
  const ann = workspace.user("Ann");
  const kitchen = workspace.room("channel", "kitchen", [ann]);
  const account = { botToken, signingSecret, apiRoot: server.apiRoot };
  const slack = {
    groups: { [kitchen.id]: {} },
    allowFrom: [ann.id],
    accounts: { default: account },
  };
  const door = await openHookDaemon({ channels: { slack } });
  const sent: Sent[] = [];
  workspace.onSent = (one) => void sent.push(one);
  const live = async () => {
    const { channels } = (await (await door.api("/api/channels")).json()) as {
      channels: { id: string; accounts: { state: string }[] }[];
    };
    return channels.find(({ id }) => id === "slack")?.accounts[0]?.state;
  };
  await expect.poll(live, { timeout: 10_000 }).toBe("live");
  const post = (body: string, headers = headersOf(body)) => door.post(path, body, headers);
  /** Posts what the app was sent last. */
  const postLast = () => post(JSON.stringify(sent.at(-1)?.payload));
  return { server, workspace, ann, kitchen, door, sent, post, postLast };
}

test("the challenge is answered, events are durable when they are answered, repeats are taken once", async () => {
  const { workspace, ann, kitchen, door, sent, post, postLast } = await rig();
  const challenge = JSON.stringify({
    token: "x",
    challenge: "3eZbrw1aB",
    type: "url_verification",
  });
  const answered = await post(challenge);
  expect([answered.status, await answered.text()]).toEqual([200, "3eZbrw1aB"]);
  const before = door.rows();
  workspace.say(kitchen, ann, "hello");
  expect((await postLast()).status).toBe(200);
  expect(door.rows()).toBe(before + 1);
  // Slack sends it again a minute later, with a new signature.
  const body = JSON.stringify(sent.at(-1)?.payload);
  const again = { ...headersOf(body, { at: Date.now() - 2_000 }), "x-slack-retry-num": "1" };
  expect((await post(body, again)).status).toBe(200);
  expect(door.rows()).toBe(before + 1);
});

test("what is not signed, wrongly signed or old is refused, and nothing becomes of it", async () => {
  const { workspace, ann, kitchen, door, sent, post } = await rig();
  workspace.say(kitchen, ann, "let me in");
  const body = JSON.stringify(sent.at(-1)?.payload);
  const good = headersOf(body);
  const before = door.rows();
  const bad: Record<string, string>[] = [
    { "content-type": "application/json" },
    { ...good, "x-slack-signature": good["x-slack-signature"]?.replace("v0=", "v1=") ?? "" },
    { ...good, "x-slack-request-timestamp": String(Math.floor(Date.now() / 1_000) - 1) },
    headersOf(body, { secret: "another-secret-of-32-characters!" }),
    headersOf(body, { at: Date.now() - 301_000 }),
    headersOf(body, { at: Date.now() + 302_000 }),
    headersOf(`${body} `),
  ];
  for (const headers of bad) expect((await post(body, headers)).status).toBe(401);
  expect(door.rows()).toBe(before);
  const broken = "{not json";
  expect((await post(broken)).status).toBe(400);
  expect((await post("[]")).status).toBe(400);
  expect((await post(JSON.stringify({ type: "event_callback", event: 7 }))).status).toBe(200);
  expect(door.rows()).toBe(before);
});

test("the longest message, twice in one edit with its blocks, is not too large", async () => {
  const { workspace, ann, kitchen, door, postLast } = await rig();
  const text = "é".repeat(40_000);
  const blocks = [
    {
      type: "rich_text",
      elements: [{ type: "rich_text_section", elements: [{ type: "text", text }] }],
    },
  ];
  const before = door.rows();
  const { ts } = workspace.say(kitchen, ann, text, { blocks });
  expect((await postLast()).status).toBe(200);
  workspace.edit(kitchen, ts, `${text.slice(1)}.`);
  expect((await postLast()).status).toBe(200);
  expect(door.rows()).toBe(before + 2);
});

test("a slash command and a button come as forms", async () => {
  const { workspace, ann, kitchen, door, sent, post } = await rig();
  const before = door.rows();
  workspace.command(kitchen, ann, "/scout", "hello & good day");
  const form = new URLSearchParams(sent.at(-1)?.payload as Record<string, string>).toString();
  const command = await post(form, headersOf(form, { type: "form" }));
  expect([command.status, await command.text()]).toEqual([200, ""]);
  expect(door.rows()).toBe(before + 1);
  const question = workspace.store(kitchen, workspace.bot, "Soup?", {
    blocks: [
      {
        type: "actions",
        elements: [
          { type: "button", action_id: "earshot:0", text: { type: "plain_text", text: "Yes" } },
        ],
      },
    ],
  });
  workspace.press(kitchen, question.ts, ann, "Yes");
  const press = new URLSearchParams({
    payload: JSON.stringify(sent.at(-1)?.payload),
  }).toString();
  expect((await post(press, headersOf(press, { type: "form" }))).status).toBe(200);
  expect(door.rows()).toBe(before + 2);
});

test("when Slack sends something again, what it has dropped before is read back, in its place", async () => {
  const { server, workspace, ann, kitchen, door, sent, post, postLast } = await rig();
  const before = door.rows();
  workspace.say(kitchen, ann, "one");
  expect((await postLast()).status).toBe(200);
  workspace.say(kitchen, ann, "two, which never arrives");
  workspace.say(kitchen, ann, "three");
  const body = JSON.stringify(sent.at(-1)?.payload);
  const again = {
    ...headersOf(body),
    "x-slack-retry-num": "2",
    "x-slack-retry-reason": "http_error",
  };
  const asked = server.called("conversations.history").length;
  expect((await post(body, again)).status).toBe(200);
  expect(door.rows()).toBe(before + 3);
  // Once is enough for a while.
  workspace.say(kitchen, ann, "four");
  const more = JSON.stringify(sent.at(-1)?.payload);
  const repeated = { ...headersOf(more), "x-slack-retry-num": "1" };
  expect((await post(more, repeated)).status).toBe(200);
  expect(door.rows()).toBe(before + 4);
  expect(server.called("conversations.history")).toHaveLength(asked + 1);
});
