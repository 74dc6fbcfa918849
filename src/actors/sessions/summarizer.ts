/**
 * Summaries and side questions
 * ============================
 * Asks an agent for a summary, or something else, in a turn of its own: it runs where the agent's
 * turns run, with the same limits of time and size, has no tools, and its text returns here instead
 * of going to the room. The conversation's machine is not involved.
 */
import { agentIn, type EarshotConfig } from "../../domain/config/index.ts";
import type { JudgeQuestion } from "../../domain/judgement.ts";
import type { Ids, SessionRow, TranscriptEntry } from "../../domain/ports/index.ts";
import { plainTurnSettings } from "../../domain/session.ts";
import type { TurnReport, TurnRequest } from "../protocol/host-protocol.ts";
import type { LostTurn } from "../protocol/supervisor.ts";
import type { OrderedTurn } from "./session-registry.ts";

export interface SummariesPorts {
  readonly ids: Ids;
  readonly config: () => EarshotConfig;
  readonly cfg: () => number;
  readonly run: (order: TurnRequest) => void;
  readonly abort: (turnId: string, reason: string) => void;
}

export interface SummaryRequest extends Pick<OrderedTurn, "conv" | "key" | "agentId"> {
  /** Null: none yet. */
  readonly session: SessionRow | null;
  readonly transcript: readonly TranscriptEntry[];
  /** @default asks for a summary */
  readonly prompt?: string;
  /** No answer is none of its failures. */
  readonly mayBeSilent?: true;
  /** It goes to the judge of the room, with this question and these instructions. */
  readonly question?: JudgeQuestion;
  readonly system?: string;
}

export interface Summary {
  readonly text: string;
  readonly usage: {
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly costUsd: number;
  };
  /** Why there is no summary; null: there is one. */
  readonly failed: string | null;
}

export interface Summaries {
  /** Never rejects. Ends early when the signal aborts. */
  of(request: SummaryRequest, signal: AbortSignal): Promise<Summary>;
  /** Consumes reports of summaries and returns the others. */
  reported(reports: readonly TurnReport[]): readonly TurnReport[];
  /** Consumes lost summaries, which are retried on another host, and returns the other turns. */
  lost(turns: readonly LostTurn[]): readonly LostTurn[];
}

interface Open {
  readonly texts: string[];
  usage: Summary["usage"];
  readonly end: (failed: string | null, lost?: boolean) => void;
}

/** Attempts; a summary that lost its host twice is given up. */
const triesMax = 2;
const noTokens = { inputTokens: 0, outputTokens: 0, costUsd: 0 };

const ask =
  "Sum up this conversation so far, for yourself: you will go on from your summary alone. Keep " +
  "who is who, what was asked, decided and promised, names, numbers, links and what is still open. " +
  "Leave out greetings. Answer with the summary and nothing else.";

export function createSummaries(ports: SummariesPorts): Summaries {
  const open = new Map<string, Open>();

  function once(
    request: SummaryRequest,
    signal: AbortSignal,
  ): Promise<Summary & { lost: boolean }> {
    const turnId = ports.ids.next();
    return new Promise((resolve) => {
      const abort = () => ports.abort(turnId, "the turn was stopped");
      const end: Open["end"] = (failed, lost = false) => {
        signal.removeEventListener("abort", abort);
        open.delete(turnId);
        const text = ownAttempt.texts.join("\n").trim();
        const isMissing = text === "" && request.mayBeSilent !== true;
        const why = failed ?? (isMissing ? "the agent said nothing" : null);
        resolve({ text, usage: ownAttempt.usage, failed: why, lost });
      };
      const ownAttempt: Open = { texts: [], usage: noTokens, end };
      open.set(turnId, ownAttempt);
      signal.addEventListener("abort", abort, { once: true });
      ports.run(orderFor(request, turnId, ports));
      if (signal.aborted) abort();
    });
  }

  function hear(mine: Open, { event }: TurnReport): void {
    if (event.type === "agent.text" && event.aside === undefined) mine.texts.push(event.text);
    if (event.type === "agent.usage") {
      const { inputTokens, outputTokens, costUsd = 0 } = event;
      mine.usage = { inputTokens, outputTokens, costUsd };
    }
    if (event.type === "agent.ended") mine.end(null);
    if (event.type === "agent.failed") mine.end(event.code);
  }

  return {
    async of(request, signal) {
      let summary = await once(request, signal);
      for (let tried = 1; summary.lost && tried < triesMax && !signal.aborted; tried += 1)
        summary = await once(request, signal);
      return summary;
    },
    reported: (reports) =>
      open.size === 0
        ? reports
        : reports.filter((report) => {
            const mine = open.get(report.turnId);
            if (mine !== undefined) hear(mine, report);
            return mine === undefined;
          }),
    lost: (turns) =>
      turns.filter(({ turnId }) => {
        const mine = open.get(turnId);
        mine?.end("its host was lost", true);
        return mine === undefined;
      }),
  };
}

function orderFor(
  request: SummaryRequest,
  turnId: string,
  { config, cfg }: SummariesPorts,
): TurnRequest {
  const { conv, key, agentId, session, transcript, prompt = ask, question } = request;
  const agent = agentIn(config(), agentId, key);
  const { system = agent.system } = request;
  const model = question === undefined ? (session?.settings.model ?? agent.model) : null;
  const chatKind = "direct";
  const quiet = { because: [], heardQuietly: 0, humans: 1, guardActive: false, creditWindowMs: 0 };
  return {
    conv,
    key,
    turnId,
    agentId,
    transcript,
    chatKind,
    cfg: cfg(),
    turn: 0,
    attempt: 1,
    system,
    prompt,
    messagesText: prompt,
    room: { chatKind, ...quiet },
    textLimit: Number.MAX_SAFE_INTEGER,
    edits: false,
    images: [],
    session: plainTurnSettings,
    thinking: "off",
    model,
    watched: false,
    bare: true,
    ...(question === undefined ? {} : { question }),
  };
}
