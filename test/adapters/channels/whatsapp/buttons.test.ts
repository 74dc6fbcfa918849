/**
 * A whole daemon on WhatsApp that asks with buttons, which only direct chats have: a press counts as much as
 * the same words of that person, and no more. A group is asked in words.
 */
import { expect, onTestFinished, test } from "vitest";
import { startAsking } from "../../../support/daemon/asking-daemon.ts";
import { choosesOnce, grantsOnce, permissionIn } from "../../../support/daemon/asking-steps.ts";
import {
  accessToken,
  appSecret,
  ownNumber,
  phoneNumberId,
  type SentMessage,
  startWhatsAppServer,
  verifyToken,
} from "../../../support/whatsapp/whatsapp-server.ts";
import { group } from "../../../support/whatsapp/whatsapp-world.ts";

interface Reply {
  readonly id: string;
  readonly title: string;
}

interface Interactive {
  readonly body: { readonly text: string };
  readonly action: { readonly buttons: readonly { readonly reply: Reply }[] };
}

const ann = "16505551234";
const bob = "16505559876";

const askedIn = ({ body }: SentMessage) => body.interactive as Interactive | undefined;
const wordsOf = (message: SentMessage): string =>
  askedIn(message)?.body.text ?? (message.body.text as { body: string } | undefined)?.body ?? "";
const repliesOf = (message: SentMessage): Reply[] =>
  (askedIn(message)?.action.buttons ?? []).map(({ reply }) => reply);
const labelsOf = (message: SentMessage) => repliesOf(message).map(({ title }) => title);

async function started(agent: "acp" | "module") {
  const server = await startWhatsAppServer();
  onTestFinished(() => server.close());
  const { apiRoot } = server;
  const account = { phoneNumberId, accessToken, appSecret, verifyToken, apiRoot };
  const channels = { whatsapp: { accounts: { default: account } } };
  // Of a permission, it must count that Bob is no owner.
  const people = { owner: `whatsapp:${ann}`, commanders: [`whatsapp:${bob}`] };
  const daemon = await startAsking({ agent, channels, ...people });
  server.callback = `${daemon.base}/hooks/whatsapp/default`;
  const shown = (to: string, part: string) =>
    server.sent.filter((one) => one.body.to === to && wordsOf(one).includes(part));
  /** The number's first message to somebody that has these words. */
  const answer = async (to: string, part: string): Promise<SentMessage> => {
    await expect.poll(() => shown(to, part).length).toBeGreaterThan(0);
    return shown(to, part)[0] as SentMessage;
  };
  const post = (from: string, message: object): string => {
    const id = server.wamid();
    const timestamp = String(Math.floor(Date.now() / 1_000));
    const contacts = [{ wa_id: from, profile: { name: from === ann ? "Ann" : "Bob" } }];
    server.post({ contacts, messages: [{ from, id, timestamp, ...message }] });
    return id;
  };
  return {
    server,
    daemon,
    shown,
    answer,
    /** The direct chat with somebody. */
    of: (to: string) => ({
      shown: (part: string) => shown(to, part),
      answer: (part: string) => answer(to, part),
    }),
    say: (from: string, body: string, more: object = {}) =>
      post(from, { type: "text", text: { body }, ...more }),
    press(from: string, asked: SentMessage, label: string): string {
      const button_reply = repliesOf(asked).find(({ title }) => title === label);
      const interactive = { type: "button_reply", button_reply };
      const context = { from: ownNumber, id: asked.id };
      return post(from, { type: "interactive", interactive, context });
    },
  };
}

const order = "/exec security=allowlist ask=on-miss";
const idIn = (text: string) => /\/approve (\w{4}) once/.exec(text)?.[1] ?? "";

test("a permission is given with a button, by an owner, once", async () => {
  const { server, daemon, ...room } = await started("acp");
  room.say(ann, order);
  await room.answer(ann, "Exec: security allowlist, ask on-miss.");
  room.say(ann, "do: ask execute");
  const question = await room.answer(ann, "asks an owner");
  expect(wordsOf(question)).toContain("execute: rm -rf");
  const { once, deny } = permissionIn(labelsOf(question));

  await grantsOnce(daemon, room.of(ann), {
    grantTwice() {
      server.twice = true;
      return room.press(ann, question, once);
    },
    deny: () => room.press(ann, question, deny),
  });
});

test("a press by somebody who is no owner orders as little as their text", async () => {
  const { daemon, ...room } = await started("module");
  room.say(bob, "you need a permission");
  const question = await room.answer(bob, "asks an owner");
  const [once = "", always = ""] = labelsOf(question);
  const said = await daemon.decided(room.say(bob, once));
  expect(said.decision).not.toBe("command");
  for (const label of [once, always])
    expect(await daemon.decided(room.press(bob, question, label))).toMatchObject({
      decision: said.decision,
    });
  room.say(ann, `/approve ${idIn(once)} deny`);
  await room.answer(ann, "Refused");
  await room.answer(bob, "The owner said: deny");
});

test("a group is asked in words, and only an owner answers", async () => {
  const { daemon, ...room } = await started("acp");
  const inGroup = { group_id: group };
  room.say(ann, order, inGroup);
  await room.answer(group, "Exec: security allowlist, ask on-miss.");
  room.say(ann, "Scout, do: ask execute", inGroup);
  const question = await room.answer(group, "asks an owner");
  expect(labelsOf(question)).toEqual([]);
  const id = idIn(wordsOf(question));
  const refused = await daemon.decided(room.say(bob, `/approve ${id} once`, inGroup));
  expect(refused.decision).not.toBe("command");
  room.say(ann, `/approve ${id} deny`, inGroup);
  await room.answer(group, "Refused");
  await room.answer(group, '"optionId":"no"');
  expect(room.shown(group, "Allowed")).toHaveLength(0);
});

test("a choice of the agent is answered with a button, and heard once", async () => {
  const { server, daemon, ...room } = await started("module");
  await choosesOnce(daemon, room.of(bob), {
    say: (text) => room.say(bob, text),
    labelsOf,
    pressTwice(question, label) {
      server.twice = true;
      return room.press(bob, question, label);
    },
  });
});
