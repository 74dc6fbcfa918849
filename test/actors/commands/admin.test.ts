/**
 * Administration commands, with a daemon control that records its calls: what is started, when, and
 * that a restart is announced and its end reported once, also after crashes.
 */
import { describe, expect, test } from "vitest";
import { EarshotError } from "../../../src/domain/errors.ts";
import type { ChatOverride, DaemonControl } from "../../../src/domain/ports/index.ts";
import { type SessionWorld, sessionWorld } from "../../support/runtime/session-world.ts";

const config = {
  commands: {
    ownerAllowFrom: ["telegram:ann"],
    allowFrom: { "*": ["telegram:ann", "telegram:bob"] },
  },
};
const bob = { id: "bob", name: "Bob" };
const texts = (world: SessionWorld) => world.sent.map(({ text }) => text);

function newControl() {
  const done: string[] = [];
  let problem: string | null = null;
  let said: ChatOverride[] = [];
  const rooms: DaemonControl = {
    layers: {
      overrides: (layer) => (layer === "debug" ? said : []),
      async set(layer, path, text, by) {
        done.push(`${layer} ${path} ${text}`);
        said = [{ path, value: text, by }];
        return { path, value: text, by };
      },
      async unset(layer, path) {
        done.push(`unset ${layer} ${path ?? "all"}`);
        return said.map((one) => one.path);
      },
    },
    file: {
      async set(path, text, by) {
        if (path === "server.port")
          throw new EarshotError("EAR_CONFIG_UNSAFE", "Cannot set server.port from a room as `no`");
        done.push(`set ${path} ${text} by ${by}`);
        const lines = ["-  a: 1,", "+  a: 2,"];
        return { path, value: text, lines, copy: "earshot.json5.bak", applied: true };
      },
      async unset(path) {
        done.push(`unset ${path}`);
        return path === "a.b" ? null : { path, lines: [], copy: null, applied: true };
      },
      async undo() {
        done.push("undo");
        return null;
      },
    },
    restart: { problem: async () => problem, start: () => void done.push("restart") },
  };
  return {
    rooms,
    done,
    fails(why: string) {
      problem = why;
    },
  };
}

describe("a restart", () => {
  test("begins once its answer is durable, and its end is told once in the same place", async () => {
    const { rooms, done } = newControl();
    const world = await sessionWorld(config, { control: rooms });
    world.ready = false;
    await world.talk("/restart", { id: "r1" });
    expect(done).toEqual(["restart"]);
    expect(await world.store.outboxOpen()).toHaveLength(1);
    world.ready = true;
    for (let n = 0; n < 3; n += 1) {
      await world.restart();
      await world.pass(1_000);
    }
    expect(world.sent).toMatchObject([
      { text: "Restarting after the current work finishes.", chat: "room", replyTo: "r1" },
      { text: "I am back.", chat: "room", replyTo: "r1" },
    ]);
    expect(done).toEqual(["restart"]);
    await world.runtime.stop();
  });

  test("that would fail is not begun, and nothing is told later", async () => {
    const { rooms, done, fails } = newControl();
    const world = await sessionWorld(config, { control: rooms });
    fails("Cannot read `earshot.json5`");
    await world.talk("/restart");
    await world.restart();
    await world.pass(1_000);
    expect(texts(world)).toEqual(["Not now: Cannot read 'earshot.json5'"]);
    expect(done).toEqual([]);
    await world.runtime.stop();
  });

  test("is told long after it was asked for, when it took that long", async () => {
    const { rooms } = newControl();
    const world = await sessionWorld(config, { control: rooms });
    await world.talk("/restart");
    await world.runtime.stop();
    world.clock.advanceTo(world.clock.now() + 86_400_000);
    await world.start(undefined);
    await world.pass(1_000);
    expect(texts(world).at(-1)).toBe("I am back.");
    await world.runtime.stop();
  });
});

describe("what an owner alone may order", () => {
  const orders = ["/restart", "/config set a.b 1", "/debug reset", "/config unset a.b", "/debug"];

  test("is nothing but words from others who may give commands", async () => {
    const { rooms, done } = newControl();
    const world = await sessionWorld(config, { control: rooms });
    for (const text of orders) {
      const [outcome] = await world.say(text, { author: bob });
      await world.pass(2_000);
      expect(outcome?.receivers[0]?.verdict?.decision).not.toBe("command");
    }
    expect(done).toEqual([]);
    await world.runtime.stop();
  });

  test("is handed on with who said it, and refusals come back without a mark of their own", async () => {
    const { rooms, done } = newControl();
    const world = await sessionWorld(config, { control: rooms });
    for (const text of [
      "/debug set stream.maxChars  900",
      "/debug",
      "/debug reset",
      "/config set stream.maxChars  900",
      "/config unset a.b",
      "/config unset a.c",
      "/config undo",
      "/config set server.port 1",
    ])
      await world.talk(text, { direct: true });
    expect(done).toEqual([
      "debug stream.maxChars 900",
      "unset debug all",
      "set stream.maxChars 900 by telegram:ann",
      "unset a.b",
      "unset a.c",
      "undo",
    ]);
    expect(texts(world)).toEqual([
      '`stream.maxChars` is now `"900"` until a restart.',
      '`stream.maxChars` is `"900"`: telegram:ann, until a restart',
      "Override removed: `stream.maxChars`.",
      '`stream.maxChars` is now `"900"`.\n```diff\n-  a: 1,\n+  a: 2,\n```\n' +
        "/config undo reverts this. The previous file is `earshot.json5.bak`.",
      "The config file does not set `a.b`.",
      "The override is removed.",
      "There is nothing to undo, or the config file has changed since.",
      "Nothing was changed. Cannot set server.port from a room as 'no'",
    ]);
    await world.runtime.stop();
  });
});
