/**
 * The judge: reads what the crashed processes left on disk and what the platform saw, and lists
 * every promise that was broken. It folds the journal by itself, so it believes no mark it can
 * recompute.
 */
import { type Conversation, createConversation } from "../../src/actors/host/conversation-actor.ts";
import { settingsFor } from "../../src/actors/host/conversation-settings.ts";
import { decodeEvent } from "../../src/actors/protocol/event-codec.ts";
import { scenarioConfig } from "../../src/domain/config/index.ts";
import { decodeVerdict } from "../../src/domain/decision.ts";
import type { EventRow, Store } from "../../src/domain/ports/index.ts";
import { crashConfig } from "./protocol.ts";
import type { Received } from "./world.ts";

/** What the outside saw. */
export interface History {
  readonly acked: ReadonlySet<string>;
  readonly received: readonly Received[];
}

interface Folded {
  readonly decided: string[];
  readonly started: Set<string>;
  readonly outcomes: string[];
}

/** Every violation, in words; empty when all promises were kept. */
export async function violations(store: Store, world: History): Promise<string[]> {
  const rows = await store.scan(0, 1_000_000);
  const found = rows
    .filter(({ code }) => code === null)
    .map(({ seq }) => `row ${seq} is not applied`);
  const conversations = await store.conversations({ limit: 1_000 });
  const decided: string[] = [];
  for (const { conv, key } of conversations) {
    const own = rows.filter((row) => row.conv === conv);
    const folded = fold(key, own);
    decided.push(...folded.decided);
    found.push(...outcomeViolations(key, folded), ...verdictViolations(own));
  }
  for (const id of world.acked) {
    const times = decided.filter((one) => one === id).length;
    if (times !== 1) found.push(`${id} was acknowledged and decided ${times} times`);
  }
  found.push(...(await sendViolations(store, world.received)));
  found.push(...orderViolations(world.received));
  for (const { turnId, state } of await store.runs()) found.push(`run ${turnId} was left ${state}`);
  return found;
}

function fold(key: string, rows: readonly EventRow[]): Folded {
  const settings = settingsFor(scenarioConfig(crashConfig), key, 1);
  const conversation: Conversation = createConversation({ key, settings });
  const folded: Folded = { decided: [], started: new Set(), outcomes: [] };
  for (const row of rows) {
    for (const effect of conversation.step(decodeEvent(row))) {
      if (effect.type === "decided") folded.decided.push(effect.messageId);
      if (effect.type === "turn.run") folded.started.add(effect.turnId);
      if (effect.type === "outcome") folded.outcomes.push(effect.turnId);
    }
  }
  conversation.stop();
  return folded;
}

function outcomeViolations(key: string, { started, outcomes }: Folded): string[] {
  const twice = outcomes.filter((turnId, index) => outcomes.indexOf(turnId) !== index);
  const none = [...started].filter((turnId) => !outcomes.includes(turnId));
  return [
    ...twice.map((turnId) => `${key}: turn ${turnId} has two outcomes`),
    ...none.map((turnId) => `${key}: turn ${turnId} has no outcome`),
  ];
}

function verdictViolations(rows: readonly EventRow[]): string[] {
  return rows.flatMap((row) => {
    if (decodeEvent(row).type !== "message.received") return [];
    const verdict = decodeVerdict(row.code ?? 0);
    return verdict?.decision === "engage" ? [] : [`row ${row.seq} has the verdict ${row.code}`];
  });
}

async function sendViolations(store: Store, received: readonly Received[]): Promise<string[]> {
  const found: string[] = [];
  const counts = new Map<string, number>();
  for (const { id } of received) counts.set(id, (counts.get(id) ?? 0) + 1);
  const rows = await store.outboxByState(["sent", "in-doubt", "dead", "expired"], 1_000_000);
  for (const { id, kind, state, doubts } of rows) {
    if (kind !== "reply") continue;
    const count = counts.get(id) ?? 0;
    if (count > 1 && doubts === 0) found.push(`${id} was sent ${count} times and never in doubt`);
    if (state === "sent" && count === 0) found.push(`${id} is said to be sent and never was`);
    if (state === "dead" || state === "expired") found.push(`${id} is ${state}`);
    counts.delete(id);
  }
  for (const { id, state } of await store.outboxOpen()) {
    if (state !== "in-doubt") found.push(`${id} was left ${state}`);
  }
  return [...found, ...[...counts.keys()].map((id) => `${id} was sent and has no row`)];
}

/** Answers name the messages they answer: in each chat they come in the order of the messages. */
function orderViolations(received: readonly Received[]): string[] {
  const seen = new Set<string>();
  const last = new Map<string, string>();
  return received.flatMap(({ id, text, chat }) => {
    if (seen.has(id)) return [];
    seen.add(id);
    const before = last.get(chat) ?? "";
    last.set(chat, text);
    return text > before ? [] : [`${chat}: "${text}" came after "${before}"`];
  });
}
