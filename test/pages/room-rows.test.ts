/** The Room page as data: rows from entries, the statechart's nodes, what was just left. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type {
  MessageEntry,
  ReplyEntry,
  RoomEntry,
  RoomFrame,
  RoomState,
} from "../../src/daemon/api-types/room.ts";
import { conversationMachine } from "../../src/machines/conversation.machine.ts";
import { initials } from "../../web/src/lib/sanitize.ts";
import { rowsOf, Transcript } from "../../web/src/room/build-rows.ts";
import { type Room, withFrame } from "../../web/src/room/room-reducer.ts";
import {
  chartHeight,
  chartWidth,
  leftMs,
  leftNodes,
  litNodes,
  nodeHeight,
  nodes,
  nodeWidth,
  pathsOf,
} from "../../web/src/room/statechart-layout.ts";
import { isLine, merged, newestDecided, type Row } from "../../web/src/room/transcript.ts";

const ann = { id: "ann", name: "Ann", isBot: false };
const heard = (seq: number, id = `m${seq}`): MessageEntry => ({
  kind: "heard",
  seq,
  at: seq * 1_000,
  id,
  author: ann,
  text: `line ${seq}`,
  mentions: [],
  quote: null,
  files: [],
  verdict: { decision: "observe", rule: "default", credit: "none" },
});
const said = (seq: number, more: Partial<ReplyEntry> = {}): ReplyEntry => ({
  kind: "said",
  seq,
  at: seq * 1_000,
  id: `t${seq}:0`,
  turnId: `t${seq}`,
  text: "hello",
  replyTo: null,
  status: "sent",
  error: null,
  credited: [],
  ...more,
});

describe("rows of a room", () => {
  test("a reaction is a row of its own, and can be selected", () => {
    const reacted = { kind: "reacted", seq: 3, at: 3_000, id: "p1", author: ann } as const;
    const rows = rowsOf([said(2), { ...reacted, added: ["👍"], removed: [] }]).filter(isLine);
    expect(rows.map(({ kind }) => kind)).toEqual(["agent", "reaction"]);
  });

  test("any portions in any order, with any repetitions, make the same rows", () => {
    const entry = fc.oneof(
      fc.nat(40).map((seq) => heard(seq)),
      fc
        .nat(40)
        .map((seq): RoomEntry => ({ kind: "edited", seq, at: 1, id: "m3", text: `e${seq}` })),
      fc.nat(40).map((seq) => said(seq)),
    );
    const unique = fc.uniqueArray(entry, { selector: ({ seq }) => seq, maxLength: 20 });
    fc.assert(
      fc.property(unique, fc.array(fc.nat(20)), (all, cuts) => {
        const sorted = [...all].sort((a, b) => a.seq - b.seq);
        let entries: readonly RoomEntry[] = [];
        for (const from of cuts) entries = merged(entries, sorted.slice(from, from + 5));
        entries = merged(entries, sorted);
        expect(rowsOf(entries)).toEqual(rowsOf(sorted));
        expect(new Set(rowsOf(entries).map(({ key }) => key)).size).toBe(rowsOf(entries).length);
      }),
    );
  });

  test("an edit changes its line, a deletion keeps its decision, the last of several counts", () => {
    const rows = rowsOf([
      heard(1),
      heard(2),
      { kind: "edited", seq: 3, at: 3_000, id: "m1", text: "first try" },
      { kind: "edited", seq: 4, at: 4_000, id: "m1", text: "second try" },
      { kind: "deleted", seq: 5, at: 5_000, id: "m2" },
    ]).filter(isLine);
    expect(rows).toMatchObject([
      { text: "second try", editedAt: 4_000, deleted: false },
      { deleted: true, entry: { verdict: { rule: "default" } } },
    ]);
  });

  test("the last label of a line counts, also one that takes it back, in any portion", () => {
    const common = { kind: "labelled", by: "operator", at: 9_000 } as const;
    const label = (seq: number, id: string, expected: "engage" | "observe" | null): RoomEntry => ({
      ...common,
      seq,
      id,
      expected,
    });
    const entries = [heard(1), heard(2), label(3, "m1", "engage"), label(4, "m2", "observe")];
    const labelled = (rows: readonly Row[]) =>
      rows.filter(isLine).map((row) => row.kind === "person" && row.label?.expected);
    expect(labelled(rowsOf(entries))).toEqual(["engage", "observe"]);
    const transcript = new Transcript();
    transcript.rows(entries);
    expect(labelled(transcript.rows([...entries, label(5, "m2", null)]))).toEqual(["engage", null]);
    const history: RoomEntry = { ...heard(6, "m2"), verdict: null, history: true };
    expect(labelled(rowsOf([...entries, history])).at(-1)).toBe(undefined);
  });

  test("an answer that grew is one line with its last words, and says what it answers", () => {
    const rows = rowsOf([
      heard(1),
      said(3, { turnId: "t", id: "t:0", text: "Stag", replyTo: "m1" }),
      said(5, { turnId: "t", id: "t:1", text: "Staging runs 212.", edits: "t:0" }),
    ]).filter(isLine);
    expect(rows.slice(1)).toMatchObject([
      { kind: "agent", text: "Staging runs 212.", tookMs: 2_000, quote: { text: "line 1" } },
    ]);
  });

  test("a reply that only names a message quotes its author and its words of now", () => {
    const quote = { id: "m1", name: "u17", text: "" };
    const reply = { ...heard(2), quote };
    const quoteOf = (...more: RoomEntry[]) =>
      rowsOf([heard(1), reply, ...more])
        .filter(isLine)
        .flatMap((row) => (row.kind === "person" && row.quote !== null ? [row.quote] : []));
    expect(quoteOf()).toEqual([{ name: "Ann", text: "line 1" }]);
    const edited: RoomEntry = { kind: "edited", seq: 3, at: 3_000, id: "m1", text: "other words" };
    expect(quoteOf(edited)).toEqual([{ name: "Ann", text: "other words" }]);
    // What was deleted is not shown by its answer.
    const deleted: RoomEntry = { kind: "deleted", seq: 4, at: 4_000, id: "m1" };
    expect(quoteOf(edited, deleted)).toEqual([{ name: "Ann", text: "" }]);
    expect(rowsOf([reply]).filter(isLine)).toMatchObject([{ quote }]);
  });

  test("what is said of a message in one chat is shown of none with the same id in another", () => {
    const [a, b] = [{ chat: "a" }, { chat: "b" }];
    const verdict = { decision: "observe", rule: "judge", credit: "none" } as const;
    const judged = {
      kind: "judged",
      at: 9,
      id: "17",
      confidence: 1,
      why: "",
      engage: true,
    } as const;
    const label = { kind: "labelled", at: 9, id: "17", by: "me" } as const;
    const entries: RoomEntry[] = [
      { ...heard(1, "17"), ...a, verdict },
      { ...heard(2, "17"), ...b, verdict, author: { ...ann, name: "Bo" } },
      { kind: "edited", seq: 3, at: 3_000, ...a, id: "17", text: "other words" },
      { ...judged, seq: 4, ...a, engaged: true },
      { ...label, seq: 5, ...a, expected: "observe" },
      { kind: "deleted", seq: 6, at: 6_000, ...b, id: "17" },
      { ...heard(7, "18"), ...a, quote: { id: "17", name: "u", text: "" } },
      said(8, { ...a, replyTo: "17" }),
    ];
    const shown = [
      {
        text: "other words",
        editedAt: 3_000,
        deleted: false,
        judged: { engaged: true },
        label: { expected: "observe" },
      },
      { text: "line 2", editedAt: null, deleted: true, judged: null, label: null },
      { quote: { name: "Ann", text: "other words" } },
      { kind: "agent", quote: { name: "Ann", text: "other words" }, tookMs: 7_000 },
    ];
    const all = rowsOf(entries).filter(isLine);
    expect(all).toMatchObject(shown);
    const live = new Transcript();
    for (let to = 1; to < entries.length; to += 1) live.rows(entries.slice(0, to));
    expect(live.rows(entries).filter(isLine)).toEqual(all);
    // Earlier versions did not say of which chat it was.
    const before: RoomEntry = { ...judged, seq: 4, engaged: true };
    expect(rowsOf([entries[0] as RoomEntry, before]).filter(isLine)).toMatchObject([
      { judged: before },
    ]);
  });

  test("an edit that comes while its line is far up changes the line in its chat only", () => {
    const [a, b] = [{ chat: "a" }, { chat: "b" }];
    const entries = [
      { ...heard(1, "17"), ...a },
      { ...heard(2, "17"), ...b },
    ];
    const edited = { kind: "edited", at: 9, id: "17" } as const;
    const state = { now: 1 } as RoomState;
    const known = { view: {}, state, entries, amends: [], older: null, newer: 2, arrived: 0 };
    const more = [
      { ...edited, seq: 4, ...a, text: "one" },
      { ...edited, seq: 5, ...b, text: "two" },
    ];
    const frame: RoomFrame = { type: "more", upTo: 5, entries: more, state, writing: null };
    const room = withFrame(known as unknown as Room, frame, 1) as Room;
    const rows = rowsOf(room.entries, room.amends).filter(isLine);
    expect(rows).toMatchObject([{ text: "one" }, { text: "two" }]);
  });

  test("a row that says the same is the same object, whatever else changes", () => {
    const first = [heard(1), { ...heard(2), quote: { id: "m1", name: "", text: "" } }, said(3)];
    const transcript = new Transcript();
    const before = transcript.rows(first);
    const edited: RoomEntry = { kind: "edited", seq: 5, at: 5_000, id: "m1", text: "new" };
    const after = transcript.rows([...first, heard(4), edited]);
    const same = after.map((row) => before.includes(row));
    // The day and the agent's line; not what was edited, who quotes it, and the new one.
    expect(same).toEqual([true, false, false, true, false]);
    expect(after).toEqual(rowsOf([...first, heard(4), edited]));
    expect(transcript.rows([...first, heard(4), edited])).toEqual(after);
    const grown = transcript.rows([...first, heard(4), edited, heard(6), said(7)]);
    expect(grown.slice(0, after.length).every((row, n) => row === after[n])).toBe(true);
    expect(grown).toHaveLength(after.length + 2);
  });

  test("a room that is renamed has its new name with the next line that has it", () => {
    const state = { now: 1 } as RoomState;
    const view = { title: "#old", upTo: 1, state, history: { entries: [], before: null } };
    const open = { type: "open", view, writing: null } as unknown as RoomFrame;
    const withEntry = (entry: RoomEntry) =>
      ({ type: "more", state, entries: [entry], writing: null, upTo: 2 }) as unknown as RoomFrame;
    const opened = withFrame(null, open, 1);
    expect(withFrame(opened, withEntry(heard(2)), 2)?.view.title).toBe("#old");
    expect(withFrame(opened, withEntry({ ...heard(2), title: "#new" }), 2)?.view.title).toBe(
      "#new",
    );
  });

  test("initials never split a letter and show nothing that is hidden in a name", () => {
    expect(initials("Ann", 2)).toBe("An");
    expect(initials("\u202eevil", 1)).toBe("e");
    expect(initials("👩‍👩‍👧‍👦🎉", 1)).toBe(
      [...new Intl.Segmenter().segment("👩‍👩‍👧‍👦🎉")][0]?.segment,
    );
    expect(initials("e\u0301a", 1)).toBe("e\u0301");
    expect(initials("", 1)).toBe("s");
  });

  test("a turn without words leaves one row, and one that was tried again only its end", () => {
    const end = (seq: number, outcome: "failed" | "silent"): RoomEntry => ({
      kind: "ended",
      seq,
      at: seq,
      turnId: "t",
      outcome,
      reason: null,
    });
    expect(rowsOf([end(1, "failed"), end(2, "silent")]).filter(isLine)).toMatchObject([
      { kind: "quiet", entry: { outcome: "silent" } },
    ]);
    const spoken = rowsOf([said(1, { turnId: "t" }), end(2, "failed")]).filter(isLine);
    expect(spoken.map(({ kind }) => kind)).toEqual(["agent"]);
  });

  test("the newest decided message is looked at first, whatever the agent said since", () => {
    const undecided = { ...heard(3), verdict: null };
    expect(newestDecided(rowsOf([heard(1), heard(2), undecided, said(4)]))?.entry.seq).toBe(2);
    expect(newestDecided(rowsOf([said(4)]))).toBeNull();
  });
});

/** Paths of all states below the root in which a conversation can be found, as the chart has them. */
function statesOf(config: object, path: string): string[] {
  const { states = {} } = config as { readonly states?: Readonly<Record<string, object>> };
  return Object.entries(states).flatMap(([name, state]) => {
    const here = path === "" ? name : `${path}.${name}`;
    return "always" in state ? [] : [here, ...statesOf(state, here)];
  });
}

