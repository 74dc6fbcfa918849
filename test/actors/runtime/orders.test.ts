/**
 * Orders: whatever ends the process while one is carried out, it is handed over again and carried out
 * once, and its answer is that of a process that did not end.
 */
import { afterEach, describe, expect, test } from "vitest";
import { conversationOf, decodeEvent, newEvent } from "../../../src/actors/protocol/event-codec.ts";
import { quarantinedCode } from "../../../src/actors/protocol/host-protocol.ts";
import type { OrderedAction } from "../../../src/actors/protocol/room-actions.ts";
import { openKeptStore } from "../../../src/adapters/stores/sqlite-store.ts";
import { inboundSchema } from "../../../src/domain/message.ts";
import type { KeptRow, Store } from "../../../src/domain/ports/index.ts";
import type { JournalEvent } from "../../../src/machines/events/events.ts";
import { World } from "../../support/runtime/world.ts";

const key = "agent:main:telegram:group:room";
const config = { errors: { notifyRoom: "never" }, messages: { inbound: { debounceMs: 10 } } };

/** A world on a store whose rows can be read after each of its commits. */
class CutWorld extends World {
  readonly cuts: readonly (readonly KeptRow[])[];

  private constructor(store: Store, cuts: readonly (readonly KeptRow[])[]) {
    super({ store, config });
    this.cuts = cuts;
  }

  static on(rows: readonly KeptRow[]): CutWorld {
    const kept = openKeptStore(rows);
    const now = new Map(rows.map((row) => [`${row.table} ${row.id}`, row]));
    const cuts: (readonly KeptRow[])[] = [];
    const store: Store = Object.create(kept, {
      commit: {
        async value(...given: Parameters<Store["commit"]>) {
          const answers = await kept.commit(...given);
          for (const change of kept.changes()) {
            const name = `${change.table} ${change.id}`;
            if (change.row === null) now.delete(name);
            else now.set(name, change);
          }
          cuts.push([...now.values()]);
          return answers;
        },
      },
    }) as Store;
    return new CutWorld(store, cuts);
  }

  rows(): readonly KeptRow[] {
    return this.cuts.at(-1) ?? [];
  }

  /** Types of the events that were journalled after the first `count`. */
  async journalled(count = 0): Promise<readonly string[]> {
    const rows = await this.store.scan(0, 10_000);
    return rows.slice(count).map((row) => decodeEvent(row).type);
  }

  called(id: string) {
    return this.say("@earshot are you there?", { id, mentions: [{ id: "we", isSelf: true }] });
  }
}

const worlds: CutWorld[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.runtime.stop();
});

async function open(rows: readonly KeptRow[], at: number): Promise<CutWorld> {
  const world = CutWorld.on(rows);
  worlds.push(world);
  world.clock.advanceTo(at);
  world.runs.push(...Array.from({ length: 9 }, () => ({ afterMs: 0, steps: [{ text: "yes" }] })));
  await world.start();
  return world;
}

const order = (action: OrderedAction) => ({ id: "order-1", key, action });

interface Given {
  /** What is there before the order. */
  readonly before: (world: CutWorld) => Promise<void>;
  readonly action: OrderedAction;
  /** An event of the conversation, and how many the order makes. */
  readonly makes: readonly [type: string, count: number];
  readonly answer: unknown;
}

const answered = async (world: CutWorld) => {
  await world.called("1");
  await world.pass(5_000);
  expect(world.sent).toHaveLength(1);
};
const refused = async (world: CutWorld) => {
  world.fates.push("refuse");
  await world.called("1");
  await world.pass(5_000);
};
/** Its number is 1. */
const quarantined = async (world: CutWorld) => {
  const message = inboundSchema.parse({
    channel: "telegram",
    chat: { id: "room", kind: "group" },
    id: "0",
    author: { id: "ann" },
    text: "It breaks you",
  });
  const event = { type: "message.received", at: 1, seq: 0, message } as unknown as JournalEvent;
  const named = { identity: "broken", messageId: "0", code: quarantinedCode };
  const { conv } = conversationOf(key);
  const entry = { key, conv, seq: 1, at: 1, error: "it broke", tries: 0 };
  await world.store.commit([
    newEvent({ conv, key }, 1, event, named).write,
    { kind: "meta", name: "quarantine", value: JSON.stringify([entry]) },
  ]);
  await world.restart();
  expect(world.runtime.status().quarantined).toHaveLength(1);
};
/** Of the message that `refused` could not send. */
const deadPart = async (world: CutWorld) =>
  (await world.store.outboxByState(["dead"], 9))[0]?.id ?? "none";

