/** Typing is shown to who waits: not to somebody whose message is gone while another chat's turn runs. */
import { expect, onTestFinished, test } from "vitest";
import { deletionSchema } from "../../../src/domain/message.ts";
import { World } from "../../support/runtime/world.ts";

const room = { channel: "telegram", chat: { id: "room", kind: "group" } } as const;
const bob = { chat: { id: "bob", kind: "direct" }, author: { id: "bob", name: "Bob" } } as const;

test.each(["deletion", "/stop"])(
  "a %s of the only waiting message of a chat ends typing there",
  async (how) => {
    const world = await new World({
      config: { session: { scope: "global" }, commands: { allowFrom: { "*": ["telegram:bob"] } } },
    }).start();
    onTestFinished(() => world.runtime.stop());
    await world.say("soup?", { ...room, mentions: [{ id: "bot", isSelf: true }] });
    await world.pass(10_000);
    world.typing.splice(0);
    // A follow-up: typing waits for the first word.
    world.runs.push({ afterMs: 0, steps: [{ waitMs: 40_000 }, { text: "late" }] });
    await world.say("and bread?", room);
    await world.pass(2_000);
    expect(world.typing).toEqual([]);
    await world.say("hello", { ...bob, id: "9" });
    await world.pass(2_000);
    expect(world.typing.at(-1)).toBe(true);
    if (how === "/stop") await world.say("/stop", bob);
    else {
      const deletion = deletionSchema.parse({ channel: "telegram", chat: bob.chat, id: "9" });
      await world.runtime.ingest("telegram", "default", [{ type: "delete", deletion }]);
    }
    await world.pass(1_000);
    expect(world.typing.at(-1)).toBe(false);
  },
);
