/**
 * Two agents in one Telegram group, behind one bot: over a real socket, in-process and on worker
 * threads. A name calls one of them; without a name both answer, in order; what one says the other
 * knows, and neither ever answers the other.
 */
import type { Message } from "@grammyjs/types";
import { describe, expect, test } from "vitest";
import { inTurn } from "../../../support/rounds.ts";
import { openTelegramRooms, type TelegramRooms } from "../../../support/telegram/telegram-rooms.ts";

const runs = (...texts: string[]) => texts.map((text) => ({ steps: [{ text }] }));

const open = (workers: number, strategy: string, scout: object[], rover: object[]) =>
  openTelegramRooms({
    workers,
    config: (group) => ({
      agents: {
        list: [
          { id: "scout", name: "Scout", driver: { kind: "scripted", runs: scout } },
          { id: "rover", name: "Rover", driver: { kind: "scripted", runs: rover } },
        ],
      },
      broadcast: { strategy, [`telegram:${group}`]: ["scout", "rover"] },
    }),
  });

/** Rules by agent, once both have decided. */
async function rules(rooms: TelegramRooms, message: Message) {
  await rooms.until(() => rooms.decisions(message).length === 2, "both decisions");
  return Object.fromEntries(
    rooms.decisions(message).map(({ key, rule }) => [key?.split(":")[1], rule]),
  );
}

describe("two agents behind one bot", () => {
  test.each(inTurn([0, 1, 2], 2))(
    "both answer a mention, the second after the first and knowing its words, workers %i",
    async (workers) => {
      const slow = [{ steps: [{ waitMs: 400 }, { text: "Scout: rover should look" }] }];
      const rooms = await open(workers, "sequential", slow, runs("Rover: I saw"));
      const asked = rooms.say("ann", "@scout_bot what is it?");
      const answers = await rooms.answers(2);
      expect(await rules(rooms, asked)).toEqual({ scout: "mention", rover: "mention" });
      expect(answers.map(({ text }) => text)).toEqual(["Scout: rover should look", "Rover: I saw"]);
      const [first, second] = rooms.prompts();
      expect(first).not.toContain("rover should look");
      expect(second).toContain("Scout: rover should look");
      await rooms.until(() => rooms.sends().length === 2, "both deliveries");
      expect(rooms.lines.filter((line) => "decision" in line)).toHaveLength(2);
    },
  );

  test.each(inTurn([0, 1, 2], 1))(
    "a name calls one of them, and a reply to one is for that one, workers %i",
    async (workers) => {
      const rooms = await open(workers, "parallel", runs("no"), runs("Rover here", "and gone"));
      const asked = rooms.say("ann", "rover, where are you?");
      const [answer] = await rooms.answers(1);
      expect(answer?.text).toBe("Rover here");
      expect(await rules(rooms, asked)).toEqual({ scout: "addressed-elsewhere", rover: "alias" });
      await rooms.until(() => rooms.sends().length === 1, "the delivery");
      const reply = rooms.say("bob", "thanks", { replyTo: answer as Message });
      const answers = await rooms.answers(2);
      expect(answers.map(({ text }) => text)).toEqual(["Rover here", "and gone"]);
      expect(await rules(rooms, reply)).toEqual({ scout: "reply-to-other", rover: "reply" });
    },
  );
});

test("an agent whose driver breaks leaves the other alone", async () => {
  const broken = [{ steps: [{ error: "out of order" }] }];
  const rooms = await open(0, "sequential", broken, runs("Rover: all well"));
  rooms.say("ann", "@scout_bot what is it?");
  await rooms.until(
    () => rooms.server.world.answers(rooms.group).some(({ text }) => text === "Rover: all well"),
    "the other's answer",
  );
  const ends = rooms.lines.flatMap((line) =>
    "event" in line && line.event === "agent_end" ? [line] : [],
  );
  expect(ends.map(({ outcome }) => outcome)).toContain("failed");
});
