/**
 * Payloads in Meta's form, and what becomes of them; sends that WhatsApp refuses, and files both ways.
 */
import { expect, onTestFinished, test } from "vitest";
import { renderMarkdown } from "../../../../src/adapters/channels/shared/markdown.ts";
import { marked } from "../../../../src/adapters/channels/shared/whatsapp-marks.ts";
import { whatsappChannel } from "../../../../src/adapters/channels/whatsapp/channel.ts";
import type { ChannelDefinition } from "../../../../src/domain/ports/index.ts";
import { openChannel } from "../../../../src/testing/open-channel.ts";
import {
  accessToken,
  appSecret,
  ownNumber,
  phoneNumberId,
  startWhatsAppServer,
  verifyToken,
} from "../../../support/whatsapp/whatsapp-server.ts";

const ann = "16505551234";
const signal = new AbortController().signal;
const direct = (id = ann) => ({
  channel: "whatsapp",
  account: "default",
  thread: null,
  chat: { id, kind: "direct" as const },
});

async function opened() {
  const server = await startWhatsAppServer();
  const config = { phoneNumberId, accessToken, appSecret, verifyToken, apiRoot: server.apiRoot };
  const channel = openChannel(whatsappChannel as ChannelDefinition, config);
  onTestFinished(async () => {
    await channel.stop();
    await server.close();
  });
  await channel.live();
  const post = async (value: object) => {
    const metadata = { display_phone_number: ownNumber, phone_number_id: phoneNumberId };
    const changes = [{ field: "messages", value: { metadata, ...value } }];
    const body = JSON.stringify({ object: "whatsapp_business_account", entry: [{ changes }] });
    return channel.hook?.receive(Buffer.from(body), { headers: {}, now: Date.now() });
  };
  const say = (fields: object, from = ann) =>
    post({ messages: [{ from, id: "wamid.1", timestamp: "1749416383", ...fields }] });
  return { server, channel, post, say };
}

test.each([
  [{ type: "image", image: { id: "1", mime_type: "image/jpeg", caption: "look" } }, "look"],
  [
    { type: "location", location: { latitude: 1.5, longitude: 2, name: "Home" } },
    "[location: Home, 1.5, 2]",
  ],
  [
    {
      type: "contacts",
      contacts: [{ name: { formatted_name: "Bob" }, phones: [{ phone: "+1 2" }] }],
    },
    "[contact: Bob, +1 2]",
  ],
  [
    { type: "interactive", interactive: { button_reply: { id: "earshot:0", title: "Yes" } } },
    "Yes",
  ],
  [{ type: "unsupported", errors: [{ code: 131051 }] }, /^\[a message that WhatsApp does not/],
])("a message of each kind has its text: %j", async (fields, text) => {
  const { channel, say } = await opened();
  await say(fields);
  expect(channel.messages()[0]?.text).toEqual(
    typeof text === "string" ? text : expect.stringMatching(text),
  );
});

test("messages of one body come in the order of their times", async () => {
  const { channel, post } = await opened();
  const message = (id: string, timestamp: string) => ({
    from: ann,
    id,
    timestamp,
    type: "text",
    text: { body: id },
  });
  await post({ messages: [message("late", "1749416385"), message("early", "1749416383")] });
  expect(channel.messages().map(({ id }) => id)).toEqual(["early", "late"]);
});

test("after a change of number the conversation goes on, and the number's next owner is another", async () => {
  const { server, channel, say } = await opened();
  await say({ type: "system", system: { type: "user_changed_number", wa_id: "16505550000" } });
  await say({ id: "wamid.2", type: "text", text: { body: "me again" } }, "16505550000");
  await say({ id: "wamid.3", type: "text", text: { body: "who is this" } });
  const chats = channel.messages().map(({ chat }) => chat);
  expect(chats).toMatchObject([{ id: ann, movedTo: "16505550000" }, { id: `${ann}/next` }]);
  await channel.outbound.sendText({ route: direct(), id: "t:0", text: "hi", signal });
  expect(server.sent[0]?.body.to).toBe("16505550000");
});

test("a delivery that failed reaches the owner, with what to do", async () => {
  const { channel, post } = await opened();
  await post({ statuses: [{ id: "wamid.9", status: "failed", errors: [{ code: 131047 }] }] });
  expect(channel.states.at(-1)?.detail).toContain("The person has to write first (131047)");
  expect(channel.logs.at(-1)).toMatchObject({ level: "error", event: "whatsapp.delivery-failed" });
});

test("typing is shown with the read mark of the newest message", async () => {
  const { server, channel, say } = await opened();
  await say({ type: "text", text: { body: "hello" } });
  await channel.outbound.sendTyping?.(direct(), true, signal);
  expect(server.reads).toMatchObject([
    { status: "read", message_id: "wamid.1", typing_indicator: { type: "text" } },
  ]);
});

test("a few short options are buttons, others a list whose rows say the whole label", async () => {
  const { server, channel } = await opened();
  const ask = (id: string, options: string[]) =>
    channel.outbound.sendChoices?.({
      route: direct(),
      id,
      text: "numbered",
      signal,
      choices: { text: "Which?", options },
    });
  const long = "an option of more letters than fit";
  await ask("t:0", ["Yes", "No"]);
  await ask("t:1", ["Yes", long]);
  expect(server.sent.map(({ body }) => (body.interactive as { type: string }).type)).toEqual([
    "button",
    "list",
  ]);
  expect(JSON.stringify(server.sent[1]?.body)).toContain(`"description":"${long}"`);
});

test("a file is uploaded and sent by its id, and one of a person is fetched", async () => {
  const { server, channel } = await opened();
  const file = {
    mime: "image/png",
    name: "a.png",
    data: Buffer.from("pixels"),
    caption: "**look**",
  };
  await channel.outbound.sendMedia?.({ route: direct(), id: "t:0", signal, ...file });
  expect(server.sent[0]?.body).toMatchObject({ type: "image", image: { caption: "*look*" } });
  expect([...server.files.values()][0]?.mime).toBe("image/png");
});

test("Markdown becomes WhatsApp's marks", () => {
  const shown = (text: string) => marked(renderMarkdown(text));
  expect(shown("**a** _b_ ~~c~~ `d`")).toBe("*a* _b_ ~c~ `d`");
  expect(shown("> said\n> so")).toBe("> said\n> so");
  expect(shown("[here](https://example.com/x)")).toBe("here (https://example.com/x)");
  expect(shown("```js\nlet a = 1\n```")).toBe("```let a = 1```");
});
