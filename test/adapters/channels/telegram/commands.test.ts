/**
 * Commands at Telegram, over a real socket: the menu that a bot offers is that of the table, and an
 * owner's command is answered in the room, where formatting and forwarding tell what is only shown.
 */
import type { MessageEntity } from "@grammyjs/types";
import { expect, test } from "vitest";
import { menuCommands } from "../../../../src/machines/commands/help.ts";
import { openHouse } from "../../../support/telegram/telegram-rooms.ts";

const owner = { commands: { ownerAllowFrom: ["telegram:7001"] } };

test("the menu is set when it is another than the table's, and left alone when it is not", async () => {
  const house = await openHouse({ workers: 0 });
  const { world } = house.server;
  const set = () => house.server.calls("setMyCommands").length;
  const wanted = menuCommands().map(({ name, description }) => ({ command: name, description }));
  await house.until(() => set() === 1, "the menu to be set");
  expect(world.commands).toEqual(wanted);
  await house.stop();
  await house.start();
  await house.until(() => house.server.calls("getMyCommands").length === 2, "the menu to be read");
  expect(set()).toBe(1);
  await house.stop();
  world.commands = wanted.slice(1);
  await house.start();
  await house.until(() => set() === 2, "the menu to be set again");
  expect(world.commands).toEqual(wanted);
});

test("a menu that Telegram refuses is told and stops nothing", async () => {
  const house = await openHouse({ workers: 0 });
  await house.until(() => house.server.calls("setMyCommands").length === 1, "the first menu");
  await house.stop();
  house.server.faults.add("getMyCommands", { kind: "refuse", status: 400 });
  await house.start();
  await house.until(() => house.logs.some((line) => line.includes("telegram.menu-failed")), "it");
  house.say("ann", "@scout_bot hello");
  await house.answers(1);
});

test.each([0, 1])("an owner's command is answered in the room, workers %i", async (workers) => {
  const house = await openHouse({ workers, config: owner });
  expect(house.people.ann.id).toBe(7_001);
  const asked = house.say("ann", "/whoami@scout_bot");
  const [answer] = await house.answers(1);
  expect(answer?.text).toBe("You are telegram:7001. You may do everything: you are an owner.");
  expect(answer?.reply_to_message?.message_id).toBe(asked.message_id);
  expect(house.decision(asked)).toMatchObject({ decision: "command", rule: "command" });
  const pre: MessageEntity[] = [{ type: "pre", offset: 0, length: 7 }];
  const shown = house.say("ann", "/status", { entities: pre });
  const passed = house.say("ann", "/status", {
    extra: { forward_origin: { type: "hidden_user", sender_user_name: "Eve", date: 1 } },
  });
  const others = house.say("bob", "/status");
  await house.until(() => house.decision(others) !== undefined, "the last decision");
  for (const message of [shown, passed, others])
    expect(house.decision(message)?.decision).not.toBe("command");
  expect(house.sends()).toHaveLength(1);
});
