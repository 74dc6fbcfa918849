/** One word that ends a turn: who may say it, what it ends, what it leaves. */
import { expect, test } from "vitest";
import { decisions, ends, play, sends, starts } from "../../support/replay/replay.ts";

const header = { earshot: 1, config: { commands: { allowFrom: { irc: ["ann"] } } } };
const say = (t: number, id: string, author: string, text: string, more = {}) => ({
  t,
  in: {
    channel: "irc",
    chat: { id: "#a", kind: "group" },
    id,
    author: { id: author },
    text,
    mentions: [{ id: "bot", isSelf: true }],
    ...more,
  },
});
const slow = { t: 0, agent: { runs: [{ steps: [{ waitMs: 5_000 }, { text: "late" }] }] } };

test.each(["/stop", "stop", " Stop\n", "please stop!", "/abort", "/STOP@earshot"])(
  "%j from the person whose turn runs ends it at once",
  async (word) => {
    const lines = await play([
      header,
      slow,
      say(0, "m1", "ann", "hi"),
      say(1_000, "s", "ann", word),
    ]);
    expect(decisions(lines).at(-1)).toMatchObject({ t: 1_000, id: "s", decision: "command" });
    expect(ends(lines)).toMatchObject([{ t: 1_000, turn: 1, outcome: "cancelled" }]);
    expect(sends(lines)).toMatchObject([{ t: 1_000, text: "Stopped.", replyTo: "s" }]);
    const acks = lines.filter(
      (line) => "out" in line && (line.out === "react" || line.out === "unreact"),
    );
    expect(acks).toMatchObject([
      { out: "react", message: "m1" },
      { t: 1_000, out: "unreact", message: "m1" },
    ]);
  },
);

test("a stop leaves what other people have in line, and the turns of other people", async () => {
  const own = await play([
    header,
    slow,
    say(0, "m1", "ann", "hi"),
    say(700, "m2", "cy", "me too"),
    say(2_000, "s", "ann", "/stop"),
  ]);
  expect(ends(own).map(({ outcome }) => outcome)).toEqual(["cancelled", "replied"]);
  expect(starts(own)[1]?.batch).toEqual(["m2"]);
  const others = await play([
    header,
    slow,
    say(0, "m1", "bo", "hi"),
    say(1_000, "s", "ann", "/stop"),
  ]);
  expect(ends(others)).toMatchObject([{ t: 5_500, outcome: "replied" }]);
});

test.each([
  ["someone who may not", "bo", "/stop", {}],
  ["a word inside a sentence", "ann", "does the bus stop here", {}],
  ["a command for another bot", "ann", "/stop@other", { mentions: [{ id: "other" }] }],
  ["a caption", "ann", "stop", { attachments: [{ id: "a1", kind: "image" }] }],
] as const)("%s stops nothing", async (_, author, text, more) => {
  const lines = await play([
    header,
    slow,
    say(0, "m1", "bo", "hi"),
    say(1_000, "s", author, text, more),
  ]);
  expect(decisions(lines).map(({ decision }) => decision)).not.toContain("command");
  expect(ends(lines)[0]).toMatchObject({ t: 5_500, outcome: "replied" });
});

test("said twice or with nothing to stop, it does nothing more", async () => {
  const lines = await play([
    header,
    say(0, "s", "ann", "stop"),
    say(10, "s", "ann", "stop"),
    say(20, "m1", "bo", "hi"),
  ]);
  expect(decisions(lines).map(({ decision }) => decision)).toEqual([
    "command",
    "duplicate",
    "engage",
  ]);
  expect(ends(lines)).toMatchObject([{ outcome: "replied" }]);
});
