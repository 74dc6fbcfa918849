/** What is said, changed and removed in the room, action by action. */
import { describe, expect, test } from "vitest";
import { inboundSchema } from "../../../../src/domain/message.ts";
import * as guards from "../../../../src/machines/conversation/guards.ts";
import * as messages from "../../../../src/machines/conversation/message-actions.ts";
import {
  acting,
  contextWith,
  flush,
  forming,
  pending,
  room,
  run,
} from "../../../support/machines/acting.ts";
import { buffer, clear, dropped, entry, none, set, settings } from "./values.ts";

describe("what is said, changed and removed", () => {
  const inbound = (over: object = {}) =>
    inboundSchema.parse({
      channel: "irc",
      chat: room.chat,
      id: "m9",
      author: { id: "bob" },
      text: "x",
      ...over,
    });
  const place = { channel: "irc", account: "default", chat: room.chat, thread: null };

  test("another agent's words are kept like what was observed", () => {
    const spoke = { type: "fellow.spoke", at: 9, seq: 9, message: inbound() } as const;
    const given = {
      buffer: buffer(entry(1)),
      inbox: [flush([3])],
      forming: [forming([4])],
      run: run(),
    };
    const { changed, effects } = acting(
      { ...given, ...settings({ context: { size: 1 } }) },
      (step) => messages.bufferSibling(step, spoke),
    );
    expect(changed).toEqual({
      buffer: { entries: [entry(9, { author: "bob" })], dropped: 1 },
      siblingMessages: ["m9"],
      inbox: [flush([3], { overtaken: true })],
      forming: [forming([4], { overtaken: true })],
      run: run({ overtaken: true }),
    });
    expect(effects).toEqual([dropped(1, "context-size")]);
    const own = { ...spoke, message: inbound({ author: { id: "ann" } }) };
    const quiet = acting(given, (step) => messages.bufferSibling(step, own)).changed;
    expect(Object.keys(quiet).sort()).toEqual(["buffer", "siblingMessages"]);
  });

  test("an edit changes what is remembered and waits, and is noted where a turn has read it", () => {
    const edit = {
      type: "message.edited",
      at: 9,
      seq: 20,
      edit: { ...place, id: "m3", text: "y" },
    } as never;
    const given = {
      buffer: buffer(entry(3), entry(4)),
      inbox: [flush([3])],
      forming: [forming([3])],
      readByTurns: [
        { seq: 3, id: "m3", editSeq: 11 },
        { seq: 4, id: "m4" },
      ],
      ...settings({ context: { size: 1 } }),
    };
    const { changed, effects } = acting(given, (step) => messages.applyEdit(step, edit));
    expect(changed).toEqual({
      buffer: buffer(entry(3, { editSeq: 20 }), entry(4)),
      inbox: [flush([3], {}, { editSeq: 20 })],
      forming: [forming([3], { messages: [pending(3, { editSeq: 20 })] })],
      readByTurns: [
        { seq: 3, id: "m3", editSeq: 20 },
        { seq: 4, id: "m4" },
      ],
      notes: [{ seq: 20, id: "m3", at: 9, was: { seq: 3, editSeq: 11 } }],
    });
    expect(effects).toEqual([]);
    const unread = acting({ readByTurns: [{ seq: 4, id: "m4" }] }, (step) =>
      messages.applyEdit(step, edit),
    );
    expect(unread).toEqual(none);
    const before = { seq: 19, id: "m4", at: 8, was: { seq: 4 } };
    const full = acting(
      { ...given, notes: [before], buffer: { entries: [], dropped: 2 } },
      (step) => messages.applyEdit(step, edit),
    );
    expect(full.changed.buffer).toEqual({ entries: [], dropped: 3 });
  });

  test("a reaction to a message of ours is noted", () => {
    const react = (reaction: object, given: object = {}) =>
      acting({ ownMessages: ["o1"], siblingMessages: ["s1"], ...given }, (step) =>
        messages.noteReaction(step, {
          type: "message.reacted",
          at: 9,
          seq: 20,
          reaction: { ...place, id: "o1", added: ["👍"], removed: [], ...reaction },
        } as never),
      ).changed.notes;
    const note = (id: string) => [{ seq: 20, id, at: 9 }];
    expect(react({})).toEqual(note("o1"));
    expect(react({ added: [], removed: ["👍"] })).toEqual(note("o1"));
    expect(react({ removed: ["👎"] })).toEqual(note("o1"));
    expect(react({ added: [] })).toBeUndefined();
    expect(react({ id: "x" })).toBeUndefined();
    expect(react({ id: "x", ofSelf: true })).toEqual(note("x"));
    expect(react({ id: "s1", ofSelf: true })).toBeUndefined();
    expect(react({ id: "o1", ofSelf: false })).toEqual(note("o1"));
  });

  test("a deletion forgets what nobody has answered", () => {
    const remove = (given: object, id = "m3", where: object = place) =>
      acting(given, (step) =>
        messages.applyDeletion(step, {
          type: "message.deleted",
          at: 9,
          seq: 20,
          deletion: { ...where, id },
        } as never),
      );
    const note = { seq: 7, id: "m3", at: 1 };
    expect(
      remove({ buffer: buffer(entry(3), entry(4)), notes: [note, { ...note, id: "m4" }] }),
    ).toEqual({
      changed: { buffer: buffer(entry(4)), notes: [{ ...note, id: "m4" }] },
      effects: [dropped(3, "deleted")],
    });
    expect(remove({ buffer: buffer(entry(3), entry(4)) }, "m4").effects).toEqual([
      dropped(4, "deleted"),
    ]);
    const acked = flush([3], {}, { ack: "👀" });
    const line = remove({ inbox: [acked], forming: [forming([5])], quietAt: 4, quietBy: 5 });
    expect(line.changed).toEqual({ inbox: [], quietAt: null, quietBy: 0 });
    expect(line.effects).toEqual([
      dropped(3, "deleted"),
      { type: "unreact", message: "m3", emoji: "👀", route: room },
      clear("quiet"),
    ]);
    const open = remove({
      forming: [forming([3]), forming([5], { closesAt: 900 })],
      inbox: [flush([6])],
      quietAt: 4,
    });
    expect(open.changed).toEqual({ forming: [forming([5], { closesAt: 900 })] });
    expect(open.effects).toEqual([dropped(3, "deleted"), set("flush", 900)]);
    expect(remove({ inbox: [flush([4])], forming: [forming([5])] })).toEqual(none);
    const relays = [{ token: "m3", place: 1, keys: ["a", "b", "c"], seq: 3, at: 1, ahead: [0] }];
    expect(remove({ inbox: [flush([3]), flush([4])], relays }).effects).toEqual([
      dropped(3, "deleted"),
      { type: "relay.pass", token: "m3", place: 1, to: ["c"] },
      clear("relay"),
      { type: "lane.request" },
    ]);
    const last = (given: object) =>
      guards.isLastToWait(contextWith(given), {
        type: "message.deleted",
        deletion: { ...place, id: "m3" },
      } as never);
    expect(last({ inbox: [flush([3])] })).toBe(true);
    expect(last({ inbox: [flush([3]), flush([4])] })).toBe(false);
    expect(last({ inbox: [flush([4])] })).toBe(false);
    expect(last({})).toBe(false);
    expect(last({ inbox: [flush([3])], prompts: [{ seq: 1, route: room }] })).toBe(false);
  });

  test("a deletion of what the running agent has taken in leaves it in the turn", () => {
    const inbox = [flush([3, 4], { steeredAt: 0 }, { ack: "👀" }), flush([5])];
    const removed = acting({ run: run(), inbox }, (step) =>
      messages.applyDeletion(step, {
        type: "message.deleted",
        at: 9,
        seq: 20,
        deletion: { ...place, id: "m3" },
      } as never),
    );
    expect(removed.effects).toEqual([
      { type: "joined", turnId: "T1", batch: [{ seq: 3, id: "m3" }] },
    ]);
    const { run: changed, inbox: line } = removed.changed;
    expect(changed?.batch.map(({ id }) => id)).toEqual(["m1", "m3"]);
    expect(line).toEqual([flush([4], { steeredAt: 0 }, { ack: "👀" }), flush([5])]);
  });

  test("a history is remembered once, in front of what came meanwhile", () => {
    const history = [
      inbound({ id: "h1", sentAt: 5 }),
      inbound({ id: "h2", author: { id: "us", isSelf: true } }),
      inbound({ id: "h3", author: { id: "cy" }, sentAt: 500 }),
      inbound({ id: "m1" }),
      inbound({ id: "m3" }),
      inbound({ id: "m4" }),
      inbound({ id: "o1" }),
      inbound({ id: "s1" }),
      inbound({ id: "c1" }),
    ];
    const given = {
      run: run(),
      inbox: [flush([3])],
      forming: [forming([4])],
      ownMessages: ["o1"],
      siblingMessages: ["s1"],
      heardMessages: ["c1"],
      participants: [{ id: "bob", name: "Bob", isBot: false, lastSeenAt: 80 }],
      buffer: buffer(entry(8)),
    };
    const seed = (more: object = {}) =>
      acting({ ...given, ...more }, (step) =>
        messages.seedHistory(step, { type: "history.seeded", at: 100, seq: 2, messages: history }),
      ).changed;
    const found = seed();
    expect(found.seeded).toBe(true);
    expect(found.buffer?.entries.map(({ id, at, self, seq }) => [id, at, self, seq])).toEqual([
      ["h1", 5, false, 2],
      ["h2", 100, true, 2],
      ["h3", 100, false, 2],
      ["m8", 8, false, 8],
    ]);
    expect(found.ownMessages).toEqual(["h2", "o1"]);
    expect(found.heardMessages).toEqual(["h1", "h3", "c1"]);
    expect(found.participants?.map(({ id, lastSeenAt }) => [id, lastSeenAt])).toEqual([
      ["cy", 100],
      ["bob", 80],
    ]);
    expect(seed({ seeded: true })).toEqual({});
    expect(seed({ run: null }).buffer?.entries.map(({ id }) => id)).toContain("m1");
  });

  test("a list of members is taken as it is", () => {
    const membership = { humans: 2, bots: 0, truncated: false, fetchedAt: 1 };
    expect(
      acting({}, (step) =>
        messages.noteMembership(step, { type: "membership.read", at: 1, membership }),
      ).changed,
    ).toEqual({ membership });
  });
});