const stateWith = (more: Partial<RoomState>): RoomState =>
  ({
    now: 10_000,
    attention: "observing",
    lock: "granting",
    typing: false,
    trail: [],
    guard: { state: "clear", consecutive: 0 },
    ...more,
  }) as RoomState;

describe("the statechart", () => {
  const regions = ["attention", "lock", "guard"];
  const machine = statesOf(conversationMachine.config, "").filter(
    (path) => !regions.includes(path),
  );

  test("every state of the machine has a node, and every node a state", () => {
    const drawn = nodes.map(({ id }) => id).filter((id) => !id.startsWith("typing."));
    expect(machine.length).toBeGreaterThan(10);
    expect([...drawn].sort()).toEqual([...machine].sort());
  });

  test("every leaf of the machine lights itself and all it is in, and nothing else", () => {
    const leaves = machine.filter((one) => !machine.some((other) => other.startsWith(`${one}.`)));
    for (const leaf of leaves.filter((path) => path.startsWith("attention."))) {
      const attention = leaf.slice("attention.".length) as RoomState["attention"];
      const lit = [...litNodes(stateWith({ attention }))].filter((id) =>
        id.startsWith("attention."),
      );
      expect(nodes.map(({ id }) => id)).toEqual(expect.arrayContaining(lit));
      expect(lit).toEqual(machine.filter((id) => leaf === id || leaf.startsWith(`${id}.`)));
    }
  });

  test("nodes lie apart and inside the drawing", () => {
    for (const one of nodes) {
      expect(one.x).toBeGreaterThanOrEqual(0);
      expect(one.x + nodeWidth).toBeLessThanOrEqual(chartWidth);
      expect(one.y + nodeHeight).toBeLessThanOrEqual(chartHeight);
      for (const other of nodes)
        if (other !== one && other.y === one.y)
          expect(Math.abs(other.x - one.x)).toBeGreaterThan(nodeWidth);
    }
  });

  test("what came and went between two looks was just left, for as long as it fades", () => {
    const now = stateWith({
      attention: "engaged.running",
      trail: [
        { attention: "observing", until: 10_000 - leftMs },
        { attention: "engaged.gathering", until: 9_600 },
        { attention: "engaged.waiting", until: 9_900 },
      ],
    });
    expect([...leftNodes(null, now)]).toEqual([
      ["attention.engaged.gathering", 400],
      ["attention.engaged.waiting", 100],
    ]);
    const before = stateWith({ guard: { state: "tripped", consecutive: 5 } });
    expect([...leftNodes(before, now).keys()]).toContain("guard.tripped");
    expect(pathsOf("engaged.settling")).toEqual([
      "attention.engaged",
      "attention.engaged.settling",
    ]);
  });
});
