/** What an account sends: once, in Discord's dialect, within its limits. */
import { expect, test } from "vitest";
import { discordParts, escaped } from "../../../../src/adapters/channels/discord/rendering.ts";
import { openDiscord } from "../../../support/discord/discord-open.ts";

const { signal } = new AbortController();

test.each([
  ["reset", { kind: "reset", done: true }],
  ["html", { kind: "html", status: 502 }],
  ["500", { kind: "refuse", status: 500 }],
] as const)("a send whose answer is lost (%s) is repeated and arrives once", async (_, fault) => {
  const { server, world, kitchen, open, route } = await openDiscord();
  const channel = open();
  await channel.live();
  server.faults.add("createMessage", fault);
  const request = { route, id: "t:0", text: "only once", signal };
  const failed = channel.outbound.sendText(request);
  await expect(failed).rejects.toMatchObject({ disposition: "retry" });
  const { messageIds } = await channel.outbound.sendText(request);
  expect(world.answers(kitchen).map(({ id }) => id)).toEqual(messageIds);
  const [first, second] = server.called("createMessage");
  expect(second?.body.nonce).toBe(first?.body.nonce);
});

test("a reply to a message that is gone is a plain message", async () => {
  const { world, kitchen, open, route } = await openDiscord();
  const channel = open();
  await channel.live();
  const request = { route, id: "t:0", text: "too late", signal, quote: false };
  await channel.outbound.replyText({ ...request, replyTo: world.snowflake() });
  expect(world.answers(kitchen)).toMatchObject([{ content: "too late" }]);
});

test("an answer where the bot may not read the history is a plain message, with its file, too", async () => {
  const { world, ann, kitchen, open, route } = await openDiscord();
  const channel = open();
  await channel.live();
  kitchen.hasHistory = false;
  const replyTo = world.say(kitchen, ann, "how late is it?").id;
  const request = { route, id: "t:0", text: "seven", signal, quote: false };
  const { messageIds } = await channel.outbound.replyText({ ...request, replyTo });
  const file = { mime: "image/png", name: "clock.png", data: new Uint8Array(4) };
  await channel.outbound.sendMedia?.({ route, id: "t:1", ...file, caption: "", replyTo, signal });
  const answers = world.answers(kitchen);
  expect(answers.map(({ id }) => id)[0]).toBe(messageIds[0]);
  expect(answers).toMatchObject([
    { content: "seven" },
    { attachments: [{ filename: "clock.png" }] },
  ]);
});

test("choices are buttons, and a press is a message of the person who pressed", async () => {
  const { server, world, bob, kitchen, open, route } = await openDiscord();
  const channel = open();
  await channel.live();
  const choices = { text: "Tea?", options: ["Yes", "No"] };
  const send = channel.outbound.sendChoices?.({ route, id: "t:0", text: "", choices, signal });
  const [id = ""] = (await send)?.messageIds ?? [];
  const message = kitchen.messages.get(id);
  const pressed = { type: 3, data: { custom_id: "earshot:1", component_type: 2 }, message };
  const press = world.interact(kitchen, bob, pressed);
  const said = await channel.message(`${id}#${press}`);
  expect(said).toMatchObject({
    text: "No",
    author: { id: bob.id, isBot: false },
    replyTo: { id, authorIsSelf: true, text: "Tea?" },
  });
  await server.until(() => server.called("callback").length === 1, "the answer to the press");
  expect(server.called("callback")[0]?.body).toMatchObject({ data: { content: "No", flags: 64 } });
});

test("a command from the menu is a message that addresses the bot", async () => {
  const { world, ann, kitchen, open } = await openDiscord();
  const channel = open();
  await channel.live();
  const data = { name: "model", options: [{ name: "text", type: 3, value: "small" }] };
  const id = world.interact(kitchen, ann, { type: 2, data });
  const said = await channel.message(`slash:${id}`);
  expect(said).toMatchObject({ text: "/model small", mentions: [{ isSelf: true }] });
});

test("a file arrives with its caption", async () => {
  const { server, world, kitchen, open, route } = await openDiscord();
  const channel = open();
  await channel.live();
  const file = { mime: "image/png", name: "tea.png", data: new Uint8Array(4) };
  await channel.outbound.sendMedia?.({ route, id: "t:0", ...file, caption: "**Tea**", signal });
  expect(world.answers(kitchen)).toMatchObject([{ content: "**Tea**" }]);
  const [call] = server.called("createMessage");
  expect(call?.files).toEqual([{ name: "tea.png", type: "image/png", bytes: 4 }]);
});

test.each([
  ["**bold** and *italic*", "**bold** and *italic*"],
  ["~~gone~~ ||hidden||", "~~gone~~ ||hidden||"],
  ["# Title", "**Title**"],
  ["> quoted\n> again", "> quoted\n> again"],
  ["`code`", "`code`"],
  ["```ts\nlet a = 1;\n```", "```ts\nlet a = 1;\n```"],
  ["[site](https://example.com/a_b)", "[site](<https://example.com/a_b>)"],
  ["https://example.com/a_b_c", "https://example.com/a_b_c"],
  ["snake_case and 2 * 3", "snake\\_case and 2 \\* 3"],
  ["<@123> <#5>", "\\<@123> \\<#5>"],
  ["- one\n  - two", "• one\n  • two"],
  ["שלום **עולם**", "שלום **עולם**"],
])("%j is written as %j", (markdown, written) => {
  expect(discordParts(markdown, 10)).toEqual([written]);
});

test("no part is longer than Discord takes, whatever the markup adds", () => {
  for (const text of ["*_~".repeat(3_000), "👩‍👩‍👧‍👦".repeat(900), `${"word ".repeat(1_500)}end`])
    for (const part of discordParts(escaped(text), 50))
      expect([...part].length).toBeLessThanOrEqual(2_000);
});
