/**
 * The room simulator
 * ==================
 * Holds the room and asks the daemon what the rules make of it. Three questions, each the whole scenario:
 * the room as said (what happened and will happen), the room with the draft as its last line (the live
 * verdict), and the room with a probe right after the newest reply (who holds a credit by then).
 */
import type { Why } from "../../../src/actors/runtime.types.ts";
import { ApiError, newestOnly } from "../parts/api.ts";
import { firstCast, join, type Member } from "./cast.ts";
import { type Answer, nextChange, noAnswer, type Row, rowsAt, sends } from "./rows.ts";
import {
  type AgentName,
  exampleRoom,
  type Line,
  linesCountMax,
  type ReplyTo,
  type Room,
  scenarioLines,
} from "./scenario.ts";

/** A credit a reply left behind. */
export interface Granted {
  readonly name: string;
  readonly ms: number;
}
export interface SimView {
  readonly cast: readonly Member[];
  readonly writer: Member;
  readonly text: string;
  readonly replyTo: ReplyTo | null;
  readonly rows: readonly Row[];
  readonly why: Readonly<Record<string, Why>>;
  /** The ladder for the text as it stands; null while there is none. */
  readonly draft: Why | null;
  readonly granted: Readonly<Record<string, Granted>>;
  readonly problem: string | null;
  readonly startedAt: number;
}

export interface SimulatorPorts {
  readonly simulate: (lines: readonly unknown[], signal: AbortSignal) => Promise<Answer>;
  readonly changed: (view: SimView) => void;
}

const draftId = "draft";
const draftWaitMs = 120;
/** A draft is judged again after this, since credits run out while one thinks. */
const draftAgeMsMax = 10_000;
/** Replies further back than this keep what is known of them. */
const creditsAskedMax = 3;
const nobody: Member = { id: "nobody", name: "Someone", isBot: false };

export type Simulator = ReturnType<typeof createSimulator>;

