/** The direct chat's memory: frames in, a talk out, whatever the connection did in between. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  discard,
  draftOf,
  emptyTalk,
  hangUp,
  hear,
  lineKey,
  linesOf,
  resumeAfter,
  type Talk,
  write,
} from "../../../web/src/direct-chat/chat-reducer.ts";
import { parseFrame, type ServerFrame } from "../../../web/src/direct-chat/frames.ts";

const listen = (frames: readonly ServerFrame[], from: Talk = emptyTalk): Talk =>
  frames.reduce(hear, from);
const taken = (n: number): ServerFrame => ({
  type: "taken",
  id: `m${n}`,
  n,
  at: n,
  text: `line ${n}`,
});
const said = (n: number, text = `answer ${n}`): ServerFrame => ({
  type: "said",
  id: `t${n}:0`,
  n,
  text,
  replyTo: null,
  at: n,
  turnId: `t${n}`,
});

const journals = fc
  .array(fc.boolean(), { minLength: 1, maxLength: 24 })
  .map((kinds) => kinds.map((mine, index) => (mine ? taken(index + 1) : said(index + 1))));

describe("direct talk", () => {
  test("frames that come again, in any order, change nothing: no line twice, none lost", () => {
    fc.assert(
      fc.property(journals, fc.infiniteStream(fc.nat()), (journal, picks) => {
        const again = picks.take(journal.length).map((pick) => journal[pick % journal.length]!);
        const shuffled = [...again, ...journal];
        const talk = listen(shuffled);
        expect(talk.entries.map((entry) => entry.n)).toEqual(journal.map((_, index) => index + 1));
        expect(talk.n).toBe(journal.length);
      }),
    );
  });

  test("a connection cut anywhere and resumed after the last n gives the same talk", () => {
    fc.assert(
      fc.property(journals, fc.nat(), (journal, cut) => {
        const before = listen(journal.slice(0, cut % (journal.length + 1)));
        const rest = journal.filter((frame) => "n" in frame && frame.n > before.n);
        const resumed = listen(rest, hangUp(before));
        expect(resumed.entries).toEqual(listen(journal).entries);
      }),
    );
  });

  test("a line of mine is pending until it is taken, and then it is a line", () => {
    const written = write(emptyTalk, { id: "m1", text: "line 1", replyTo: null, files: [] });
    expect(written.pending).toHaveLength(1);
    const after = hear(written, taken(1));
    expect(after.pending).toEqual([]);
    expect(after.entries.map((entry) => entry.id)).toEqual(["m1"]);
  });

  test("a decision that comes before its line is kept for it", () => {
    const decided: ServerFrame = { type: "decided", id: "m1", decision: "engage", rule: "dm" };
    const talk = listen([decided, taken(1)]);
    expect(talk.verdicts.m1).toEqual({ decision: "engage", rule: "dm" });
  });

  test("a decision missed in a cut is asked for with its line, and nothing else is asked twice", () => {
    const decided: ServerFrame = { type: "decided", id: "m3", decision: "engage", rule: "dm" };
    const cut = listen([said(1), said(2), taken(3), said(4)]);
    expect(resumeAfter(cut)).toBe(2);
    expect(resumeAfter(hear(cut, decided))).toBe(4);
    expect(resumeAfter(emptyTalk)).toBe(0);
  });

  test("the draft is what was written beyond the delivered blocks", () => {
    const delta = (text: string): ServerFrame => ({ type: "delta", turnId: "t2", text });
    const start: ServerFrame = { type: "turn", turnId: "t2", state: "start" };
    const writing = listen([taken(1), start, delta("One."), delta("One.\n\nTw")]);
    expect(draftOf(writing)).toBe("One.\n\nTw");
    expect(draftOf(hear(writing, said(2, "One.")))).toBe("Tw");
    const end: ServerFrame = { type: "turn", turnId: "t2", state: "end", outcome: "replied" };
    expect(draftOf(listen([said(2, "One."), end], writing))).toBe("");
  });

  test("a block that is delivered before its last letters came is not shown twice", () => {
    const delta = (text: string): ServerFrame => ({ type: "delta", turnId: "t2", text });
    const start: ServerFrame = { type: "turn", turnId: "t2", state: "start" };
    const writing = listen([taken(1), start, delta("One.\n\n<b>Two</b")]);
    expect(draftOf(hear(writing, said(2, "One.\n\n<b>Two</b>")))).toBe("");
    expect(draftOf(hear(writing, said(2, "One.")))).toBe("<b>Two</b");
  });

  test("files come with their lines, and a sound later with the block it says", () => {
    const file = { id: "f1", kind: "image", mime: "image/png", bytes: 5, name: "hat.png" } as const;
    const mine = { ...taken(1), attachments: [file, { kind: "nothing" }] } as ServerFrame;
    const sound = { id: "f2", kind: "audio" } as const;
    const attached: ServerFrame = { type: "attached", id: "t2:0", attachments: [sound] };
    const talk = listen([mine, said(2, "One."), attached, attached]);
    expect(talk.entries.map((entry) => ("files" in entry ? entry.files : []))).toEqual([
      [file],
      [sound],
    ]);
  });

  test("a line that will never be taken says so and is kept until it is given up", () => {
    const files = [{ id: "f1", kind: "file" }] as const;
    const line = { id: "m1", text: "", replyTo: null, files };
    const why = { type: "error", code: "EAR_INBOUND_INVALID", message: "Gone" } as const;
    const waiting = write(emptyTalk, line);
    const later = hear(waiting, { ...why, id: "m1" });
    expect(later).toMatchObject({ error: "Gone", pending: [line] });
    const refused = hear(waiting, { ...why, id: "m1", final: true });
    expect(refused).toMatchObject({ error: null, pending: [{ ...line, refused: "Gone" }] });
    expect(discard(refused, "m1").pending).toEqual([]);
    expect(hear(waiting, { ...why, id: "another", final: true }).error).toBe("Gone");
  });

  test("when a line is taken, no line changes its place or becomes another", () => {
    const keys = (talk: Talk) => linesOf(talk).map(lineKey);
    fc.assert(
      fc.property(journals, fc.array(fc.boolean(), { minLength: 1 }), (journal, fates) => {
        const ids = fates.map((_, index) => `mine ${index}`);
        const lines = ids.map((id) => ({ id, text: id, replyTo: null, files: [] }));
        const refusal = { type: "error", code: "EAR", message: "No", final: true } as const;
        const refused = ids.filter((_, index) => fates[index]);
        const waiting = refused.reduce(
          (talk, id) => hear(talk, { ...refusal, id }),
          lines.reduce(write, listen(journal)),
        );
        const order = keys(waiting);
        expect(new Set(order).size).toBe(journal.length + ids.length);
        let talk = waiting;
        for (const id of ids.filter((one) => !refused.includes(one))) {
          talk = hear(talk, { type: "taken", id, n: talk.n + 1, at: 0, text: id });
          expect(keys(talk)).toEqual(order);
        }
        expect(talk.pending.map((line) => line.id)).toEqual(refused);
      }),
    );
  });

  test("a turn that says nothing leaves a note, a turn that replied leaves none", () => {
    const end = (outcome: string): ServerFrame => ({
      type: "turn",
      turnId: "t1",
      state: "end",
      outcome,
    });
    expect(listen([taken(1), end("failed")]).entries.at(-1)).toMatchObject({ kind: "quiet" });
    expect(listen([taken(1), end("replied")]).entries.at(-1)).toMatchObject({ kind: "mine" });
  });

  test("a frame that is none is passed over, a frame that is one is read", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (data) => {
        expect(parseFrame(data)).toBeNull();
      }),
    );
    expect(parseFrame('{"type":"constructor"}')).toBeNull();
    expect(parseFrame('{"type":"taken","id":"m1","n":"1","at":1,"text":""}')).toBeNull();
    expect(parseFrame(JSON.stringify(taken(1)))).toEqual(taken(1));
  });
});
