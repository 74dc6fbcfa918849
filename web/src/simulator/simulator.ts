/**
 * The room simulator
 * ==================
 * Holds the room and asks the daemon for the decisions. Three requests, each the whole scenario:
 * the room so far (what happened and will happen), the room with the draft as its last line (the
 * live decision), and the room with a probe right after the newest reply (who holds a credit then).
 */
import type { Why } from "../../../src/daemon/api-types/runtime.ts";
import { ApiError, newestOnly } from "../lib/api.ts";
import { firstCast, join, type Member } from "./participants.ts";
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
  /** The explanation of the current text; null while there is none. */
  readonly draft: Why | null;
  readonly granted: Readonly<Record<string, Granted>>;
  readonly problem: string | null;
  readonly startedAt: number;
}

/** A scenario, and the messages whose ladder is wanted. */
export interface Question {
  readonly lines: readonly unknown[];
  readonly explain: readonly string[];
}
export interface SimulatorPorts {
  readonly simulate: (question: Question, signal: AbortSignal) => Promise<Answer>;
  readonly changed: (view: SimView) => void;
}

const draftId = "draft";
/**
 * Typing is judged after a pause this long, or as long as the last answer took if that is longer.
 */
const draftWaitMs = 120;
const draftWaitMsMax = 1_500;
/** A draft is judged again after this, since credits run out while one thinks. */
const draftAgeMsMax = 10_000;
/** Replies further back than this keep what is known of them. */
const creditsAskedMax = 3;
/** The longest wait a timer can be set to. */
const timerMsMax = 2 ** 31 - 1;
/** Ladders asked for together with the room: the newest lines are the ones that are looked at. */
const explainedMax = 6;
const unknownMember: Member = { id: "nobody", name: "Someone", isBot: false };

