/** An app of Bolt with earshot in it: the example, on a Slack of this process over Socket Mode. */
import { join } from "node:path";
import { App } from "@slack/bolt";
import { expect, onTestFinished, test } from "vitest";
import { createBridge } from "../../src/bridges/bolt.ts";
import { newFolder } from "../support/daemon/folder.ts";
import { root } from "../support/docs.ts";
import { appToken, botToken, startSlackServer } from "../support/slack/slack-server.ts";

interface Example {
  start(options: object): Promise<{ stop(): Promise<void> }>;
}

const patience = { timeout: 60_000 };

test("the example: its own listener, and earshot for what people say", async () => {
  const server = await startSlackServer();
  onTestFinished(() => server.down());
  const { workspace } = server;
  const ann = workspace.user("Ann");
  const kitchen = workspace.room("channel", "kitchen", [ann]);
  const direct = workspace.room("im", "", [ann]);
  const path = join(root, "examples/add-earshot-to-a-bolt-app/app.mjs");
  const { start } = (await import(/* @vite-ignore */ path)) as Example;
  const running = await start({
    app: { token: botToken, appToken, clientOptions: { slackApiUrl: server.apiRoot } },
    stateDir: newFolder(),
    port: 0,
    workers: 0,
    env: {},
    writeLog: () => undefined,
  });
  onTestFinished(() => running.stop());
  await expect.poll(() => server.connections, patience).toBe(1);
  const texts = () => server.called("chat.postMessage").map(({ text }) => String(text));
  workspace.say(direct, ann, "hello");
  await expect.poll(() => texts().join("\n"), patience).toContain("You said: hello");
  workspace.say(kitchen, ann, "nobody in particular");
  workspace.say(kitchen, ann, `<@${workspace.bot.id}> are you there?`);
  await expect.poll(() => texts().length, patience).toBe(2);
  expect(texts()[1]).toContain("are you there?");
});

test("an app without a token of its own is refused with the reason", () => {
  const app = new App({
    authorize: async () => ({ botToken }),
    signingSecret: "8f742231b10e8888",
  });
  const { channel, middleware } = createBridge(app);
  app.use(middleware);
  expect(() => channel.open({ config: {} } as never)).toThrow(/Create it with `token`/);
});
