/**
 * What a judge is shown: the last lines of the room, read from the session (what turns have read and
 * said) and from the journal (what was overheard since).
 */
import { agentIn } from "../../domain/config/index.ts";
import type { JudgeQuestion } from "../../domain/judgement.ts";
import type { Ids, Store } from "../../domain/ports/index.ts";
import { cut } from "../../domain/sanitize.ts";
import type { TranscriptLine } from "../../domain/session.ts";
import type { JudgeAsk } from "../../machines/events/effects.ts";
import type { PromptMessage } from "../../machines/prompt/envelope.ts";
import {
  composeQuestion,
  judgeInstructions,
  purposeUnitsMax,
} from "../../machines/prompt/judge.ts";
import type { Configs } from "../journal/config-versions.ts";
import type { HostStep } from "../protocol/host-protocol.ts";
import { type ReadPorts, readMessages } from "../turns/read-messages.ts";

export interface QuestionPorts extends ReadPorts {
  readonly store: Store;
  readonly ids: Ids;
  readonly configs: Pick<Configs, "current">;
  readonly agentOf: (key: string) => string;
}

export interface ComposedQuestion {
  readonly system: string;
  readonly prompt: string;
  readonly question: JudgeQuestion;
}

/** Lines of a question, the one it is about among them. */
const linesMax = 12;

interface Line extends PromptMessage {
  readonly isSelf: boolean;
}

/** Null: the message is not stored any more. */
export async function composeFor(
  ports: QuestionPorts,
  { messages }: JudgeAsk,
  { conv, key, seq }: HostStep,
): Promise<ComposedQuestion | null> {
  const agent = agentIn(ports.configs.current(), ports.agentOf(key), key);
  const heard = await readMessages(ports, messages);
  const asked = messages.at(-1);
  if (asked === undefined || heard.at(-1)?.id !== asked.id) return null;
  const earlier = await spokenBefore(ports, { conv, seq }, agent.name);
  const known = new Set(heard.map(({ id }) => id));
  const lines: readonly Line[] = [
    ...earlier.filter(({ id }) => !known.has(id)),
    ...heard.map((message) => ({ ...message, isSelf: false })),
  ].slice(-linesMax);
  const { name, system } = agent;
  const purpose = [agent.purpose, system].filter((part) => part !== "").join("\n\n");
  return {
    system: judgeInstructions({ agent: name, purpose }),
    prompt: composeQuestion({ agent: name, purpose, lines, fence: ports.ids.next(`judge|${seq}`) }),
    question: {
      agent: name,
      purpose: cut(purpose, purposeUnitsMax),
      lines: lines.map(({ id, at, author, isSelf, text }) => {
        return { id, at, by: author.name, isBot: author.isBot, isSelf, text };
      }),
    },
  };
}

/** The newest lines of the session in use. */
async function spokenBefore(
  { store }: Pick<QuestionPorts, "store">,
  { conv, seq }: Pick<HostStep, "conv" | "seq">,
  agentName: string,
): Promise<readonly Line[]> {
  const session = await store.sessionOf(conv, seq);
  if (session === null) return [];
  const { sessionId } = session;
  const lines = await store.transcript({ sessionId, limit: linesMax, newest: true });
  return lines.flatMap((line) => lineOf(line, agentName) ?? []);
}

function lineOf(
  { role, text, at, author, messageId, id }: TranscriptLine,
  agentName: string,
): Line | null {
  const isSelf = role === "assistant";
  if (!isSelf && (role !== "user" || author === undefined)) return null;
  return {
    id: messageId ?? String(id),
    at,
    author: { name: isSelf ? agentName : (author?.name ?? ""), isBot: isSelf },
    text,
    attachments: [],
    replyTo: null,
    isSelf,
  };
}
