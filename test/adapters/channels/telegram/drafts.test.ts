/** An answer that grows in one message of a Telegram group, over real sockets and threads. */
import { describe, expect, test } from "vitest";
import { telegramChannel } from "../../../../src/adapters/channels/telegram/channel.ts";
import type { Route } from "../../../../src/domain/message.ts";
import type { ChannelDefinition } from "../../../../src/domain/ports/index.ts";
import { openChannel } from "../../../../src/testing/open-channel.ts";
import { telegramWorld } from "../../../support/telegram/telegram-rig.ts";
import { openTelegramRooms } from "../../../support/telegram/telegram-rooms.ts";

const words = "The quick brown fox jumps over the lazy dog, again and again.".split(/(?<= )/);
const slowly = {
  steps: words.flatMap((text) => [{ text }, { waitMs: 120 }]),
};

describe.each([0, 1])("a growing answer, workers %i", (workers) => {
  test("is one message, edited about once a second, and in the end the whole", async () => {
    const rooms = await openTelegramRooms({
      workers,
      runs: [slowly],
      config: { stream: { mode: "draft" }, messages: { inbound: { debounceMs: 50 } } },
    });
    const asked = rooms.say("ann", "@scout_bot tell me");
    await rooms.until(() => rooms.sends().length === 2, "the draft and its end");
    const [answer, ...others] = await rooms.answers(1);
    expect(others).toEqual([]);
    expect(answer?.text).toBe(words.join(""));
    expect(answer?.reply_to_message?.message_id).toBe(asked.message_id);
    const edits = rooms.server.world.calls.filter(({ method }) => method === "editMessageText");
    expect(edits.length).toBeGreaterThanOrEqual(1);
    expect(edits.length).toBeLessThanOrEqual(4);
    expect(rooms.sends()).toMatchObject([
      { status: "sent", draft: true },
      { status: "sent", text: words.join(""), edits: rooms.sends()[0]?.id },
    ]);
  });
});

describe("the last edit", () => {
  const signal = new AbortController().signal;
  const table = `|a|b|\n|-|-|\n${`|${"wide ".repeat(12)}|x|\n|y|z|\n`.repeat(45)}`;

  async function place(): Promise<{
    readonly world: Awaited<ReturnType<typeof telegramWorld>>;
    readonly channel: ReturnType<typeof openChannel>;
    readonly route: Route;
  }> {
    const world = await telegramWorld();
    const channel = openChannel(telegramChannel as ChannelDefinition, world.config);
    return { world, channel, route: world.route() };
  }

  test("of an answer that is longer as it is shown than as it was written loses nothing", async () => {
    const { world, channel, route } = await place();
    expect(table.length).toBeLessThan(4_096);
    const { messageIds } = await channel.outbound.sendText({
      route,
      id: "t:0",
      text: "On",
      signal,
    });
    const messageId = messageIds[0] as string;
    const edit = { route, messageId, id: "t:1", text: table, signal };
    await channel.outbound.editText?.({ ...edit, growing: true });
    expect(await world.shown(1)).toHaveLength(1);
    await channel.outbound.editText?.(edit);
    const shown = await world.shown(2);
    expect(shown.length).toBeGreaterThan(1);
    expect(shown.every(({ text }) => text.length <= 4_096)).toBe(true);
    const all = shown.map(({ text }) => text).join("\n");
    expect(all.match(/wide/g)).toHaveLength(45 * 12);
    await channel.stop();
    await world.close();
  });

  test("of a message that was removed says so for good", async () => {
    const { world, channel, route } = await place();
    const edit = { route, messageId: "999999", id: "t:1", text: "gone", signal };
    await expect(channel.outbound.editText?.(edit)).rejects.toMatchObject({
      disposition: "terminal",
    });
    await channel.stop();
    await world.close();
  });
});