/** One room and its requests. `changed` gets every new view. */
export class Simulator {
  readonly #ports: SimulatorPorts;
  readonly #said;
  readonly #drafted;
  readonly #credited;
  readonly #explained;
  #agent: AgentName = { id: "main", name: "Scout" };
  #cast: readonly Member[] = firstCast;
  #writer: Member = firstCast[0] ?? unknownMember;
  #text = "";
  #replyTo: ReplyTo | null = null;
  #room: Room = { startedAt: Date.now(), lines: [] };
  #answer: Answer = noAnswer;
  #why: Readonly<Record<string, Why>> = {};
  /** Lines whose ladders the question under way will bring. */
  #coming: readonly string[] = [];
  #draft: Why | null = null;
  #draftTookMs = 0;
  #granted: Readonly<Record<string, Granted>> = {};
  #problem: string | null = null;
  #counter = 0;
  #draftTimer: ReturnType<typeof setTimeout> | undefined;
  #playTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(ports: SimulatorPorts) {
    this.#ports = ports;
    this.#said = newestOnly(ports.simulate);
    this.#drafted = newestOnly(ports.simulate);
    this.#credited = newestOnly(ports.simulate);
    this.#explained = newestOnly(ports.simulate);
  }

  /** Sends the current view. */
  publish(): void {
    this.#ports.changed({
      cast: this.#cast,
      writer: this.#writer,
      text: this.#text,
      replyTo: this.#replyTo,
      rows: rowsAt(this.#room, this.#answer, this.#now()),
      why: this.#why,
      draft: this.#draft,
      granted: this.#granted,
      problem: this.#problem,
      startedAt: this.#room.startedAt,
    });
  }

  setAgent(next: AgentName): void {
    if (next.id === this.#agent.id && next.name === this.#agent.name) return;
    this.#agent = next;
    this.#why = {};
    if (this.#room.lines.length > 0) void this.#judgeRoom();
    this.#judgeDraft(0);
  }

  write(text: string): void {
    this.#text = text;
    this.#judgeDraft();
  }

  writeAs(id: string): void {
    this.#writer = this.#cast.find((member) => member.id === id) ?? this.#writer;
    this.#judgeDraft(0);
  }

  reply(to: ReplyTo | null): void {
    this.#replyTo = to;
    this.#judgeDraft(0);
  }

  /** False if the name is empty, taken or the room is full. */
  add(name: string, isBot: boolean): boolean {
    const next = join(this.#cast, name, isBot, this.#agent.name);
    if (next === null) return false;
    this.#cast = next;
    this.#writer = next.at(-1) ?? this.#writer;
    this.#judgeDraft(0);
    return true;
  }

  /** Says the draft. Returns the id of the new line, null if there was nothing to say. */
  send(): string | null {
    if (this.#text.trim() === "") return null;
    if (this.#room.lines.length >= linesCountMax) {
      this.#fail(new ApiError(0, `The room is full (${linesCountMax} messages). Start over.`));
      return null;
    }
    if (this.#room.lines.length === 0) this.#room = { startedAt: Date.now(), lines: [] };
    this.#counter += 1;
    const id = `sim-${this.#counter}`;
    const line = this.#lineOf(id, this.#now());
    this.#room = { ...this.#room, lines: [...this.#room.lines, line] };
    this.#text = "";
    this.#replyTo = null;
    this.#judgeDraft(0);
    void this.#judgeRoom();
    return id;
  }

  startOver(): void {
    this.#restart({ startedAt: Date.now(), lines: [] });
    this.#cast = firstCast;
    this.#writer = firstCast[0] ?? unknownMember;
    this.#text = "";
    this.#judgeDraft(0);
  }

  example(): void {
    this.#restart(exampleRoom(this.#cast, this.#agent, Date.now()));
    this.#judgeDraft(0);
    void this.#judgeRoom();
  }

  /** Asks for the ladder of a line, unless it is known. */
  async explain(id: string): Promise<void> {
    const known = id in this.#why || this.#coming.includes(id);
    if (known || !this.#room.lines.some((line) => line.id === id)) return;
    try {
      const lines = scenarioLines(this.#room, this.#agent);
      const why = (await this.#explained.ask({ lines, explain: [id] }))?.why[id];
      if (why === undefined) return;
      this.#why = { ...this.#why, [id]: why };
      this.publish();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** The room as a scenario file, for `earshot replay`. */
  scenario(): string {
    return scenarioLines(this.#room, this.#agent)
      .map((line) => `${JSON.stringify(line)}\n`)
      .join("");
  }

  /** Ends all questions and timers. */
  stop(): void {
    for (const question of [this.#said, this.#drafted, this.#credited, this.#explained])
      question.cancel();
    clearTimeout(this.#draftTimer);
    clearTimeout(this.#playTimer);
  }

  /** Ms since the room began; never before its last line. */
  #now(): number {
    return Math.max(Date.now() - this.#room.startedAt, this.#room.lines.at(-1)?.t ?? 0);
  }

  #lineOf(id: string, t: number): Line {
    const [author, text] = [this.#writer, this.#text];
    return { id, t, author, text, replyTo: this.#replyTo, cast: this.#cast };
  }

  #fail(error: unknown): void {
    this.#coming = [];
    this.#problem = error instanceof ApiError ? error.message : "Cannot reach earshot.";
    this.publish();
  }

  #restart(room: Room): void {
    this.#said.cancel();
    this.#credited.cancel();
    this.#explained.cancel();
    clearTimeout(this.#playTimer);
    this.#why = {};
    this.#room = room;
    this.#answer = noAnswer;
    this.#granted = {};
    this.#replyTo = null;
    this.#problem = null;
  }

  /** Shows what has happened and comes back when the next thing does. */
  #play(): void {
    clearTimeout(this.#playTimer);
    this.publish();
    const next = nextChange(this.#answer, this.#now());
    if (next === null) return;
    const wait = Math.min(next - this.#now() + 1, timerMsMax);
    this.#playTimer = setTimeout(() => {
      this.#play();
      // A reply may have granted a credit: the decision about the draft may differ now.
      this.#judgeDraft(0);
    }, wait);
  }

  #judgeDraft(wait = Math.min(Math.max(draftWaitMs, this.#draftTookMs), draftWaitMsMax)): void {
    clearTimeout(this.#draftTimer);
    this.#drafted.cancel();
    if (this.#text.trim() === "") this.#draft = null;
    else {
      this.#draftTimer = setTimeout(() => void this.#askDraft(), wait);
    }
    this.publish();
  }

  async #askDraft(): Promise<void> {
    const askedAt = Date.now();
    const lines = scenarioLines(this.#room, this.#agent, this.#lineOf(draftId, this.#now()));
    try {
      const heard = await this.#drafted.ask({ lines, explain: [draftId] });
      if (heard === null) return;
      this.#draftTookMs = Date.now() - askedAt;
      this.#draft = heard.why[draftId] ?? null;
      this.#problem = null;
      this.#draftTimer = setTimeout(() => void this.#askDraft(), draftAgeMsMax);
      this.publish();
    } catch (error) {
      this.#fail(error);
    }
  }

  async #judgeRoom(): Promise<void> {
    try {
      const lines = scenarioLines(this.#room, this.#agent);
      this.#coming = this.#room.lines.slice(-explainedMax).map(({ id }) => id);
      const heard = await this.#said.ask({ lines, explain: this.#coming });
      if (heard === null) return;
      this.#coming = [];
      this.#answer = heard;
      this.#why = { ...this.#why, ...heard.why };
      this.#problem = null;
      this.#play();
      await this.#askCredits();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Who holds a credit right after each reply: asked, not computed, so that it is true. */
  async #askCredits(): Promise<void> {
    for (const reply of sends(this.#answer).slice(-creditsAskedMax)) {
      if (reply.id in this.#granted) continue;
      const probe = { ...this.#lineOf("probe", reply.t + 1), text: "…", replyTo: null };
      const lines = this.#room.lines.filter((line) => line.t <= reply.t);
      const asked = scenarioLines({ ...this.#room, lines }, this.#agent, probe);
      const why = (await this.#credited.ask({ lines: asked, explain: ["probe"] }))?.why.probe;
      // Overtaken by a newer question, which asks for what is missing.
      if (why === undefined) return;
      const newest = Object.entries(why.credits).sort(([, a], [, b]) => b - a)[0];
      const holder = this.#cast.find((member) => member.id === newest?.[0]);
      if (newest === undefined || holder === undefined) continue;
      const granted = { name: holder.name, ms: newest[1] - why.at + 1 };
      this.#granted = { ...this.#granted, [reply.id]: granted };
      this.publish();
    }
  }
}
