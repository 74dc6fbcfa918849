/**
 * Fields that inspectors see
 * ==========================
 * Events and effects by type, the context by field: which fields an inspector sees, and which of
 * them are text of people or agents. Names, titles and the input of tools count as text; ids,
 * numbers and states do not. A new type of event or effect does not compile until it is listed
 * here.
 */
import type { ConversationContext } from "../../machines/conversation/context.ts";
import type { Effect, EmittedEffect } from "../../machines/events/effects.ts";
import type { ConversationEvent } from "../../machines/events/events.ts";
import { fieldsOf, type Projected, type Projection } from "./projection.ts";

const fields = (of: Readonly<Record<string, Projection>>): Projection => ({ fields: of });
const list = (of: Projection): Projection => ({ list: of });
const all = (...names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, "plain"] as const));

const idAndKind = fields(all("id", "kind"));
const place = { ...all("channel", "account"), chat: idAndKind, thread: idAndKind };
const route = fields(place);
const author = fields({ ...all("id", "isBot", "isSelf", "isChat", "isHost"), name: "text" });
const origin = fields({
  ...all("authorId", "messageId", "sentAt"),
  authorName: "text",
  chat: fields({ id: "plain", title: "text" }),
});
const message = fields({
  ...place,
  ...all("id", "mentionsEveryone", "groupId", "explicitOnly", "outside", "sentAt"),
  chat: fields({ ...all("id", "kind", "movedTo"), title: "text" }),
  thread: fields({ ...all("id", "kind"), title: "text" }),
  forwarded: origin,
  quote: fields({ text: "text", from: origin }),
  author,
  text: "text",
  mentions: list(fields(all("id", "isSelf"))),
  replyTo: fields({ ...all("id", "authorId", "authorIsSelf"), text: "text" }),
  attachments: list(fields({ ...all("kind", "bytes"), name: "text" })),
});
const edit = fields({ ...place, ...all("id", "editedAt"), author, text: "text" });
const reaction = fields({
  ...place,
  ...all("id", "ofSelf", "outside", "reactedAt"),
  author,
  text: "text",
  added: list("text"),
  removed: list("text"),
});
const extras = {
  media: fields({ ...all("kind", "mime", "bytes"), name: "text", caption: "text", url: "text" }),
  choices: fields({ poll: "plain", text: "text", options: list("text") }),
} as const;
const membership = fields(all("humans", "bots", "truncated", "fetchedAt"));
const queue = fields(all("mode", "debounceMs", "cap", "drop"));
const settings = fields({
  ...all("version", "agentId", "send", "replyTo", "everyoneMentions", "notifyRoom"),
  engagement: fields({
    ...all("activation"),
    trigger: list("plain"),
    stickiness: fields(all("enabled", "windowMs", "mode", "threshold", "holdDuringTurn")),
  }),
  context: fields(all("size", "maxAgeMs")),
  loopGuard: fields(all("maxConsecutive", "maxInWindow", "windowMs", "hardLimit")),
  debounce: fields(all("idleMs", "maxMs")),
  queue,
  turn: fields(all("idleMs", "maxMs", "replyAgeMsMax")),
});
const calls = list(fields({ ...all("command"), args: list("text") }));
const asked = fields({
  ...all("messageId", "author", "owner", "about", "called"),
  route,
  as: "text",
});
const was = fields(all("seq", "editSeq"));
const refs = list(fields({ ...all("seq", "id", "editSeq"), was }));
const relay = { ...all("token", "place"), keys: list("plain") };
const turn = all("turnId");
const usage = fields(all("inputTokens", "outputTokens", "costUsd"));

type Type<Of extends { readonly type: string }> = {
  readonly [Name in Of["type"]]: Projected<Extract<Of, { readonly type: Name }>>;
};

const events: Type<ConversationEvent> = {
  "message.received": {
    ...all("seq", "skill"),
    message,
    membership,
    relay: fields(relay),
    levels: { map: "text" },
    said: "text",
    authority: fields(all("commandAuthorized", "owner")),
    namesOnly: list("text"),
  },
  "fellow.spoke": { seq: "plain", message },
  "message.edited": { seq: "plain", edit },
  "message.deleted": { seq: "plain", deletion: fields({ ...place, id: "plain" }) },
  "message.reacted": { seq: "plain", reaction },
  "history.seeded": { seq: "plain", messages: list(message) },
  "membership.read": { membership },
  "judge.answered": { ...all("id", "chat", "engage", "confidence", "failed"), why: "text", usage },
  "deadline.due": all("id"),
  "lane.granted": turn,
  "agent.started": { ...turn, ...all("attempt") },
  "agent.spoke": { ...turn, ...all("what") },
  "agent.text": {
    ...turn,
    ...all("index", "from", "to", "draft", "edits", "aside"),
    text: "text",
    prefix: "text",
    mentions: list("plain"),
    ...extras,
  },
  "agent.steered": { ...turn, messages: list("plain"), edits: list("plain") },
  "agent.message-ended": turn,
  "agent.tool": { ...turn, name: "text", input: "text" },
  "agent.tool-failed": { ...turn, name: "text", message: "text" },
  "agent.usage": { ...turn, ...all("inputTokens", "outputTokens", "costUsd") },
  "agent.ended": { ...turn, ...all("silent") },
  "agent.failed": { ...turn, ...all("code"), message: "text", unsent: "text" },
  "delivery.sent": { ...turn, ...all("index"), messageIds: list("plain") },
  "delivery.failed": { ...turn, ...all("index", "status") },
  disengage: { ...all("operator"), by: "text" },
  skip: turn,
  "command.applied": { ...all("command"), args: list("text"), more: calls, asked },
  "session.reset": { ...all("sessionId", "operator", "cuts"), by: "text" },
  "session.overridden": { ...all("send", "activation", "merge"), queue, by: "text" },
  "heartbeat.due": { route },
  "text.due": { ...all("id", "replyTo"), route, parts: list("text"), by: "text" },
  "prompt.due": { ...all("seq", "id", "by"), route, text: "text" },
  "config.changed": { settings },
  "run.aborted": {
    ...all("operator"),
    by: "text",
    from: fields({ ...all("author", "owner"), route }),
  },
  "host.recovered": all("restarted"),
};

