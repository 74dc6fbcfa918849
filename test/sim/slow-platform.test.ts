/** A platform that stalls, fails or limits us holds up its own rooms and nobody else's. */
import { expect, test } from "vitest";
import { decisions, play, sends } from "../support/replay/replay.ts";

const rounds = 5;
const say = (channel: string, round: number) => ({
  t: round * 20_000,
  in: {
    channel,
    chat: { id: "room", kind: "group" },
    id: `${channel}${round}`,
    author: { id: "ann" },
    text: "hello",
    mentions: [{ id: "bot", isSelf: true }],
  },
});

/** Two rooms at the same time; sends of the one on Telegram end as given. */
async function talk(send: string) {
  const fate = { channel: "telegram", send, retryAfterMs: 60_000, count: 1_000 };
  const talk = Array.from({ length: rounds }, (_, n) => [say("telegram", n), say("irc", n)]).flat();
  const lines = await play([{ t: 0, platform: fate }, ...talk]);
  const of = (channel: string) => ({
    decided: decisions(lines).filter(({ key }) => key?.includes(channel)),
    sent: sends(lines)
      .filter((line) => line.channel === channel)
      .map(({ t, text, status }) => ({ t, text, status })),
  });
  return { irc: of("irc"), telegram: of("telegram") };
}

test.each(["hang", "429", "fail"])("sends that end in %s", async (fate) => {
  const calm = await talk("ok");
  const troubled = await talk(fate);
  expect(troubled.irc).toEqual(calm.irc);
  expect(calm.irc.sent.map(({ status }) => status)).toEqual(Array(rounds).fill("sent"));
  // Or else nothing was troubled.
  expect(troubled.telegram.sent).not.toEqual(calm.telegram.sent);
  expect(troubled.telegram.sent.map(({ status }) => status)).not.toContain("sent");
  expect(troubled.telegram.decided).toHaveLength(rounds);
});