export function createSimulator(ports: SimulatorPorts) {
  let agent: AgentName = { id: "main", name: "Scout" };
  let cast: readonly Member[] = firstCast;
  let writer: Member = cast[0] ?? nobody;
  let text = "";
  let replyTo: ReplyTo | null = null;
  let room: Room = { startedAt: Date.now(), lines: [] };
  let answer: Answer = noAnswer;
  let draft: Why | null = null;
  let granted: Readonly<Record<string, Granted>> = {};
  let problem: string | null = null;
  let counter = 0;
  let draftTimer: ReturnType<typeof setTimeout> | undefined;
  let playTimer: ReturnType<typeof setTimeout> | undefined;

  const now = () => Math.max(Date.now() - room.startedAt, room.lines.at(-1)?.t ?? 0);
  const asking = () => newestOnly(ports.simulate);
  const saidQuestion = asking();
  const draftQuestion = asking();
  const creditQuestion = asking();

  function publish(): void {
    const rows = rowsAt(room, answer, now());
    const { startedAt } = room;
    const why = answer.why;
    ports.changed({ cast, writer, text, replyTo, rows, why, draft, granted, problem, startedAt });
  }

  function fail(error: unknown): void {
    problem = error instanceof ApiError ? error.message : "The simulator could not be asked.";
    publish();
  }

  /** Shows what has happened and comes back when the next thing does. */
  function play(): void {
    clearTimeout(playTimer);
    publish();
    const next = nextChange(answer, now());
    if (next === null) return;
    playTimer = setTimeout(
      () => {
        play();
        // A reply may have granted a credit: the draft may stand differently now.
        judgeDraft(0);
      },
      Math.min(next - now() + 1, 2 ** 31 - 1),
    );
  }

  function lineOf(id: string, t: number): Line {
    return { id, t, author: writer, text, replyTo, cast };
  }

  function judgeDraft(wait = draftWaitMs): void {
    clearTimeout(draftTimer);
    if (text.trim() === "") {
      draftQuestion.cancel();
      draft = null;
      publish();
      return;
    }
    draftTimer = setTimeout(() => {
      const lines = scenarioLines(room, agent, lineOf(draftId, now()));
      draftQuestion.ask(lines).then((heard) => {
        if (heard === null) return;
        draft = heard.why[draftId] ?? null;
        problem = null;
        draftTimer = setTimeout(() => judgeDraft(0), draftAgeMsMax);
        publish();
      }, fail);
    }, wait);
  }

  async function judgeRoom(): Promise<void> {
    try {
      const heard = await saidQuestion.ask(scenarioLines(room, agent));
      if (heard === null) return;
      answer = heard;
      problem = null;
      play();
      await askCredits();
    } catch (error) {
      fail(error);
    }
  }

  /** Who holds a credit right after each reply: asked, not computed, so that it is true. */
  async function askCredits(): Promise<void> {
    for (const reply of sends(answer).slice(-creditsAskedMax)) {
      if (reply.id in granted) continue;
      const probe = { ...lineOf("probe", reply.t + 1), text: "…", replyTo: null };
      const before = { ...room, lines: room.lines.filter((line) => line.t <= reply.t) };
      const heard = await creditQuestion.ask(scenarioLines(before, agent, probe));
      const why = heard?.why.probe;
      // Overtaken by a newer question, which asks for what is missing.
      if (why === undefined) return;
      const newest = Object.entries(why.credits).sort(([, a], [, b]) => b - a)[0];
      const holder = cast.find((member) => member.id === newest?.[0]);
      if (newest === undefined || holder === undefined) continue;
      granted = { ...granted, [reply.id]: { name: holder.name, ms: newest[1] - why.at + 1 } };
      publish();
    }
  }

  function restart(next: Room): void {
    saidQuestion.cancel();
    creditQuestion.cancel();
    clearTimeout(playTimer);
    room = next;
    answer = noAnswer;
    granted = {};
    replyTo = null;
    problem = null;
  }

  return {
    start: publish,
    setAgent(next: AgentName) {
      if (next.id === agent.id && next.name === agent.name) return;
      agent = next;
      if (room.lines.length > 0) void judgeRoom();
      judgeDraft(0);
    },
    write(next: string) {
      text = next;
      publish();
      judgeDraft();
    },
    writeAs(id: string) {
      writer = cast.find((member) => member.id === id) ?? writer;
      judgeDraft(0);
      publish();
    },
    reply(to: ReplyTo | null) {
      replyTo = to;
      judgeDraft(0);
      publish();
    },
    /** False if the name is empty, taken or the room is full. */
    add(name: string, isBot: boolean): boolean {
      const next = join(cast, name, isBot, agent.name);
      if (next === null) return false;
      cast = next;
      writer = next.at(-1) ?? writer;
      judgeDraft(0);
      publish();
      return true;
    },
    /** Says the draft. Returns the id of the new line, null if there was nothing to say. */
    send(): string | null {
      if (text.trim() === "") return null;
      if (room.lines.length >= linesCountMax) {
        problem = `The room is full at ${linesCountMax} lines. Start over to go on.`;
        publish();
        return null;
      }
      if (room.lines.length === 0) room = { startedAt: Date.now(), lines: [] };
      counter += 1;
      const id = `sim-${counter}`;
      room = { ...room, lines: [...room.lines, lineOf(id, now())] };
      text = "";
      replyTo = null;
      judgeDraft(0);
      void judgeRoom();
      return id;
    },
    startOver() {
      restart({ startedAt: Date.now(), lines: [] });
      cast = firstCast;
      writer = cast[0] ?? nobody;
      text = "";
      judgeDraft(0);
    },
    example() {
      restart(exampleRoom(cast, agent, Date.now()));
      judgeDraft(0);
      void judgeRoom();
    },
    /** The room as a scenario file, for `earshot replay`. */
    scenario(): string {
      return scenarioLines(room, agent)
        .map((line) => `${JSON.stringify(line)}\n`)
        .join("");
    },
    stop() {
      saidQuestion.cancel();
      draftQuestion.cancel();
      creditQuestion.cancel();
      clearTimeout(draftTimer);
      clearTimeout(playTimer);
    },
  };
}