const verdict = all("decision", "rule", "credit", "creditExpiresAt");
const ack = { ...all("message"), emoji: "text", route } as const;
const effects: Type<Effect> = {
  decided: { ...verdict, ...all("seq", "messageId") },
  "deadline.set": all("id"),
  "deadline.clear": all("id"),
  "lane.request": {},
  "lane.release": {},
  "turn.run": {
    ...turn,
    ...all("turn", "attempt", "omitted", "replyTo", "guard", "nudge", "introduce", "afterAbort"),
    ...all("humans", "heartbeat", "prompt", "sessionAt", "firstIndex"),
    batch: refs,
    context: refs,
    route,
    participants: list("text"),
    droppedWhileBusy: list("text"),
  },
  say: { ...turn, ...all("replyTo"), route, parts: list("text") },
  unsaid: { ...turn, ...all("part", "status") },
  "turn.steer": { ...turn, batch: refs },
  "turn.abort": { ...turn, reason: "text" },
  block: {
    ...turn,
    ...all("index", "replyTo", "quote", "kind", "draft", "edits", "aside"),
    text: "text",
    route,
    ...extras,
  },
  typing: { on: "plain", route },
  react: ack,
  unreact: ack,
  transcript: { ...turn, ...all("role", "index"), text: "text" },
  joined: { ...turn, batch: refs },
  usage: { ...turn, ...all("inputTokens", "outputTokens", "costUsd") },
  "session.began": all("sessionId", "owes"),
  dropped: { message: fields(all("seq", "id", "editSeq")), why: "plain" },
  "run.ended": { ...turn, ...all("broken") },
  outcome: {
    ...turn,
    unsent: list(fields(all("part", "status"))),
    ...all("turn", "outcome", "sessionAt"),
    batch: refs,
    reason: "text",
    cause: fields({ kind: "plain", message: "text" }),
  },
  "relay.pass": { ...all("token", "place"), to: list("plain") },
  "membership.refresh": { route },
  "judge.ask": { messages: refs, route },
  command: { calls, asked },
};

const pending = fields({ ...all("seq", "id", "at", "author", "editSeq"), gist: "text" });
const batch = { ...all("instant", "holds", "overtaken"), route, messages: list(pending) };
/** Without the hashes of our words. */
const floor = fields({
  ...all("since", "answered", "heard", "exchanges", "asked", "named", "own"),
  ...all("elsewhere", "addressed", "addressedAt", "lastAt", "last", "calls", "plain"),
});
const context: Projected<ConversationContext> = {
  ...all("seeded", "quietAt", "quietBy", "interruptedAt", "turnSeq"),
  ...all("introduced", "abortedLastRun"),
  settings,
  override: fields({ ...all("send", "activation"), queue }),
  participants: list(fields({ ...all("id", "isBot", "lastSeenAt"), name: "text" })),
  membership,
  ledger: { map: "plain" },
  floors: fields({ ...all("heard", "spokeAt"), rows: { map: floor } }),
  counters: fields({ ...all("consecutive"), window: list("plain") }),
  buffer: fields({
    ...all("dropped"),
    entries: list(
      fields({
        ...all("seq", "id", "at", "author", "self", "editSeq", "chat", "stopped"),
        asked: fields({ ...all("media", "group"), route, gist: "text" }),
      }),
    ),
  }),
  notes: list(fields({ ...all("seq", "id", "at", "chat"), was })),
  readByTurns: list(fields({ ...all("seq", "id", "editSeq", "chat"), was })),
  forming: list(fields({ ...batch, ...all("author", "group", "firstAt", "closesAt") })),
  inbox: list(fields({ ...batch, ...all("backlog", "steeredAt", "past") })),
  droppedWhileBusy: list("text"),
  run: fields({
    ...all("holds", "overtaken", "blocks", "offset", "left", "refused", "shown"),
    abortedBy: "text",
    order: fields(effects["turn.run"]),
    batch: list(pending),
    open: list(fields({ ...all("index", "kind", "draft"), mentions: list("plain") })),
  }),
  relays: list(fields({ ...relay, ...all("seq", "at"), ahead: list("plain") })),
  heartbeat: route,
  prompts: list(fields({ ...all("seq"), route })),
  typing: route,
  ownMessages: list("plain"),
  siblingMessages: list("plain"),
  heardMessages: list("plain"),
  spokenIn: list("plain"),
};

/** An event as an inspector sees it. */
export function shownEvent(event: ConversationEvent, withText: boolean): Record<string, unknown> {
  const { type, at } = event;
  return { type, at, ...fieldsOf(events[type], event, withText) };
}

/** A context as an inspector sees it: the effects of the step are in `effects`. */
export function shownContext(
  of: ConversationContext,
  emitted: readonly EmittedEffect[],
  withText: boolean,
): Record<string, unknown> {
  const wanted = emitted.map((effect) => {
    const at = effect.type === "deadline.set" ? { at: effect.at } : {};
    return { type: effect.type, ...at, ...fieldsOf(effects[effect.type], effect, withText) };
  });
  return { ...fieldsOf(context, of, withText), effects: wanted };
}

/** An error's message, which may hold text of the room. */
export function shownError(message: string, withText: boolean): unknown {
  return fieldsOf({ error: "text" }, { error: message }, withText).error;
}
