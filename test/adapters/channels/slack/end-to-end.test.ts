/**
 * The whole path on a Slack: from a person's line through socket, journal, host, machine, agent and outbox
 * to the answer in the room; in-process and with a worker thread.
 */
import { describe, expect, test } from "vitest";
import { workersInTurn } from "../../../support/rounds.ts";
import { shownText } from "../../../support/slack/slack-methods.ts";
import { openSlackRooms } from "../../../support/slack/slack-rooms.ts";
import type { Message } from "../../../support/slack/slack-workspace.ts";

const say = (...texts: string[]) => texts.map((text) => ({ steps: [{ text }] }));
const slowly = (text: string, waitMs: number) => ({ steps: [{ waitMs }, { text }] });

describe("slack end to end", () => {
  test.each(workersInTurn(0))(
    "a mention is acknowledged and answered once, although Slack sends it twice, workers %i",
    async (workers) => {
      const rooms = await openSlackRooms({ workers, runs: say("**Hello** Ann") });
      const asked = rooms.say("ann", "@scout are you there?");
      const [answer] = await rooms.answers(1);
      expect(shownText(answer as Message)).toBe("Hello Ann");
      expect(answer).not.toHaveProperty("thread_ts");
      await rooms.until(
        () => rooms.server.called("reactions.remove").length === 1,
        "the ack to go",
      );
      expect(rooms.server.called("reactions.add")).toMatchObject([
        { channel: rooms.kitchen.id, timestamp: asked.ts, name: "eyes" },
      ]);
      const later = rooms.say("bob", "talking to nobody");
      await rooms.until(() => rooms.decisions(later).length === 1, "the decision");
      const engaged = rooms.decisions(asked).filter(({ decision }) => decision === "engage");
      expect(engaged).toMatchObject([{ rule: "mention" }]);
      expect(rooms.ours()).toHaveLength(1);
    },
  );

  test.each(workersInTurn(1))(
    "a thread is a conversation of its own and is answered inside, workers %i",
    async (workers) => {
      const rooms = await openSlackRooms({ workers, runs: say("inside", "inside again") });
      const root = rooms.say("bob", "about the soup");
      const asked = rooms.say("ann", "@scout what do you think", root);
      const [answer] = await rooms.answers(1);
      expect(answer).toMatchObject({ thread_ts: root.ts });
      expect(rooms.decisions(asked)[0]?.key).toContain(`:thread:${root.ts}`);
      await rooms.until(() => rooms.sends().length === 1, "the delivery to be known");
      const more = rooms.say("ann", "and with salt?", root);
      const answers = await rooms.answers(2);
      expect(answers[1]).toMatchObject({ thread_ts: root.ts });
      expect(rooms.decisions(more)[0]).toMatchObject({ decision: "engage" });
    },
  );

  test.each(workersInTurn(2))(
    "an edit before the turn is what the agent reads, workers %i",
    async (workers) => {
      const rooms = await openSlackRooms({
        workers,
        runs: say("nine"),
        config: { messages: { inbound: { debounceMs: 1_000, debounceMaxMs: 2_000 } } },
      });
      const { bot } = rooms.server.workspace;
      const asked = rooms.say("ann", "@scout what is 2+2");
      await rooms.until(() => rooms.decisions(asked).length > 0, "the decision");
      rooms.server.workspace.edit(rooms.kitchen, asked.ts, `<@${bot.id}> what is 3+3`);
      await rooms.answers(1);
      expect(rooms.prompts()[0]).toContain("what is 3+3");
      expect(rooms.prompts()[0]).not.toContain("what is 2+2");
    },
  );

  test.each(workersInTurn(3))(
    "what is said and answered while Slack is away arrives afterwards, once, workers %i",
    async (workers) => {
      const rooms = await openSlackRooms({ workers, runs: [slowly("late", 700), ...say("next")] });
      const first = rooms.say("ann", "@scout one");
      await rooms.until(() => rooms.decisions(first).length > 0, "the decision");
      await rooms.server.down();
      const second = rooms.say("bob", "@scout two");
      await rooms.server.up();
      const answers = await rooms.answers(2);
      expect(answers.map(shownText)).toEqual(["late", "next"]);
      expect(rooms.decisions(second)).toMatchObject([{ decision: "engage", rule: "mention" }]);
    },
  );

  test.each(workersInTurn(4))(
    "a restart loses nothing and repeats nothing, workers %i",
    async (workers) => {
      const rooms = await openSlackRooms({ workers });
      rooms.say("ann", "@scout before");
      await rooms.answers(1);
      await rooms.until(() => rooms.sends().length === 1, "the delivery to be known");
      await rooms.stop();
      const meanwhile = rooms.say("bob", "@scout while you were away");
      await rooms.start();
      await rooms.answers(2);
      expect(rooms.decisions(meanwhile)).toMatchObject([{ decision: "engage", rule: "mention" }]);
      const last = rooms.say("bob", "that was all");
      await rooms.until(() => rooms.decisions(last).length === 1, "the last decision");
      await rooms.until(() => rooms.sends().length >= 2, "the deliveries");
      const { length } = rooms.ours();
      expect(length).toBe(rooms.sends().length);
    },
  );

  test.each(workersInTurn(5))(
    "a rate limit is waited out, and a lost answer is found and not sent again, workers %i",
    async (workers) => {
      const rooms = await openSlackRooms({ workers, runs: say("patience", "found") });
      rooms.server.faults.add("chat.postMessage", { kind: "refuse", status: 429, retryAfter: 1 });
      rooms.say("ann", "@scout hello");
      await rooms.answers(1);
      await rooms.until(() => rooms.sends().length === 1, "the delivery");
      rooms.server.faults.add("chat.postMessage", { kind: "reset", done: true });
      rooms.say("ann", "@scout again");
      await rooms.answers(2);
      await rooms.until(() => rooms.sends().length === 2, "the second delivery");
      expect(rooms.sends()).toMatchObject([{ status: "sent" }, { status: "sent" }]);
      expect(rooms.ours().map(shownText)).toEqual(["patience", "found"]);
    },
  );

  test.each(workersInTurn(6))(
    "a slash command is a command, in a direct chat a line needs no mention, workers %i",
    async (workers) => {
      const rooms = await openSlackRooms({ workers, runs: say("hello") });
      const { workspace } = rooms.server;
      rooms.say("ann", "psst", undefined, rooms.direct);
      const [answer] = await rooms.answers(1, rooms.direct);
      expect(shownText(answer as Message)).toBe("hello");
      workspace.command(rooms.direct, rooms.people.ann, "/scout", "help");
      const [, help] = await rooms.answers(2, rooms.direct);
      expect(shownText(help as Message)).toContain("All of them: /commands");
      workspace.command(rooms.kitchen, rooms.people.bob, "/scout", "status");
      const [said] = await rooms.answers(1);
      // Bob is no owner: to him it is not a command.
      expect(shownText(said as Message)).toBe("ok");
    },
  );
});
