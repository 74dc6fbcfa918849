/**
 * A run against the reference
 * ===========================
 * Compares a run with the reference model, for every message that reached the ladder. The facts
 * about turns (which messages they answered, what was delivered and when) come from the run; the
 * expected decisions come from the model.
 */
import { resolveSettings, scenarioConfig } from "../domain/config/index.ts";
import { parseSessionKey } from "../domain/key.ts";
import type { Inbound } from "../domain/message.ts";
import type { ScenarioLine } from "../domain/scenario/scenario.ts";
import type { DecisionLine, StreamLine } from "../domain/stream.ts";
import { ReferenceConversation } from "./reference-room.ts";
import type { RoomRun } from "./room-run.ts";

/** A channel returns a read of its member list for half an hour. */
const readCachedMs = 30 * 60_000;

/** A message that the reference decides differently. */
export interface Difference {
  readonly id: string;
  readonly key: string;
  /** `rule` and the credit's outcome, as in the run. */
  readonly was: string;
  readonly expected: string;
}

/**
 * The messages that the reference model decides differently from the runtime: none, unless one of
 * them is wrong. For rooms of one agent that uses no tools, without commands.
 */
export function differencesFrom(run: RoomRun): readonly Difference[] {
  const comparison = new Comparison(run.config);
  for (const event of run.events) {
    if ("input" in event) comparison.take(event.input);
    else comparison.follow(event.output);
  }
  return comparison.differences;
}

class Comparison {
  readonly differences: Difference[] = [];
  readonly #config: ReturnType<typeof scenarioConfig>;
  readonly #conversations = new Map<string, ReferenceConversation>();
  readonly #messages = new Map<string, Inbound>();
  /** Messages of the running turn, by conversation. */
  readonly #batches = new Map<string, readonly string[]>();
  /** The newest read of each chat's member list. */
  readonly #members = new Map<string, NonNullable<ReferenceConversation["membership"]>>();

  constructor(config: unknown) {
    this.#config = scenarioConfig({}, config);
  }

  take(line: ScenarioLine): void {
    if ("in" in line) this.#messages.set(line.in.id, line.in);
    if ("membership" in line) {
      const { chat, humans, bots, truncated } = line.membership;
      this.#members.set(chat.id, { humans, bots, truncated, fetchedAt: line.t });
    }
  }

  follow(line: StreamLine): void {
    if ("system" in line) return;
    if ("decision" in line) {
      this.#decided(line);
      return;
    }
    const known = "key" in line ? this.#conversations.get(line.key) : undefined;
    if (known === undefined || !("key" in line)) return;
    const batch = this.#batches.get(line.key) ?? [];
    if ("out" in line) {
      const { status, thread, t: at, text } = line;
      if (status === "sent") known.delivered(batch.map(this.#author), { thread, at, text });
    } else if (line.event === "agent_start") {
      this.#batches.set(line.key, line.batch);
      known.started(line.batch);
    } else if (line.event === "agent_end") {
      known.settled(batch);
      if (line.outcome === "silent" && line.reason === undefined)
        known.stayedSilent(batch.map(this.#author));
    } else if (line.event === "dropped") known.settled([line.message]);
  }

  #decided({ id, key, t, decision, rule, credit }: DecisionLine): void {
    const message = this.#messages.get(id);
    const reachedLadder = decision === "engage" || decision === "observe";
    if (message === undefined || key === null || !reachedLadder) return;
    const conversation = this.#conversationOf(key, message);
    const read = this.#members.get(message.chat.id);
    // The chat itself gets every read; its threads get one with their messages, while it is cached.
    if (read !== undefined && (message.thread === null || t - read.fetchedAt < readCachedMs))
      conversation.membership = read;
    const expected = conversation.hear(message, t);
    const verdicts = { was: `${rule} ${credit}`, expected: `${expected.rule} ${expected.credit}` };
    if (verdicts.was !== verdicts.expected) this.differences.push({ id, key, ...verdicts });
  }

  readonly #author = (id: string): string => this.#messages.get(id)?.author.id ?? "";

  #conversationOf(key: string, { channel, account, chat }: Inbound): ReferenceConversation {
    const known = this.#conversations.get(key);
    if (known !== undefined) return known;
    const { agentId } = parseSessionKey(key);
    const scope = { agentId, key, channel, account, chatKind: chat.kind };
    const made = new ReferenceConversation(resolveSettings(this.#config, scope, 0));
    this.#conversations.set(key, made);
    return made;
  }
}
