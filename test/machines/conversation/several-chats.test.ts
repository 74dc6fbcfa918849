/** A session of several chats: which message of ours is where. */
import { expect, test } from "vitest";
import { Rig } from "../../support/runtime/conversation-rig.ts";

const inChat = (id: string) => ({ chat: { id, kind: "group" as const } });

test("a text of ours is known in the chat where it was said, and a late one in all of them", () => {
  const rig = new Rig({ settings: { severalChats: true, engagement: { aliases: [] } } });
  rig.say("ann", "soup?", { to: "us", ...inChat("room") });
  rig.wait(2_000);
  rig.answer("soup");
  rig.end();
  rig.sent(0, rig.turnId, ["1"]);
  rig.sent(0, "T0", ["2"]);
  const reply = (id: string, chat: string) =>
    rig.say("bob", "I agree", { replyTo: { id }, ...inChat(chat) });
  expect(reply("1", "attic")).not.toBe("reply");
  expect(reply("1", "room")).toBe("reply");
  expect(reply("2", "attic")).toBe("reply");
});
