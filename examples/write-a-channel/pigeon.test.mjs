// The contract of every channel of earshot, checked for this one. `can` lists what the loft can
// simulate; a test is declared for each.
import { channelContract } from "earshot/testing";
import { Loft } from "./loft.mjs";
import { pigeon } from "./pigeon.mjs";

const relay = { id: "relay", name: "Relay", bot: true };

/** A message of the contract as the loft has it. */
function inLoft({ text, in: place = "group", by, mentions, repliesTo }) {
  const calls = { us: ["pidge"], other: ["bo"] }[mentions] ?? [];
  const answers = { us: { id: "m0", from: "pidge" }, other: { id: "m0", from: "bo" } }[repliesTo];
  return {
    text,
    calls,
    answers: answers ?? null,
    ...(place === "direct" ? { loft: "ann", kind: "direct" } : {}),
    ...(by === "bot" ? { by: relay } : {}),
  };
}

channelContract({
  name: "pigeon",
  definition: pigeon,
  can: [
    ...["split", "echo", "limitNext", "refuseNext", "loseAnswer"],
    ...["line", "redeliver", "garbage", "revoke"],
  ],
  async world() {
    const token = "a-token-that-nobody-may-see";
    const loft = await new Loft(token).open();
    let account;
    const ours = () => loft.said.filter(({ from }) => from.id === "pidge");
    return {
      config: { port: loft.port, token },
      secrets: [token],
      classified: [
        [{ text: "hi", in: "direct" }, { chat: { kind: "direct" } }],
        [{ text: "hi", by: "bot" }, { author: { isBot: true } }],
        [{ text: "pidge!", mentions: "us" }, { mentions: [{ id: "pidge", isSelf: true }] }],
        [{ text: "bo!", mentions: "other" }, { mentions: [{ id: "bo", isSelf: false }] }],
        [{ text: "yes", repliesTo: "us" }, { replyTo: { authorIsSelf: true } }],
        [{ text: "no", repliesTo: "other" }, { replyTo: { authorId: "bo", authorIsSelf: false } }],
      ],
      connect(channel) {
        account = channel;
      },
      say: async (what) => loft.say(inLoft(what)),
      route: () => ({
        channel: "pigeon",
        account: "default",
        chat: { id: "roof", kind: "group" },
        thread: null,
      }),
      shown: async () =>
        ours().map(({ id, text, answers }) => ({ id, text, replyTo: answers?.id ?? null })),
      echo: async (text) => loft.say({ text, by: { id: "pidge", name: "Pidge", bot: true } }),
      limitNext: (seconds) => loft.next({ why: "slow-down", seconds }),
      refuseNext: () => loft.next({ why: "no-such-loft" }),
      loseAnswer: () => loft.next("lost"),
      async disconnect() {
        await loft.close();
        await account.state("backing-off");
      },
      async reconnect() {
        await loft.open();
      },
      redeliver: () => loft.twice(),
      garbage: () => loft.garbage(),
      revoke: () => loft.revoke(),
      close: () => loft.close(),
    };
  },
});
