/**
 * A whole daemon on Slack that asks with buttons: a press and a slash command count as much as the same
 * words of that person, and no more.
 */
import { expect, onTestFinished, test } from "vitest";
import { startAsking } from "../../../support/daemon/asking-daemon.ts";
import { choosesOnce, grantsOnce, permissionIn } from "../../../support/daemon/asking-steps.ts";
import { shownText } from "../../../support/slack/slack-methods.ts";
import { appToken, botToken, startSlackServer } from "../../../support/slack/slack-server.ts";
import type { Message, Sent, User } from "../../../support/slack/slack-workspace.ts";

interface Elements {
  readonly type: string;
  readonly elements: readonly { readonly text: { readonly text: string } }[];
}

const labelsOf = ({ blocks = [] }: Message): string[] =>
  (blocks as Elements[])
    .filter(({ type }) => type === "actions")
    .flatMap(({ elements }) => elements.map(({ text }) => text.text));

async function started(agent: "acp" | "module") {
  const server = await startSlackServer();
  onTestFinished(() => server.down());
  const { workspace } = server;
  const people = {
    ann: workspace.user("Ann"),
    bob: workspace.user("Bob"),
    cy: workspace.user("Cy"),
  };
  const kitchen = workspace.room("channel", "kitchen", Object.values(people));
  const accounts = { default: { botToken, appToken, apiRoot: server.apiRoot } };
  const allowFrom = [people.ann, people.bob].map(({ id }) => id);
  const channels = { slack: { accounts, groups: { [kitchen.id]: { allowFrom } } } };
  const owner = `slack:${people.ann.id}`;
  // Of a permission, it must count that Bob is no owner.
  const commanders = agent === "acp" ? [`slack:${people.bob.id}`] : [];
  const daemon = await startAsking({ agent, channels, owner, commanders });
  const shown = (part: string) =>
    [...kitchen.messages.values()].filter(
      (message) => message.user === workspace.bot.id && shownText(message).includes(part),
    );
  /** What the app is sent meanwhile. */
  const sentBy = (act: () => void): Sent["payload"] => {
    const { onSent } = workspace;
    let payload: Sent["payload"] = {};
    workspace.onSent = (sent) => {
      payload = sent.payload;
      onSent(sent);
    };
    act();
    workspace.onSent = onSent;
    return payload;
  };
  return {
    server,
    daemon,
    ...people,
    shown,
    /** The bot's first message that has these words. */
    async answer(part: string): Promise<Message> {
      await server.until(() => shown(part).length > 0, part);
      return shown(part)[0] as Message;
    },
    say: (by: User, text: string) => workspace.say(kitchen, by, text).ts,
    ask: (by: User, text: string) =>
      workspace.say(kitchen, by, `<@${workspace.bot.id}> ${text}`).ts,
    /** The id of the press as a message. */
    press(by: User, { ts }: Message, label: string): string {
      const { actions } = sentBy(() => workspace.press(kitchen, ts, by, label));
      const [action] = actions as { action_ts: string }[];
      return `${ts}#${action?.action_ts}`;
    },
    /** The id of the command as a message. */
    pick(by: User, command: string, text: string): string {
      const { trigger_id } = sentBy(() => workspace.command(kitchen, by, command, text));
      return `slash:${trigger_id}`;
    },
  };
}

test("a slash command is one for those whose text is one", async () => {
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
    expect(await daemon.decided(room.pick(who, "/scout", "status"))).toMatchObject({
      decision,
      rule: typed.rule,
    });
    expect(await daemon.decided(room.pick(who, "/status", ""))).toMatchObject({
      decision,
      rule: typed.rule,
    });
  }
});

test("a command that is in no menu is one behind the app's own; words that are none are said to the bot", async () => {
  const { daemon, ann, bob, ...room } = await started("module");
  const given = (who: User, words: string) => daemon.decided(room.pick(who, "/scout", words));
  expect(await given(ann, "approve K7QM deny")).toMatchObject({ decision: "command" });
  expect(await given(ann, "approve")).toMatchObject({ decision: "command" });
  expect(await given(ann, "approve of the plan, please")).toMatchObject({ decision: "engage" });
  expect(await given(ann, "think about dinner")).toMatchObject({ decision: "engage" });
  // He is no owner: to him it is a text, as when he types it.
  expect(await given(bob, "approve K7QM deny")).toMatchObject({ decision: "engage" });
});

test("a permission is given with a button, by an owner, once", async () => {
  const { server, daemon, ann, bob, cy, ...room } = await started("acp");
  // What is in no menu is a command with its slash.
  room.pick(ann, "/scout", "/exec security=allowlist ask=on-miss");
  await room.answer("Exec: security allowlist, ask on-miss.");

  room.ask(ann, "do: ask execute");
  const question = await room.answer("asks an owner");
  expect(shownText(question)).toContain("execute: rm -rf");
  const { id, once, deny } = permissionIn(labelsOf(question));
  for (const [who, decision] of [
    [bob, "engage"],
    [cy, "denied"],
  ] as const) {
    expect(await daemon.decided(room.ask(who, once))).toMatchObject({ decision });
    expect(await daemon.decided(room.press(who, question, once))).toMatchObject({ decision });
  }
  room.say(ann, "/approve");
  await room.answer(`${id}: `);

  await grantsOnce(daemon, room, {
    grantTwice() {
      server.faults.add("event", { kind: "duplicate" });
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
      server.faults.add("event", { kind: "duplicate" });
      return room.press(bob, question, label);
    },
  });
});
