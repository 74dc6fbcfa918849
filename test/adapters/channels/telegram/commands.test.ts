/**
 * Commands at Telegram, over a real socket: the menu of a bot equals the command table, and an
 * owner's command is answered in the room, where formatting and forwarding mark text that is only
 * shown.
 */
import type { MessageEntity } from "@grammyjs/types";
import { expect, test } from "vitest";
import { menuCommands } from "../../../../src/machines/commands/help.ts";
import { openTelegramRooms } from "../../../support/telegram/telegram-rooms.ts";

const owner = { commands: { ownerAllowFrom: ["telegram:7001"] } };

test("the menu is set when it is another than the table's, and left alone when it is not", async () => {
  const rooms = await openTelegramRooms({ workers: 0 });
  const { world } = rooms.server;
  const set = () => rooms.server.calls("setMyCommands").length;
  const wanted = menuCommands().map(({ name, description }) => ({ command: name, description }));
  await rooms.until(() => set() === 1, "the menu to be set");
  expect(world.commands).toEqual(wanted);
  await rooms.stop();
  await rooms.start();
  await rooms.until(() => rooms.server.calls("getMyCommands").length === 2, "the menu to be read");
  expect(set()).toBe(1);
  await rooms.stop();
  world.commands = wanted.slice(1);
  await rooms.start();
  await rooms.until(() => set() === 2, "the menu to be set again");
  expect(world.commands).toEqual(wanted);
});

test("a menu that Telegram refuses is told and stops nothing", async () => {
  const rooms = await openTelegramRooms({ workers: 0 });
  await rooms.until(() => rooms.server.calls("setMyCommands").length === 1, "the first menu");
  await rooms.stop();
  rooms.server.faults.add("getMyCommands", { kind: "refuse", status: 400 });
  await rooms.start();
  await rooms.until(() => rooms.logs.some((line) => line.includes("telegram.menu-failed")), "it");
  rooms.say("ann", "@scout_bot hello");
  await rooms.answers(1);
});

test.each([0, 1])("an owner's command is answered in the room, workers %i", async (workers) => {
  const rooms = await openTelegramRooms({ workers, config: owner });
  expect(rooms.people.ann.id).toBe(7_001);
  const asked = rooms.say("ann", "/whoami@scout_bot");
  const [answer] = await rooms.answers(1);
  expect(answer?.text).toBe("You are telegram:7001. You may do everything: you are an owner.");
  expect(answer?.reply_to_message?.message_id).toBe(asked.message_id);
  expect(rooms.decision(asked)).toMatchObject({ decision: "command", rule: "command" });
  const pre: MessageEntity[] = [{ type: "pre", offset: 0, length: 7 }];
  const shown = rooms.say("ann", "/status", { entities: pre });
  const passed = rooms.say("ann", "/status", {
    extra: { forward_origin: { type: "hidden_user", sender_user_name: "Eve", date: 1 } },
  });
  const others = rooms.say("bob", "/status");
  await rooms.until(() => rooms.decision(others) !== undefined, "the last decision");
  for (const message of [shown, passed, others])
    expect(rooms.decision(message)?.decision).not.toBe("command");
  expect(rooms.sends()).toHaveLength(1);
});
