/**
 * Asking the judge
 * ================
 * A line that no rule decided is put to the judge of its room, within its budget: in a turn of the
 * judge's own driver, where turns run, without tools, under a time limit. Its output never goes to
 * the room; what is left of it is one journalled event.
 *
 * Every question gets its event, also one that failed or that the budget forbade, so `why` shows it.
 * A question that a crash cut short stays without one and its line stays observed: it is asked again
 * only where the step that asked was itself lost, and then no later than the time limit.
 */
import { resolveJudge } from "../../domain/config/index.ts";
import type { JudgeFailure } from "../../domain/decision.ts";
import { type Judgement, judgementIn } from "../../domain/judgement.ts";
import { holdsSeveralChats } from "../../domain/key.ts";
import { limits } from "../../domain/limits.ts";
import type { Clock, Log } from "../../domain/ports/index.ts";
import { late, within } from "../../domain/ports/within.ts";
import { chatOf, type Placed, placed } from "../../machines/batching/chats.ts";
import type { JudgeAsk } from "../../machines/events/effects.ts";
import type { JudgeAnswered } from "../../machines/events/events.ts";
import type { Configs } from "../journal/config-versions.ts";
import { type NewEvent, newEvent } from "../protocol/event-codec.ts";
import type { HostStep } from "../protocol/host-protocol.ts";
import type { AgentJudgeDay, JudgeResult } from "../protocol/judges.ts";
import type { Summaries, Summary } from "../sessions/summarizer.ts";
import { composeFor, type QuestionPorts } from "./question.ts";
import type { Spending } from "./spending.ts";

export interface JudgePorts extends QuestionPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly configs: Pick<Configs, "current" | "version">;
  readonly summaries: Pick<Summaries, "of">;
  readonly spending: Spending;
  /** Journals events. */
  readonly append: (events: readonly NewEvent[]) => void;
  readonly onResult: (result: {
    readonly key: string;
    readonly result: JudgeResult;
    readonly inputTokens: number;
    readonly outputTokens: number;
  }) => void;
}

export interface Judges {
  /** Loads what was spent today, before the first question. */
  load(): Promise<void>;
  /** Asks about a message. Never rejects; the answer is an event. */
  ask(effect: JudgeAsk, step: HostStep): void;
  /** The current day of each agent whose judge was asked. */
  days(): readonly AgentJudgeDay[];
}

type Answer = Pick<JudgeAnswered, "engage" | "confidence" | "why" | "failed">;
/** The message of a question. */
interface Asked extends Placed {
  readonly seq: number;
}
interface Outcome {
  readonly answer: Answer;
  readonly usage: Summary["usage"];
}

const unused = { inputTokens: 0, outputTokens: 0, costUsd: 0 };
const failed = (failure: JudgeFailure, why: string): Answer => ({
  engage: false,
  confidence: 0,
  why,
  failed: failure,
});

/** What the output of a judge says. */
function answerOf({ text, failed: problem }: Summary, said: Judgement | null): Answer {
  if (problem !== null) return failed("error", `the judge failed: ${problem}`);
  if (said === null)
    return failed("ill-formed", text === "" ? "the judge said nothing" : "that is no answer");
  return said;
}

export function createJudges(ports: JudgePorts): Judges {
  const { clock, configs, spending } = ports;
  let open = 0;

  async function ask(effect: JudgeAsk, step: HostStep): Promise<void> {
    const { key } = step;
    const agentId = ports.agentOf(key);
    const judge = resolveJudge(configs.current(), agentId, key);
    const asked = effect.messages.at(-1);
    if (judge === null || asked === undefined) return;
    const { seq, id } = asked;
    const chat = chatOf({ severalChats: holdsSeveralChats(key) }, effect.route);
    const about: Asked = placed({ seq, id }, chat);
    const report = (result: JudgeResult, { inputTokens, outputTokens } = unused) =>
      ports.onResult({ key, result, inputTokens, outputTokens });
    // A step that was lost in a crash is made again, and what it asks may be long past.
    if (clock.now() - step.at > judge.timeoutMs) return report("late");
    const isFree = open < limits.judgeQuestionsOpenMax;
    if (!isFree || !(await spending.take(agentId, judge))) {
      report("budget");
      const none = failed("budget", "no question was left in the budget");
      return note(step, about, none, unused);
    }
    open += 1;
    const { answer, usage } = await consult(effect, step, judge.timeoutMs).finally(() => {
      open -= 1;
    });
    const isSure = answer.confidence >= judge.minConfidence;
    const engages = answer.engage && isSure;
    const result = answer.failed ?? (engages ? "engage" : isSure ? "observe" : "unsure");
    spending.add(agentId, {
      ...usage,
      engaged: engages ? 1 : 0,
      failed: answer.failed === undefined ? 0 : 1,
    });
    report(result, usage);
    note(step, about, answer, usage);
  }

  /** The judge's answer, in time or not. */
  async function consult(effect: JudgeAsk, step: HostStep, timeoutMs: number): Promise<Outcome> {
    let usage: Summary["usage"] = unused;
    const work = async (signal: AbortSignal): Promise<Answer> => {
      const { conv, key } = step;
      const composed = await composeFor(ports, effect, step);
      if (composed === null) return failed("error", "the message is gone");
      if (signal.aborted) return failed("late", "");
      const agentId = ports.agentOf(key);
      const who = { conv, key, agentId, session: null, transcript: [], mayBeSilent: true } as const;
      const output = await ports.summaries.of({ ...who, ...composed }, signal);
      usage = output.usage;
      return answerOf(output, output.failed === null ? judgementIn(output.text) : null);
    };
    try {
      const answer = await within(clock, timeoutMs, work);
      if (answer !== late) return { answer, usage };
      return { answer: failed("late", `no answer within ${timeoutMs} ms`), usage };
    } catch (error) {
      ports.log("warn", "judge.failed", { key: step.key, error: String(error) });
      return { answer: failed("error", "the question could not be asked"), usage };
    }
  }

  function note(
    { conv, key }: HostStep,
    { seq, ...about }: Asked,
    { engage, confidence, why, failed }: Answer,
    usage: Summary["usage"],
  ): void {
    const event: JudgeAnswered = {
      type: "judge.answered",
      at: clock.now(),
      ...about,
      engage,
      confidence,
      why,
      ...(failed === undefined ? {} : { failed }),
      ...(usage === unused ? {} : { usage }),
    };
    const identity = `judge|${seq}`;
    ports.append([
      newEvent({ conv, key }, configs.version(), event, { identity, messageId: about.id }),
    ]);
  }

  return {
    ask(effect, step) {
      ask(effect, step).catch((error: unknown) => {
        ports.log("warn", "judge.failed", { key: step.key, error: String(error) });
      });
    },
    load: () => spending.load(),
    days: () => spending.days(),
  };
}
