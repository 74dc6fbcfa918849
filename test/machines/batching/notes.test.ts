/** Notes: which stay when there are many, what a turn is shown, and where it stands among messages. */
import { describe, expect, test } from "vitest";
import { limits } from "../../../src/domain/limits.ts";
import {
  addNote,
  addRead,
  editsOf,
  type Note,
  noteRef,
  removeNotes,
  takeNotes,
  withEdits,
  withNotes,
} from "../../../src/machines/batching/notes.ts";

const reaction = (seq: number, id = "m"): Note => ({ seq, id, at: seq * 10 });
const edit = (seq: number, id: string, was: number): Note =>
  ({ seq, id, at: seq * 10, was: { seq: was } }) as unknown as Note;
const seqs = (list: readonly { readonly seq: number }[]) => list.map(({ seq }) => seq);

describe("one more note", () => {
  test("a later edit of a message takes the place of the earlier, and keeps what it was", () => {
    const first = [edit(1, "a", 0), reaction(2, "a"), edit(3, "b", 0)];
    const { notes, lost } = addNote(first, edit(4, "a", 1), 10);
    expect([seqs(notes), lost]).toEqual([[2, 3, 4], 0]);
    expect(notes[2]).toMatchObject({ id: "a", was: { seq: 0 } });
    expect(seqs(addNote(first, reaction(4, "a"), 10).notes)).toEqual([1, 2, 3, 4]);
    expect(seqs(addNote([reaction(1, "a")], edit(2, "a", 0), 10).notes)).toEqual([1, 2]);
  });

  test("the oldest of its kind goes, and lost edits are counted", () => {
    const notes = [reaction(1), edit(2, "a", 0), reaction(3), edit(4, "b", 0)];
    const more = addNote(notes, reaction(5), 2);
    expect([seqs(more.notes), more.lost]).toEqual([[2, 3, 4, 5], 0]);
    const edited = addNote(notes, edit(5, "c", 0), 2);
    expect([seqs(edited.notes), edited.lost]).toEqual([[1, 3, 4, 5], 1]);
    expect(addNote(notes, edit(5, "c", 0), 3).lost).toBe(0);
    const none = addNote([], reaction(1), 0);
    expect([none.notes, none.lost]).toEqual([[], 0]);
    expect(addNote([], edit(1, "a", 0), 0)).toEqual({ notes: [], lost: 1 });
    let all: readonly Note[] = [];
    for (let seq = 0; seq < limits.notesCountMax + 5; seq += 1)
      all = addNote(all, reaction(seq), 100_000).notes;
    expect([all.length, all[0]?.seq]).toEqual([limits.notesCountMax, 5]);
  });

  test("a deleted message takes its notes along", () => {
    const notes = [reaction(1, "a"), reaction(2, "b")];
    expect(seqs(removeNotes(notes, { id: "a" }))).toEqual([2]);
    expect(removeNotes(notes, { id: "c" })).toBe(notes);
  });
});

describe("a turn", () => {
  test("reads messages with their edits", () => {
    const notes = [edit(5, "a", 1), reaction(6, "b"), edit(7, "c", 3)];
    const messages = [
      { seq: 1, id: "a" },
      { seq: 2, id: "b" },
    ];
    expect(seqs(editsOf(notes, messages))).toEqual([5]);
    expect(withEdits(messages, notes)).toEqual([{ seq: 1, id: "a", editSeq: 5 }, messages[1]]);
    expect(withEdits(messages, [])).toBe(messages);
  });

  test("is shown what came before it and is not too old", () => {
    const notes = [edit(1, "a", 0), reaction(2), edit(3, "b", 0), reaction(4)];
    const taken = takeNotes(notes, 4, 40, 20);
    expect([seqs(taken.shown), seqs(taken.left), taken.lost]).toEqual([[2, 3], [4], 1]);
    const all = takeNotes(notes, 4, 4_000, 0);
    expect([seqs(all.shown), seqs(all.left), all.lost]).toEqual([[1, 2, 3], [4], 0]);
    expect(takeNotes(notes, 3, 41, 20)).toMatchObject({ shown: [], lost: 1 });
  });

  test("sees notes among messages in the order in which they were heard", () => {
    const messages = [
      { seq: 2, id: "a" },
      { seq: 5, id: "b" },
    ];
    const shown = withNotes(messages, [reaction(1), reaction(3), reaction(9)]);
    expect(seqs(shown)).toEqual([1, 2, 3, 5, 9]);
    expect(shown[2]).toEqual({ seq: 3, id: "m" });
    expect(noteRef(reaction(3))).not.toHaveProperty("at");
  });

  test("has read the newest messages, each once", () => {
    const ref = (seq: number, id = "m") => ({ seq, id });
    expect(addRead([ref(1), ref(2)], [ref(1), ref(3)])).toEqual([ref(2), ref(1), ref(3)]);
    expect(addRead([ref(1)], [ref(1, "x"), ref(2)])).toHaveLength(3);
    const many = Array.from({ length: limits.readMessagesCountMax }, (_, seq) => ref(seq));
    const read = addRead(many, [ref(-1, "new")]);
    expect([read.length, read[0]?.seq, read.at(-1)?.id]).toEqual([many.length, 1, "new"]);
  });
});
