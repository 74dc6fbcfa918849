/**
 * Side questions
 * ==============
 * `/btw`: the agent answers a question from the session's transcript, while a turn may be running.
 * Neither the question nor the answer enters the session, and the conversation's machine does not
 * hear of them; only what they used is counted.
 */
import { agentIn, type EarshotConfig } from "../../domain/config/index.ts";
import { limits } from "../../domain/limits.ts";
import type { Clock, Ids, SessionRow } from "../../domain/ports/index.ts";
import { noUsage } from "../../domain/session.ts";
import type { PromptMessage } from "../../machines/prompt/envelope.ts";
import { composeAside } from "../../machines/prompt/prompt.ts";
import type { Journal } from "../journal/journal.ts";
import { newest } from "./compaction.ts";
import type { OrderedTurn } from "./session-registry.ts";
import type { Summaries } from "./summarizer.ts";
import type { TranscriptCache } from "./transcript-cache.ts";
import { entriesOf } from "./transcript-view.ts";

export interface SideQuestionPorts {
  readonly clock: Pick<Clock, "now">;
  readonly ids: Ids;
  readonly journal: Pick<Journal, "keep">;
  readonly summaries: Pick<Summaries, "of">;
  readonly transcripts: Pick<TranscriptCache, "read">;
  readonly config: () => EarshotConfig;
}

/** The answer, or why there is none. */
export type SideAnswer =
  | { readonly kind: "answer"; readonly text: string }
  | { readonly kind: "failed" | "busy"; readonly reason: string };

export interface SideQuestions {
  ask(
    owner: Pick<OrderedTurn, "conv" | "key" | "agentId"> & { readonly system: string },
    session: SessionRow | null,
    question: PromptMessage,
  ): Promise<SideAnswer>;
}

export function createSideQuestions(ports: SideQuestionPorts): SideQuestions {
  const { clock, ids, journal, summaries, transcripts, config } = ports;
  let open = 0;

  async function answer(...[owner, session, question]: Parameters<SideQuestions["ask"]>) {
    const past = session === null ? null : await transcripts.read(session.sessionId);
    const lines = past === null ? [] : past.mark === null ? past.lines : [past.mark, ...past.lines];
    const { contextTokens } = agentIn(config(), owner.agentId, owner.key);
    const transcript = newest(entriesOf(lines, { named: true }), contextTokens);
    const prompt = composeAside(question, ids.next());
    const { signal } = new AbortController();
    const { text, usage, failed } = await summaries.of(
      { ...owner, session, transcript, prompt },
      signal,
    );
    if (session !== null) {
      const { sessionId } = session;
      const used = { ...noUsage, ...usage };
      const at = clock.now();
      await journal.keep([{ kind: "session", op: "used", sessionId, at, used, aborted: null }]);
    }
    return failed === null
      ? ({ kind: "answer", text } as const)
      : ({ kind: "failed", reason: failed } as const);
  }

  return {
    async ask(...given) {
      if (open >= limits.sideQuestionsCountMax)
        return { kind: "busy", reason: "too many side questions at once" };
      open += 1;
      try {
        return await answer(...given);
      } finally {
        open -= 1;
      }
    },
  };
}
