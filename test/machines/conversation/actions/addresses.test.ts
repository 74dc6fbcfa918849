/** How a block of the answer is addressed, and which names are the same person. */
import { describe, expect, test } from "vitest";
import {
  addressBlock,
  fillPrefix,
  notifiesRoom,
  targetOf,
} from "../../../../src/machines/conversation/reply-addressing.ts";
import { reaches, samePerson } from "../../../../src/machines/conversation/same-person.ts";
import { room, thread } from "../../../support/machines/acting.ts";

describe("an address", () => {
  const at = (index: number, over: object = {}) => ({
    index,
    several: false,
    overtaken: false,
    ...over,
  });
  const plain = { reply: false, quote: false };
  const reply = { reply: true, quote: false };
  const quote = { reply: true, quote: true };

  test.each<[string, string, object, object]>([
    ["auto", "direct", at(0, { overtaken: true }), plain],
    ["auto", "group", at(0), reply],
    ["auto", "channel", at(0), reply],
    ["auto", "group", at(1), plain],
    ["off", "group", at(0, { overtaken: true, several: true }), plain],
    ["all", "direct", at(0), reply],
    ["all", "group", at(1, { overtaken: true }), reply],
    ["all", "group", at(0, { overtaken: true }), quote],
    ["first", "direct", at(0), reply],
    ["first", "group", at(0, { overtaken: true }), quote],
    ["first", "group", at(1, { overtaken: true, several: true }), plain],
    ["batched", "group", at(0), plain],
    ["batched", "group", at(0, { several: true }), reply],
    ["batched", "group", at(0, { overtaken: true }), quote],
  ])("%s in a %s, %j", (mode, kind, block, address) =>
    expect(addressBlock(mode as never, kind as never, block as never)).toEqual(address),
  );

  test("names a message that was heard", () => {
    expect(targetOf(undefined, "m1", [])).toEqual({ kind: "none" });
    expect(targetOf("", "m1", [])).toEqual({ kind: "message", id: "m1" });
    expect(targetOf("", "", [])).toEqual({ kind: "unknown", id: "" });
    expect(targetOf("x", "m1", [["y"], ["x"]])).toEqual({ kind: "message", id: "x" });
    expect(targetOf("x", "m1", [["y"]])).toEqual({ kind: "unknown", id: "x" });
  });

  test("may begin with a prefix, set apart", () => {
    const words = { model: "m\n1", agent: "Ada", thinkLevel: "high" };
    expect(fillPrefix("", words)).toBe("");
    expect(fillPrefix("[{agent} {model} {thinkLevel} {other}]", words)).toBe(
      "[Ada m 1 high {other}] ",
    );
    expect(fillPrefix("{agent}:\n", words)).toBe("Ada:\n");
    expect(fillPrefix("{agent}{agent}", words)).toBe("AdaAda ");
  });

  test("a room hears of a failed turn where the config says so", () => {
    const found = (["always", "direct", "never"] as const).map((mode) => [
      notifiesRoom(mode as never, "direct"),
      notifiesRoom(mode as never, "group"),
    ]);
    expect(found).toEqual([
      [true, true],
      [true, false],
      [false, false],
    ]);
  });
});

describe("the same person", () => {
  const from = { route: room, author: "ann", owner: false };
  const asked = (author: string, route: object = room) =>
    ({ route, messages: [{ author: "cy" }, { author }] }) as never;

  test("is the same author on the same channel", () => {
    expect(samePerson(asked("ann"), asked("cy"))).toBe(true);
    expect(samePerson(asked("ann"), { route: room, messages: [{ author: "ann" }] } as never)).toBe(
      true,
    );
    expect(samePerson(asked("ann"), { route: room, messages: [{ author: "bob" }] } as never)).toBe(
      false,
    );
    const sms = { ...room, channel: "sms" };
    expect(
      samePerson(asked("ann", sms), { route: room, messages: [{ author: "ann" }] } as never),
    ).toBe(false);
    expect(samePerson(asked("ann"), { route: room, messages: [] } as never)).toBe(false);
  });

  test("an order to stop reaches its own, an owner's the whole chat, nobody's everything", () => {
    expect(reaches(undefined, asked("bob"))).toBe(true);
    expect(reaches(from, { route: thread, messages: [] } as never)).toBe(true);
    expect(reaches(from, asked("ann", thread))).toBe(true);
    expect(reaches(from, asked("bob"))).toBe(false);
    expect(reaches({ ...from, owner: true }, asked("bob"))).toBe(true);
    expect(reaches({ ...from, owner: true }, asked("bob", thread))).toBe(false);
    expect(reaches({ ...from, owner: true }, asked("ann", thread))).toBe(true);
  });
});
