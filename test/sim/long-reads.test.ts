/** What a turn reads of the whole journal is read before time goes on. */
import { expect, test } from "vitest";
import { ends, play } from "../support/replay/replay.ts";

const place = { channel: "irc", chat: { id: "ann", kind: "direct" } } as const;
const message = (t: number, id: string) => ({
  t,
  in: { ...place, id, author: { id: "ann", name: "Ann" }, text: "hello" },
});

test("an edit of an answered message, which the next turn is shown, holds that turn up for no time", async () => {
  const edit = { ...place, id: "m1", text: "hullo" };
  const lines = await play([message(0, "m1"), { t: 30_000, edit }, message(30_000, "m2")]);
  expect(ends(lines)).toMatchObject([
    { t: 500, outcome: "replied" },
    { t: 30_500, outcome: "replied" },
  ]);
});

test("neither does a reaction to an answer", async () => {
  const author = { id: "ann", name: "Ann" };
  const reaction = { ...place, id: "answer", author, added: ["👍"], ofSelf: true };
  const lines = await play([message(0, "m1"), { t: 30_000, reaction }, message(30_000, "m2")]);
  expect(ends(lines)).toMatchObject([{ t: 500 }, { t: 30_500, outcome: "replied" }]);
});
