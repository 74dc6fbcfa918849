/** `npm run fake`: the config that it prints connects, and what is typed and answered is shown. */

import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { platformChannels } from "../../../src/adapters/channels/index.ts";
import { parseConfig } from "../../../src/domain/config/index.ts";
import { openChannel } from "../../../src/testing/open-channel.ts";
import { platformsByHand, serveByHand } from "../../support/every-channel/by-hand.ts";

test("every platform has a server by hand", () => {
  // Telegram has more words; a linked device needs a person's phone beside the server.
  const others = new Set(["telegram", "whatsapp-linked"]);
  const platforms = platformChannels.map(({ id }) => id).filter((id) => !others.has(id));
  expect([...platformsByHand].sort()).toEqual(platforms.sort());
});

test.each(["imessage", "signal", "slack"])(
  "%s: a line is heard, and its answer is shown",
  async (name) => {
    const keyboard = new PassThrough();
    let output = "";
    const lines = createInterface({ input: keyboard });
    const write = (text: string) => {
      output += text;
    };
    const serving = serveByHand(name, { lines, write, daemon: "http://127.0.0.1:1" });
    onTestFinished(async () => {
      keyboard.end();
      await serving;
    });
    await expect.poll(() => output).toContain("0: hello");
    const printed = JSON.parse(/^earshot\.json5: (.+)$/m.exec(output)?.[1] ?? "") as {
      channels: Record<string, { accounts: { default: unknown } }>;
    };
    expect(() => parseConfig(printed)).not.toThrow();
    const definition = platformChannels.find(({ id }) => id === name);
    const account = printed.channels[name]?.accounts.default;
    if (definition === undefined) throw new Error("no such channel");
    await definition.load?.();
    const channel = openChannel(definition, account);
    onTestFinished(() => channel.stop());
    await channel.live();
    keyboard.write("1: is there soup?\n");
    await expect.poll(() => channel.messages().length).toBe(1);
    const [said] = channel.messages();
    expect(said?.text).toContain("is there soup?");
    expect(said?.chat.title).toBe("room-1");
    const { chat, thread } = said ?? {};
    const route = { channel: name, account: "default", chat, thread: thread ?? null } as never;
    const { signal } = new AbortController();
    await channel.outbound.sendText({ route, id: "t:0", text: "there is", signal });
    await expect.poll(() => output).toContain("bot in room 1: there is");
  },
);
