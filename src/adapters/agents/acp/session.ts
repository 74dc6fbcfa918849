/**
 * The protocol's session for one of earshot's, and the content of its prompts. The protocol has no
 * field for system instructions or earlier messages: both are sent with the first prompt of a new
 * session.
 */
import type { ContentBlock, SessionConfigOption } from "@agentclientprotocol/sdk";
import type { AgentTurn } from "../../../domain/ports/index.ts";
import { agentFailed, shown } from "../shared/lines.ts";
import { base64 } from "../shared/wire.ts";
import type { AcpProcess } from "./process.ts";

export interface AcpSession {
  readonly id: string;
  /** The process that holds it. */
  process: AcpProcess;
  /** Whether the agent has been prompted in it. */
  used: boolean;
  /** A turn is running in it. */
  busy: boolean;
  /** Selectors the agent offers, with their values at the start. */
  options: readonly SessionConfigOption[];
  /** Values set by earshot, by selector. */
  readonly chosen: Map<string, string>;
}

type Options = readonly SessionConfigOption[] | null | undefined;

export async function newSession(process: AcpProcess, cwd: string): Promise<AcpSession> {
  const answer = await process.ask("session/new", { cwd, mcpServers: [] });
  return opened(answer.sessionId, process, false, answer.configOptions);
}

/** Loads the session in another process of the same agent; null when the agent cannot. */
export async function loadedSession(
  previous: AcpSession,
  process: AcpProcess,
  cwd: string,
): Promise<AcpSession | null> {
  if (process.capabilities.loadSession !== true) return null;
  const { id: sessionId } = previous;
  try {
    // The agent replays the old conversation; these updates are ignored.
    const answer = await process.ask("session/load", { sessionId, cwd, mcpServers: [] });
    return opened(sessionId, process, true, answer?.configOptions);
  } catch (error) {
    if (process.retired) throw error;
    return null;
  }
}

function opened(id: string, process: AcpProcess, used: boolean, options: Options): AcpSession {
  return { id, process, used, busy: false, options: options ?? [], chosen: new Map() };
}

/** Sets the turn's model and thinking level, where the agent offers a choice. */
export async function configure(session: AcpSession, turn: AgentTurn): Promise<void> {
  const model = selector(session.options, "model");
  if (turn.model !== null && model?.values.includes(turn.model) !== true)
    throw agentFailed(
      `Cannot use the model: the agent does not offer it (received ${shown(turn.model)})`,
    );
  await choose(session, model, turn.model);
  const thinking = selector(session.options, "thought_level");
  const level = turn.thinking === "off" ? null : turn.thinking;
  await choose(session, thinking, thinking?.values.includes(level ?? "") === true ? level : null);
}

interface Selector {
  readonly id: string;
  readonly at: string;
  readonly values: readonly string[];
}

function selector(options: readonly SessionConfigOption[], category: string): Selector | null {
  for (const option of options) {
    if (option.category !== category || option.type !== "select") continue;
    const values = option.options.flatMap((entry) =>
      "options" in entry ? entry.options.map(({ value }) => value) : [entry.value],
    );
    return { id: option.id, at: option.currentValue, values };
  }
  return null;
}

/** Null restores the agent's own value. */
async function choose(session: AcpSession, from: Selector | null, value: string | null) {
  if (from === null) return;
  const wanted = value ?? from.at;
  if ((session.chosen.get(from.id) ?? from.at) === wanted) return;
  await session.process.ask("session/set_config_option", {
    sessionId: session.id,
    configId: from.id,
    value: wanted,
  });
  session.chosen.set(from.id, wanted);
}

export function promptOf(turn: AgentTurn, session: AcpSession): ContentBlock[] {
  const blocks: ContentBlock[] = [];
  const say = (text: string) => blocks.push({ type: "text", text });
  if (!session.used) {
    if (turn.system !== "") say(turn.system);
    if (turn.transcript.length > 0)
      say(
        ["## Earlier in this conversation"]
          // Indented, so that no line of a text can imitate the other side.
          .concat(
            turn.transcript.map(({ role, text }) => `${role}: ${text.replaceAll("\n", "\n  ")}`),
          )
          .join("\n\n"),
      );
  }
  say(turn.prompt);
  if (session.process.capabilities.promptCapabilities?.image === true)
    for (const { mime, data } of turn.images)
      blocks.push({
        type: "image",
        mimeType: mime,
        data: base64(data),
      });
  return blocks;
}
