/**
 * The agent of a fresh install: no key, no network, no model, and it says so. It answers from the
 * state of the room: why it was engaged, what it observed, who is counted, and how to connect a
 * model. Its lines are plain templates.
 */
import { z } from "zod";
import type { Rule } from "../../../domain/decision.ts";
import { type AgentTurn, defineAgent } from "../../../domain/ports/index.ts";
import { oneLine } from "../../../domain/sanitize.ts";

const configSchema = z.strictObject({ kind: z.literal("guide").default("guide") });
type GuideConfig = z.infer<typeof configSchema>;

const heartbeatDone = "HEARTBEAT_OK";

/** Explains the rule to the person who caused the turn. */
const because: Partial<Record<Rule, string>> = {
  dm: "this is a direct chat, where every message engages me",
  mention: "the message mentions me",
  reply: "the message replies to something I wrote",
  sticky: "I just answered you, and a follow-up needs no mention",
  alias: "the message names me",
  "solo-human": "only one person is here, so no mention is needed",
  always: "this room is set to answer everyone",
};

const howToConnect = [
  "To connect a model, open the Setup page or run `earshot init`. Or put this into " +
    "earshot.json5; any OpenAI-compatible server works, for example Ollama:",
  "",
  "```json5",
  "{ agents: { list: [ { id: 'main', driver: { kind: 'model', provider: 'openai-compatible',",
  "    baseUrl: 'http://127.0.0.1:11434/v1', model: 'llama3.2' } } ] } }",
  "```",
  "",
  "Changes apply without a restart.",
].join("\n");

const minutes = (ms: number): string => {
  const whole = Math.round(ms / 60_000);
  return whole === 1 ? "1 minute" : `${whole} minutes`;
};

/** The guide's answer to a turn, as text. Pure. */
export function guideAnswer(turn: Pick<AgentTurn, "said" | "room" | "transcript">): string {
  const lines: string[] = [];
  const { room } = turn;
  const first = turn.transcript.length === 0;
  if (first)
    lines.push(
      "I am the built-in guide. No model is connected yet, so I cannot answer your message, but " +
        "I can show how earshot listens.",
      "",
    );
  const reasons = new Map<string, string>();
  for (const { author, rule } of room.because) {
    const who = room.chatKind === "direct" ? "" : `${oneLine(author)}: `;
    reasons.set(rule, `${who}${because[rule] ?? "a rule engaged me"} (rule \`${rule}\`)`);
  }
  lines.push("**Why I answered**", ...[...reasons.values()].map((reason) => `- ${reason}`));
  if (room.chatKind !== "direct") {
    lines.push("", "**This room**", `- ${people(room.humans)} counted here`);
    lines.push(
      room.heardQuietly === 0
        ? "- no messages since my last answer"
        : `- ${room.heardQuietly} ${room.heardQuietly === 1 ? "message" : "messages"} observed ` +
            "since my last answer",
    );
    lines.push(`- your next message within ${minutes(room.creditWindowMs)} needs no mention`);
    if (room.guardActive)
      lines.push("- the loop guard is active: bots have been talking to each other");
  }
  if (first || /\b(connect|model|help|setup|set up|how)\b/i.test(turn.said))
    lines.push("", howToConnect);
  else lines.push("", "No model is connected. Write `help` to see how to connect one.");
  return lines.join("\n");
}

const people = (count: number): string => (count === 1 ? "1 person" : `${count} people`);

export const guideDriver = defineAgent<GuideConfig>({
  kind: "guide",
  configSchema: configSchema as z.ZodType<GuideConfig>,
  open: () => ({
    capabilities: { steer: false, tools: false, images: false },
    async *run(turn, { signal }) {
      signal.throwIfAborted();
      // The guide has no heartbeat tasks: it answers with the acknowledgement.
      yield { type: "text", text: turn.heartbeat ? heartbeatDone : guideAnswer(turn) };
      yield { type: "message-end" };
    },
  }),
});
