/**
 * Two agents in one Telegram group, behind one bot: over a real socket, in-process and on worker
 * threads. A name calls one of them; without a name both answer, in order; what one says the other
 * knows, and neither ever answers the other.
 */
import type { Message } from "@grammyjs/types";
import { describe, expect, test } from "vitest";
import { type House, openHouse } from "../../../support/telegram/telegram-rooms.ts";

const runs = (...texts: string[]) => texts.map((text) => ({ steps: [{ text }] }));

const open = (workers: number, strategy: string, scout: object[], rover: object[]) =>
  openHouse({
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
async function rules(house: House, message: Message) {
  await house.until(() => house.decisions(message).length === 2, "both decisions");
  return Object.fromEntries(
    house.decisions(message).map(({ key, rule }) => [key?.split(":")[1], rule]),
  );
}

describe.each([0, 1, 2])("two agents behind one bot, workers %i", (workers) => {
  test("both answer a mention, the second after the first and knowing its words", async () => {
    const slow = [{ steps: [{ waitMs: 400 }, { text: "Scout: rover should look" }] }];
    const house = await open(workers, "sequential", slow, runs("Rover: I saw"));
    const asked = house.say("ann", "@scout_bot what is it?");
    const answers = await house.answers(2);
    expect(await rules(house, asked)).toEqual({ scout: "mention", rover: "mention" });
    expect(answers.map(({ text }) => text)).toEqual(["Scout: rover should look", "Rover: I saw"]);
    const [first, second] = house.prompts();
    expect(first).not.toContain("rover should look");
    expect(second).toContain("Scout: rover should look");
    await house.until(() => house.sends().length === 2, "both deliveries");
    expect(house.lines.filter((line) => "decision" in line)).toHaveLength(2);
  });

  test("a name calls one of them, and a reply to one is for that one", async () => {
    const house = await open(workers, "parallel", runs("no"), runs("Rover here", "and gone"));
    const asked = house.say("ann", "rover, where are you?");
    const [answer] = await house.answers(1);
    expect(answer?.text).toBe("Rover here");
    expect(await rules(house, asked)).toEqual({ scout: "addressed-elsewhere", rover: "alias" });
    await house.until(() => house.sends().length === 1, "the delivery");
    const reply = house.say("bob", "thanks", { replyTo: answer as Message });
    const answers = await house.answers(2);
    expect(answers.map(({ text }) => text)).toEqual(["Rover here", "and gone"]);
    expect(await rules(house, reply)).toEqual({ scout: "reply-to-other", rover: "reply" });
  });
});

test("an agent whose driver breaks leaves the other alone", async () => {
  const broken = [{ steps: [{ error: "out of order" }] }];
  const house = await open(0, "sequential", broken, runs("Rover: all well"));
  house.say("ann", "@scout_bot what is it?");
  await house.until(
    () => house.server.world.answers(house.group).some(({ text }) => text === "Rover: all well"),
    "the other's answer",
  );
  const ends = house.lines.flatMap((line) =>
    "event" in line && line.event === "agent_end" ? [line] : [],
  );
  expect(ends.map(({ outcome }) => outcome)).toContain("failed");
});
