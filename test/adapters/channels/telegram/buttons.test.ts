/**
 * A whole daemon on Telegram that asks for permission with buttons: a press counts as much as the same words
 * of that person, and no more.
 */
import type { Message, User } from "@grammyjs/types";
import { expect, onTestFinished, test } from "vitest";
import { startAsking } from "../../../support/daemon/asking-daemon.ts";
import { grantsOnce, permissionIn } from "../../../support/daemon/asking-steps.ts";
import { sampleToken, startTelegramServer } from "../../../support/servers/telegram.ts";

interface Button {
  readonly text: string;
  readonly callback_data: string;
}

const buttonsOf = (message: Message): Button[] =>
  (
    (message as { reply_markup?: { inline_keyboard: Button[][] } }).reply_markup?.inline_keyboard ??
    []
  ).flat();

test("a permission is given with a button, by an owner, once", async () => {
  const server = await startTelegramServer();
  onTestFinished(() => server.close());
  const { world } = server;
  const people = { ann: world.user("Ann"), bob: world.user("Bob"), cy: world.user("Cy") };
  const { ann, bob, cy } = people;
  const kitchen = world.group("Kitchen", Object.values(people));
  const account = { botToken: sampleToken, apiRoot: server.apiRoot, pollSeconds: 5 };
  const allowed = { allowFrom: [String(ann.id), String(bob.id)] };
  const daemon = await startAsking({
    agent: "acp",
    channels: {
      telegram: { accounts: { default: account }, groups: { [String(kitchen.chat.id)]: allowed } },
    },
    owner: `telegram:${ann.id}`,
    // It must count that he is no owner.
    commanders: [`telegram:${bob.id}`],
  });
  const shown = (part: string) =>
    world.answers(kitchen).filter((message) => (message.text ?? "").includes(part));
  const answer = async (part: string) => {
    await server.until(() => shown(part).length > 0, part);
    return shown(part)[0] as Message;
  };
  const say = (by: User, text: string) => String(world.say(kitchen, by, text).message_id);
  let presses = 0;
  const press = (by: User, message: Message, label: string): string => {
    const { callback_data = "" } = buttonsOf(message).find(({ text }) => text === label) ?? {};
    presses += 1;
    world.press(message, by, callback_data, String(presses));
    return `${message.message_id}#${presses}`;
  };

  say(ann, "/exec security=allowlist ask=on-miss");
  await answer("Exec: security allowlist, ask on-miss.");
  say(ann, `@${world.bot.username} do: ask execute`);
  const question = await answer("asks an owner");
  expect(question.text).toContain("execute: rm -rf");
  const { id, once, deny } = permissionIn(buttonsOf(question).map(({ text }) => text));
  for (const [who, decision] of [
    [bob, "engage"],
    [cy, "denied"],
  ] as const)
    expect(await daemon.decided(press(who, question, once))).toMatchObject({ decision });
  say(ann, "/approve");
  await answer(`${id}: `);

  const room = { shown, answer };
  await grantsOnce(daemon, room, {
    grantTwice() {
      const granted = press(ann, question, once);
      // Telegram sends it again.
      presses -= 1;
      press(ann, question, once);
      return granted;
    },
    deny: () => press(ann, question, deny),
  });
});
