/**
 * Steps a second of the conversation machine on one core, as the hosts run it: a live actor, one
 * event a step, effects drained. Observing alone, and a whole engaged turn (message, flush, turn slot,
 * agent, delivery: eight events). The ratio says what the statechart costs over the bare ladder.
 */
import { createConversation } from "../src/actors/host/conversation-actor.ts";
import { defaultConfig, resolveSettings } from "../src/domain/config/index.ts";
import type { Inbound } from "../src/domain/message.ts";
import { messages, perSecond, quietMix, report, round, short } from "./support.ts";

const key = "agent:main:telegram:group:-100";
const scope = {
  agentId: "main",
  key,
  channel: "telegram",
  account: "default",
  chatKind: "group" as const,
};
const settings = resolveSettings(defaultConfig, scope, 1);
const authority = { commandAuthorized: false, owner: false };
const start = 1_763_700_000_000;

const next = messages(1, quietMix);
const heard: Inbound[] = Array.from({ length: 4_096 }, (_, n) => next(n, start + n));
const live = createConversation({ key, settings });
let seq = 0;
const observe = perSecond(
  (n) => {
    seq += 1;
    const message = heard[n & 4_095] as Inbound;
    live.step({ type: "message.received", at: start + seq, seq, message, authority });
  },
  short ? 50_000 : 400_000,
);

const engaging = createConversation({ key, settings });
let at = start;
let turn = 0;
const mention = (id: string): Inbound => ({
  ...(heard[0] as Inbound),
  id,
  author: { id: "ann", name: "Ann", isBot: false, isSelf: false },
  mentions: [{ id: "self", isSelf: true }],
  replyTo: null,
});
function wholeTurn(): void {
  turn += 1;
  seq += 1;
  at += 1_000;
  const turnId = `t${turn}`;
  const message = mention(`m${turn}`);
  engaging.step({ type: "message.received", at, seq, message, authority });
  engaging.step({ type: "deadline.due", at: at + 500, id: "flush" });
  engaging.step({ type: "lane.granted", at: at + 500, turnId });
  engaging.step({ type: "agent.started", at: at + 500, turnId, attempt: 1 });
  engaging.step({ type: "agent.spoke", at: at + 600, turnId, what: "text" });
  engaging.step({
    type: "agent.text",
    at: at + 600,
    turnId,
    index: 0,
    from: 0,
    to: 2,
    text: "ok",
    mentions: [],
  });
  engaging.step({ type: "agent.ended", at: at + 600, turnId, silent: false });
  engaging.step({
    type: "delivery.sent",
    at: at + 700,
    turnId,
    index: 0,
    messageIds: [`o${turn}`],
  });
}
const turns = perSecond(wholeTurn, short ? 5_000 : 40_000);
if (!engaging.idle) throw new Error("a turn did not come to its end");

report({
  bench: "machine",
  unit: "a second, one core",
  figures: {
    "observed messages": observe,
    "whole turns (8 events)": turns,
    "events in turns": turns * 8,
  },
  ratios: { "observe over whole turn": round(observe / turns) },
});