const by = "operator";
const all: Readonly<Record<string, Given>> = {
  disengage: {
    before: answered,
    action: { does: "disengage", by },
    makes: ["disengage", 1],
    answer: null,
  },
  "an activation": {
    before: answered,
    action: { does: "act", by, action: { does: "activation", level: "always" } },
    makes: ["session.overridden", 1],
    answer: { refused: null, messages: [] },
  },
  "words to say": {
    before: answered,
    action: { does: "act", by, action: { does: "say", text: "Hello all." } },
    makes: ["text.due", 1],
    answer: { refused: null, messages: [expect.stringMatching(/:0$/u)] },
  },
  "a new session": {
    before: answered,
    action: { does: "act", by, action: { does: "new" } },
    makes: ["session.reset", 1],
    answer: { refused: null, messages: [] },
  },
  "a session's reset": {
    before: answered,
    action: { does: "reset-session", sessionId: "the-next-session-00000001", wait: true, by },
    makes: ["session.reset", 1],
    answer: expect.objectContaining({ sessionId: "the-next-session-00000001" }),
  },
  "a setting": {
    before: answered,
    action: { does: "update-session", patch: { override: { send: "deny" } }, by },
    makes: ["session.overridden", 1],
    answer: expect.objectContaining({ key }),
  },
  "a label": {
    before: answered,
    action: { does: "label", id: "1", expected: "observe", by },
    makes: ["message.labelled", 1],
    answer: expect.objectContaining({ expected: "observe", by }),
  },
  "what a conversation cannot do": {
    before: answered,
    action: { does: "act", by, action: { does: "stop" } },
    makes: ["run.aborted", 0],
    answer: { refused: "no-turn" },
  },
  "a quarantined event, once more": {
    before: quarantined,
    action: { does: "retry-event", seq: 1 },
    makes: ["message.received", 1],
    answer: "retried",
  },
  "a quarantined event, dropped": {
    before: quarantined,
    action: { does: "drop-event", seq: 1 },
    makes: ["message.received", 0],
    answer: true,
  },
};

describe("an order is carried out once, wherever it is cut off", () => {
  for (const [name, { before, action, makes, answer }] of Object.entries(all))
    test(name, async () => {
      const first = await open([], 1_700_000_000_000);
      await before(first);
      const rows = first.rows();
      const count = (await first.journalled()).length;
      const from = first.cuts.length;
      const outcome = await first.runtime.carryOut(order(action));
      expect(outcome).toEqual({ answer });
      expect(await first.runtime.carryOut(order(action))).toEqual(outcome);
      const [type, times] = makes;
      const made = async (world: CutWorld) =>
        (await world.journalled(count)).filter((one) => one === type).length;
      expect(await made(first)).toBe(times);
      const states = [rows, ...first.cuts.slice(from)];
      expect(states.length).toBeGreaterThan(1);
      for (const cut of states) {
        const next = await open(cut, first.clock.now() + 1);
        expect(await next.runtime.carryOut(order(action))).toEqual({ answer });
        await next.runtime.settled();
        expect(await made(next)).toBe(times);
      }
    });

  for (const does of ["resend", "drop"] as const)
    test(`a part that could not be sent: ${does}`, async () => {
      const first = await open([], 1_700_000_000_000);
      await refused(first);
      const part = await deadPart(first);
      const rows = first.rows();
      const from = first.cuts.length;
      const outcome = await first.runtime.carryOut(order({ does, part }));
      expect(outcome).toEqual({ answer: true });
      await first.pass(5_000);
      expect(first.sent).toHaveLength(does === "resend" ? 1 : 0);
      for (const cut of [rows, ...first.cuts.slice(from)]) {
        const next = await open(cut, first.clock.now() + 1);
        expect(await next.runtime.carryOut(order({ does, part }))).toEqual(outcome);
        await next.pass(5_000);
        const row = await next.store.outboxRow(part);
        expect(row?.state).toBe(does === "resend" ? "sent" : "dead");
        expect(row?.attempts).toBeLessThanOrEqual(2);
      }
    });

  test("a refusal is an outcome, too, with its code and its words", async () => {
    const world = await open([], 1_700_000_000_000);
    await answered(world);
    const say = {
      does: "say",
      speech: {
        id: "s",
        place: { channel: "irc", account: "default", chat: { id: "c", kind: "group" } },
        text: "Hi",
        turn: false,
        replyTo: null,
        by,
      },
    } as unknown as OrderedAction;
    world.accounts = ["telegram:default"];
    const outcome = await world.runtime.carryOut(order(say));
    expect(outcome).toMatchObject({ refused: { code: "EAR_USAGE" } });
    expect(JSON.stringify(outcome)).toContain("irc");
    const newer = { does: "dance" } as unknown as OrderedAction;
    const other = await world.runtime.carryOut({ id: "order-2", key, action: newer });
    expect(other).toMatchObject({ refused: { code: "EAR_USAGE" } });
  });

  test("the newest orders are remembered, and those under way", async () => {
    const world = await open([], 1_700_000_000_000);
    await answered(world);
    for (let number = 0; number < 100; number += 1) {
      const outcome = await world.runtime.carryOut({
        id: `order-${number}`,
        key,
        action: { does: "act", by, action: { does: "stop" } },
      });
      expect(outcome).toEqual({ answer: { refused: "no-turn" } });
    }
    const noted = JSON.parse((await world.store.meta("orders")) ?? "[]") as { id: string }[];
    expect(noted.length).toBeLessThanOrEqual(33);
    expect(noted.at(-1)?.id).toBe("order-99");
  });
});
