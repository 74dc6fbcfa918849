/**
 * A whole daemon on Discord that asks with buttons: a press and a command from the menu count as much as
 * the same words of that person, and no more.
 */
import type { APIMessage, APIUser } from "discord-api-types/v10";
import { expect, onTestFinished, test } from "vitest";
import { startAsking } from "../../../support/daemon/asking-daemon.ts";
import { choosesOnce, grantsOnce, permissionIn } from "../../../support/daemon/asking-steps.ts";
import { sampleToken, startDiscordServer } from "../../../support/discord/discord-server.ts";

interface Button {
  readonly label: string;
  readonly custom_id: string;
}

const buttonsOf = ({ components = [] }: APIMessage): Button[] =>
  (components as unknown as { components: Button[] }[]).flatMap((row) => row.components);

const labelsOf = (message: APIMessage) => buttonsOf(message).map(({ label }) => label);

async function started(agent: "acp" | "module") {
  const server = await startDiscordServer();
  onTestFinished(() => server.down());
  const { world } = server;
  const people = { ann: world.user("Ann"), bob: world.user("Bob"), cy: world.user("Cy") };
  const kitchen = world.channel(world.guild("House"), "kitchen");
  const accounts = { default: { token: sampleToken, apiRoot: server.apiRoot } };
  const allowFrom = [people.ann, people.bob].map(({ id }) => id);
  const channels = { discord: { accounts, groups: { [kitchen.id]: { allowFrom } } } };
  const owner = `discord:${people.ann.id}`;
  // Of a permission, it must count that Bob is no owner.
  const commanders = agent === "acp" ? [`discord:${people.bob.id}`] : [];
  const daemon = await startAsking({ agent, channels, owner, commanders });
  const shown = (part: string) =>
    world.answers(kitchen).filter(({ content }) => content.includes(part));
  return {
    server,
    daemon,
    ...people,
    shown,
    /** The bot's first message that has these words. */
    async answer(part: string): Promise<APIMessage> {
      await server.until(() => shown(part).length > 0, part);
      return shown(part)[0] as APIMessage;
    },
    ask: (by: APIUser, text: string) =>
      world.say(kitchen, by, `<@${world.bot.id}> ${text}`, { mentions: [world.bot] }).id,
    say: (by: APIUser, text: string) => world.say(kitchen, by, text).id,
    reply: (by: APIUser, text: string, replyTo: APIMessage) =>
      world.say(kitchen, by, text, { replyTo }).id,
    /** The id of the press as a message. */
    press(by: APIUser, message: APIMessage, label: string): string {
      const { custom_id } = buttonsOf(message).find((one) => one.label === label) as Button;
      const data = { custom_id, component_type: 2 };
      return `${message.id}#${world.interact(kitchen, by, { type: 3, data, message })}`;
    },
    /** The id of the command as a message. */
    async pick(by: APIUser, name: string): Promise<string> {
      const isOffered = () => world.commands.some((one) => one.name === name);
      await server.until(isOffered, `${name} in the menu`);
      return `slash:${world.interact(kitchen, by, { type: 2, data: { name, options: [] } })}`;
    },
  };
}

test("a command from the menu is one for those whose text is one", async () => {
  const { daemon, ann, bob, cy, ...room } = await started("module");
  for (const [who, decision] of [
    [ann, "command"],
    [bob, "engage"],
    [cy, "denied"],
  ] as const) {
    // A typed command stands alone; a text that is none needs a mention to be heard.
    const say = decision === "command" ? room.say : room.ask;
    const typed = await daemon.decided(say(who, "/status"));
    expect(typed).toMatchObject({ decision });
    expect(await daemon.decided(await room.pick(who, "status"))).toMatchObject({
      decision,
      rule: typed.rule,
    });
  }
});

test("a permission is given with a button, by an owner, once", async () => {
  const { server, daemon, ann, bob, cy, ...room } = await started("acp");
  room.say(ann, "/exec security=allowlist ask=on-miss");
  await room.answer("Exec: security allowlist, ask on-miss.");

  room.ask(ann, "do: ask execute");
  const question = await room.answer("asks an owner");
  expect(question.content).toContain("execute: rm -rf");
  const { id, once, deny } = permissionIn(labelsOf(question));
  for (const [who, decision] of [
    [bob, "engage"],
    [cy, "denied"],
  ] as const) {
    const said = await daemon.decided(room.reply(who, once, question));
    const pressed = await daemon.decided(room.press(who, question, once));
    expect(said.decision).toBe(decision);
    expect(pressed).toMatchObject({ decision, rule: said.rule });
  }
  room.say(ann, "/approve");
  await room.answer(`${id}: `);

  await grantsOnce(daemon, room, {
    grantTwice() {
      server.gateway.copies = 2;
      return room.press(ann, question, once);
    },
    deny: () => room.press(ann, question, deny),
  });
});

test("a choice of the agent is answered with a button, and heard once", async () => {
  const { server, daemon, ann, bob, ...room } = await started("module");
  await choosesOnce(daemon, room, {
    say: (text) => room.ask(ann, text),
    labelsOf,
    pressTwice(question, label) {
      server.gateway.copies = 2;
      return room.press(bob, question, label);
    },
  });
});
