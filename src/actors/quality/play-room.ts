/**
 * Plays an agent in a labelled room
 * =================================
 * One conversation actor hears every line of the room except the agent's own. Those are taken as
 * they stand: each is a delivered reply to the authors of the lines that it answers. What another
 * answer would have changed in the room is not simulated (off-policy).
 *
 * No judge is asked: a line that would be put to one is decided by the answer that the room has for it,
 * else it stays observed. After an engaged line a turn runs for `turnMs`, or until the agent speaks. No agent is called.
 */
import type { Decision, EngagementInput, Rule } from "../../domain/decision.ts";
import type { Inbound, Millis, Route } from "../../domain/message.ts";
import type { LabelledLine, LabelledRoom } from "../../domain/quality/labelled-room.ts";
import type { ConversationSettings } from "../../domain/settings.ts";
import type { Effect } from "../../machines/events/effects.ts";
import type {
  ConversationEvent,
  JournalEvent,
  MessageReceived,
} from "../../machines/events/events.ts";
import { type Conversation, createConversation } from "../host/conversation-actor.ts";

/** A turn without an answer of the agent in the room counts as running so long. */
const turnMs = 10_000;

/**
 * The settings to play an agent under: it has its name beside the given ones, and batches do not
 * wait.
 */
export function settingsToPlay(
  settings: ConversationSettings,
  agent: string,
): ConversationSettings {
  return {
    ...settings,
    agentName: agent,
    engagement: { ...settings.engagement, aliases: [agent, ...settings.engagement.aliases] },
    debounce: { idleMs: 0, maxMs: 0 },
    queue: { ...settings.queue, mode: "followup", debounceMs: 0 },
    ackReaction: null,
    typing: { ...settings.typing, mode: "never" },
  };
}

/**
 * Calls `onDecision` for each line that somebody else wrote, in order, with its index; before that
 * `onInput` with what the ladder is shown.
 */
export function playAgent(
  room: LabelledRoom,
  agent: string,
  settings: ConversationSettings,
  onDecision: (index: number, decision: Decision, rule: Rule) => void,
  onInput?: (index: number, input: EngagementInput) => void,
): void {
  const player = new Player(room, agent, settings);
  for (const [index, line] of room.lines.entries()) {
    player.passTo(line.at);
    if (line.by === agent) player.speak(line);
    else {
      onInput?.(index, player.inputFor(line, index + 1));
      const { decision, rule } = player.hear(line, index + 1);
      onDecision(index, decision, rule);
    }
  }
}

interface Running {
  readonly turnId: string;
  readonly endsAt: Millis;
}

class Player {
  readonly #room: LabelledRoom;
  readonly #agent: string;
  readonly #conversation: Conversation;
  readonly #route: Route;
  readonly #bots: ReadonlySet<string>;
  readonly #authors: ReadonlyMap<string, string>;
  /** Durable deadlines, by id. */
  readonly #deadlines = new Map<string, Millis>();
  #running: Running | null = null;
  #wantsSlot = false;
  #turns = 0;
  #verdict: (Effect & { type: "decided" }) | null = null;

