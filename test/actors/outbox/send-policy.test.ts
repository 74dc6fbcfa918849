/**
 * Answers that the config's rules do not allow, through the whole runtime.
 */
import { describe, expect, test } from "vitest";
import { parseConfig, resolveSettings } from "../../../src/domain/config/index.ts";
import type { ChatKind } from "../../../src/domain/message.ts";
import { World } from "../../support/runtime/world.ts";

describe("the rules of session.sendPolicy", () => {
  const config = parseConfig({
    session: {
      sendPolicy: {
        default: "deny",
        rules: [
          { action: "deny", match: { keyPrefix: "agent:main:telegram:group:-1" } },
          { action: "allow", match: { channel: "telegram", chatKind: "group" } },
          { action: "allow", match: { chatKind: "direct" } },
        ],
      },
    },
  });
  const sent = (channel: string, chatKind: ChatKind, key: string) =>
    resolveSettings(config, { agentId: "main", key, channel, account: "default", chatKind }, 1)
      .send;

  test("count in their order, each with all that it says, and then the default", () => {
    expect(sent("telegram", "group", "agent:main:telegram:group:-100")).toBe("deny");
    expect(sent("telegram", "group", "agent:main:telegram:group:-200")).toBe("allow");
    expect(sent("irc", "group", "agent:main:irc:group:-200")).toBe("deny");
    expect(sent("telegram", "channel", "agent:main:telegram:channel:-200")).toBe("deny");
    expect(sent("irc", "direct", "agent:main:main")).toBe("allow");
  });

  test("are none by default, and then everything leaves", () => {
    const { send } = resolveSettings(
      parseConfig({}),
      {
        agentId: "main",
        key: "agent:main:main",
        channel: "",
        account: "default",
        chatKind: "direct",
      },
      1,
    );
    expect(send).toBe("allow");
  });
});

describe("where the policy denies", () => {
  const deny = (match: object) => ({
    session: { sendPolicy: { rules: [{ action: "deny", match }] } },
  });

  test("the turn is silent and says why, its ack and typing are gone, and others are answered", async () => {
    const world = await new World({ config: deny({ chatKind: "group" }) }).start();
    world.runs.push(
      { afterMs: 10, steps: [{ text: "One. " }, { waitMs: 2_000 }, { text: "Two." }] },
      { afterMs: 10, steps: [{ text: "Hello Ann" }] },
    );
    await world.say("earshot, are you there?", { id: "asked" });
    await world.pass(10_000);
    expect(world.events("agent_end")).toMatchObject([{ outcome: "silent", reason: "send-policy" }]);
    expect(world.reactions).toEqual(["+👀 asked", "-👀 asked"]);
    expect(world.typing.at(-1) ?? false).toBe(false);
    expect(world.sends()).toEqual([]);
    const [why] = await world.runtime.why("asked");
    expect(why?.fate).toMatchObject({
      outcome: "silent",
      reason: "send-policy",
      deliveries: [],
    });
    await world.say("hi", { direct: true });
    await world.pass(10_000);
    expect(world.sent).toMatchObject([{ text: "Hello Ann", chat: "ann" }]);
    await world.runtime.stop();
  });

  test("what the session says goes over it, both ways", async () => {
    const world = await new World({ config: deny({ chatKind: "direct" }) }).start();
    world.runs.push(
      { afterMs: 10, steps: [{ text: "one" }] },
      { afterMs: 10, steps: [{ text: "two" }] },
      { afterMs: 10, steps: [{ text: "three" }] },
    );
    const key = "agent:main:main";
    for (const send of [undefined, "allow", null] as const) {
      if (send !== undefined) await world.runtime.updateSession(key, { override: { send } });
      await world.say("hi", { direct: true });
      await world.pass(10_000);
    }
    expect(world.sent.map(({ text }) => text)).toEqual(["two"]);
    await world.runtime.stop();
  });

  test("what the session says in the middle of a turn keeps in the rest of its answer", async () => {
    const world = await new World({
      config: { stream: { mode: "block", break: "message_end" } },
    }).start();
    world.runs.push({
      afterMs: 10,
      steps: [{ text: "one" }, { messageEnd: true }, { waitMs: 5_000 }, { text: "two" }],
    });
    await world.say("hi", { direct: true });
    await world.pass(3_000);
    await world.runtime.updateSession("agent:main:main", { override: { send: "deny" } });
    await world.pass(10_000);
    expect(world.sent.map(({ text }) => text)).toEqual(["one"]);
    expect(world.events("agent_end")).toMatchObject([{ outcome: "replied" }]);
    await world.runtime.stop();
  });

  test("a heartbeat says nothing either, and a failure is told to nobody", async () => {
    const workspaces = { folder: (path: string) => path, read: async () => "Look at the build." };
    const world = await new World({
      config: { ...deny({ chatKind: "direct" }), heartbeat: { everyMs: 60_000 } },
      ports: { workspaces },
    }).start();
    world.runs.push(
      { afterMs: 10, steps: [{ error: "broken" }] },
      { afterMs: 10, steps: [{ text: "The build is red." }] },
    );
    await world.say("hi", { direct: true });
    await world.pass(65_000);
    expect(world.events("agent_end")).toMatchObject([
      { outcome: "failed" },
      { outcome: "silent", reason: "send-policy" },
    ]);
    expect(world.sent).toEqual([]);
    await world.runtime.stop();
  });
});