  constructor(room: LabelledRoom, agent: string, settings: ConversationSettings) {
    this.#room = room;
    this.#agent = agent;
    const key = `agent:${settings.agentId}:labelled:group:${room.room}`;
    this.#conversation = createConversation({ key, settings: settingsToPlay(settings, agent) });
    this.#bots = new Set(room.bots);
    this.#authors = authorsOf(room);
    this.#route = {
      channel: "labelled",
      account: "default",
      chat: { id: room.room, kind: "group" },
      thread: null,
    };
  }

  /** Everything that falls due until then. */
  passTo(at: Millis): void {
    while (this.#deadlines.size > 0 || this.#running !== null) {
      const [id, dueAt] = this.#nextDeadline();
      const endsAt = this.#running?.endsAt ?? Number.POSITIVE_INFINITY;
      if (Math.min(dueAt, endsAt) > at) return;
      if (id !== null && dueAt <= endsAt) this.#fire(id, dueAt);
      else this.#endTurn(endsAt);
    }
  }

  inputFor(line: LabelledLine, seq: number): EngagementInput {
    return this.#conversation.engagementInputFor(this.#received(line, seq));
  }

  #received(line: LabelledLine, seq: number): MessageReceived {
    const authority = { commandAuthorized: false, owner: false };
    const message = this.#inboundOf(line);
    return { type: "message.received", at: line.at, seq, message, authority };
  }

  hear(line: LabelledLine, seq: number) {
    const { at } = line;
    this.#verdict = null;
    this.#step(this.#received(line, seq));
    this.#judge(line);
    const verdict = this.#verdict as (Effect & { type: "decided" }) | null;
    if (verdict === null) throw new Error(`Cannot play line ${line.id}: it was not decided`);
    this.#takeSlot(at);
    return verdict;
  }

  /** The room's answer of a judge is known at once; the answer to no question changes nothing. */
  #judge({ id, at, judged }: LabelledLine): void {
    if (judged === undefined || this.#room.agents.length > 1) return;
    this.#step({ type: "judge.answered", at, id, ...judged, why: "" });
  }

  /** A line of the agent: a reply to those whose lines it answers. */
  speak({ id, at, text, answers = [] }: LabelledLine): void {
    while (this.#running !== null || this.#deadlines.size > 0) {
      const [deadline] = this.#nextDeadline();
      if (this.#running !== null) this.#endTurn(at);
      else if (deadline !== null) this.#fire(deadline, at);
    }
    const authors = answers.flatMap((name) => this.#authors.get(name) ?? []);
    const mentions = [...new Set(authors)].filter((author) => author !== this.#agent);
    const route = this.#route;
    const seq = this.#room.lines.length + 1 + this.#turns;
    this.#step({ type: "prompt.due", at, seq, id, route, text: "", by: "the room" });
    this.#takeSlot(at);
    const turn = this.#running as Running | null;
    if (turn === null) return;
    const { turnId } = turn;
    const span = { index: 0, from: 0, to: text.length };
    this.#step({ type: "agent.text", at, turnId, ...span, text, mentions });
    this.#step({ type: "delivery.sent", at, turnId, index: 0, messageIds: [id] });
    this.#endTurn(at);
  }

  #step(event: ConversationEvent): void {
    for (const effect of this.#conversation.step(event as JournalEvent)) this.#note(effect);
  }

  #note(effect: Effect): void {
    switch (effect.type) {
      case "decided":
        this.#verdict = effect;
        break;
      case "deadline.set":
        this.#deadlines.set(effect.id, effect.at);
        break;
      case "deadline.clear":
        this.#deadlines.delete(effect.id);
        break;
      case "lane.request":
        this.#wantsSlot = true;
        break;
      case "turn.run": {
        const asked = effect.batch.map(({ seq }) => this.#room.lines[seq - 1]?.at ?? 0);
        this.#running = { turnId: effect.turnId, endsAt: Math.max(0, ...asked) + turnMs };
        break;
      }
      default:
    }
  }

  #takeSlot(at: Millis): void {
    while (this.#wantsSlot && this.#running === null) {
      this.#wantsSlot = false;
      this.#turns += 1;
      const turnId = `T${this.#turns}`;
      this.#step({ type: "lane.granted", at, turnId });
      if (this.#running !== null) this.#step({ type: "agent.started", at, turnId, attempt: 1 });
    }
  }

  #nextDeadline(): readonly [id: string | null, at: Millis] {
    let found: string | null = null;
    let first = Number.POSITIVE_INFINITY;
    for (const [id, at] of this.#deadlines)
      if (at < first) {
        found = id;
        first = at;
      }
    return [found, first];
  }

  #fire(id: string, at: Millis): void {
    this.#deadlines.delete(id);
    this.#step({ type: "deadline.due", at, id });
    this.#takeSlot(at);
  }

  #endTurn(at: Millis): void {
    const { turnId } = this.#running as Running;
    this.#running = null;
    // Not answered yet, as far as is known: the agent did not choose silence.
    this.#step({ type: "agent.ended", at, turnId, silent: false });
    this.#takeSlot(at);
  }

  #inboundOf({ id, at, by, text, to = [] }: LabelledLine): Inbound {
    return {
      channel: "labelled",
      account: "default",
      chat: { id: this.#room.room, kind: "group" },
      thread: null,
      id,
      author: { id: by, name: by, isBot: this.#bots.has(by), isSelf: false },
      text,
      mentions: to.map((name) => ({ id: name, isSelf: name === this.#agent })),
      mentionsEveryone: false,
      replyTo: null,
      attachments: [],
      explicitOnly: false,
      sentAt: at,
    };
  }
}

/** Author by id of a line; one map a room, as many agents play in it. */
const authors = new WeakMap<LabelledRoom, ReadonlyMap<string, string>>();

export function authorsOf(room: LabelledRoom): ReadonlyMap<string, string> {
  const known = authors.get(room);
  if (known !== undefined) return known;
  const made = new Map(room.lines.map(({ id, by }) => [id, by]));
  authors.set(room, made);
  return made;
}
