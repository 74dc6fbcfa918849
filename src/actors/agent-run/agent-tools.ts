/**
 * Tools of every agent
 * ====================
 * What an agent may do in its own conversation: send a message now, react, disengage, stay silent,
 * read its files and its history. No tool takes a destination, so a reply cannot be sent elsewhere,
 * whatever the agent was talked into. A refusal is returned as text; an agent that keeps asking for
 * refused things is stopped.
 */
import { z } from "zod";
import type { agentTools } from "../../domain/config/daemon/agents.ts";
import { limits } from "../../domain/limits.ts";
import { choicesSchema, mediaRequestSchema } from "../../domain/outgoing.ts";
import type { ToolDescription } from "../../domain/ports/index.ts";
import {
  contextToolInputs,
  contextToolPurposes,
  isContextTool,
} from "../protocol/context-tool-schemas.ts";

const textInput = z.strictObject({ text: z.string().trim().min(1).max(limits.textUnitsMax) });
const sendInput = z.strictObject({
  text: textInput.shape.text
    .optional()
    .describe("The message; with media its caption, with choices the question."),
  media: mediaRequestSchema.omit({ caption: true }).optional().describe("A file to send."),
  choices: choicesSchema
    .omit({ text: true })
    .optional()
    .describe("Buttons to answer with, or a poll. Needs a text."),
});
const reaction = z.strictObject({ emoji: z.string().trim().min(1).max(64) });
const nothing = z.looseObject({});

const inputs = {
  channel_reply: textInput,
  channel_send: sendInput,
  channel_react: reaction,
  channel_disengage: nothing,
  skip_response: nothing,
  ...contextToolInputs,
} as const satisfies Readonly<Record<(typeof agentTools)[number], z.ZodType>>;
type ToolName = keyof typeof inputs;

const purposes: Readonly<Record<ToolName, string>> = {
  channel_reply:
    "Send a reply to this conversation now, before your answer ends. Here and in your answer, " +
    "[[reply_to:<message id>]] before a part makes it a reply to that message.",
  channel_send:
    "Send a further message to this conversation now: text, a file (media), or a question with buttons or a poll (choices).",
  channel_react: "React with one emoji to the message you are answering.",
  channel_disengage:
    "Step back: stop following this conversation until somebody addresses you again.",
  skip_response: "Say nothing this time. Whatever you write after it is not sent.",
  ...contextToolPurposes,
};

export const turnTools: readonly ToolDescription[] = (Object.keys(inputs) as ToolName[]).map(
  (name) => ({
    name,
    description: purposes[name],
    inputSchema: z.toJSONSchema(inputs[name], { io: "input" }) as Record<string, unknown>,
  }),
);

/** The offered tools; without a list, all. */
export function toolsAmong(names: readonly string[] | undefined): readonly ToolDescription[] {
  return names === undefined ? turnTools : turnTools.filter(({ name }) => names.includes(name));
}

export const isTurnTool = (name: string): name is ToolName => Object.hasOwn(inputs, name);

export interface TurnActions {
  readonly over: boolean;
  readonly skipped: boolean;
  say(text: string): void;
  /** Sends a file or choices; resolves to the platform's answer, or to a refusal. */
  send(type: "media" | "choices", request: unknown): Promise<string>;
  /** Resolves to the platform's answer. */
  react(emoji: string): string | Promise<string>;
  disengage(): void;
  skip(): void;
  /** Asks the main thread. Resolves to text, also for a refusal. */
  ask(tool: string, input: unknown): Promise<string>;
  /** A call was refused, or failed. */
  refused(name: string, why: string): void;
  /** Too many refusals: ends the turn. */
  giveUp(): void;
}

const refusal = "Refused: ";
const turnIsOver = `${refusal}this turn has ended.`;
/** Refusals after which a turn is ended. */
const refusalsMax = 10;

/**
 * The tools of one turn, as `AgentTurn.callTool`; with `names` only those. Resolves to the result
 * for the agent.
 */
export function createTools(
  actions: TurnActions,
  names?: readonly string[],
): (name: string, input: unknown) => string | Promise<string> {
  let refusals = 0;
  let asks = 0;
  /** One request at a time: an agent that sends a hundred at once only delays itself. */
  let asking: Promise<unknown> = Promise.resolve();
  const refuse = (why: string): string => {
    refusals += 1;
    if (refusals >= refusalsMax) actions.giveUp();
    return refusal + why;
  };
  const ask = (tool: string, input: unknown): Promise<string> => {
    asks += 1;
    if (asks > limits.asksPerTurnMax) return Promise.resolve(refuse("you asked too often."));
    const answer = asking.then(async () => {
      if (actions.over) return turnIsOver;
      return orRefuse(await actions.ask(tool, input));
    });
    asking = answer;
    return answer;
  };
  const orRefuse = (answer: string): string =>
    answer.startsWith(refusal) ? refuse(answer.slice(refusal.length)) : answer;
  const send = (asked: z.infer<typeof sendInput>): string | Promise<string> => {
    const { text, media, choices } = asked;
    if (media !== undefined && choices !== undefined)
      return refuse("send the media and the choices one after the other.");
    if (media !== undefined)
      return actions.send("media", { ...media, caption: text }).then(orRefuse);
    if (text === undefined) return refuse("there is nothing to send.");
    if (choices !== undefined) return actions.send("choices", { ...choices, text }).then(orRefuse);
    actions.say(text);
    return "Sent. Do not repeat it in your answer.";
  };
  const react = (emoji: string) => {
    const answer = actions.react(emoji);
    return typeof answer === "string" ? answer : answer.then(orRefuse);
  };
  const call = (name: string, input: unknown): string | Promise<string> => {
    const isOffered = names === undefined || names.includes(name);
    if (!isTurnTool(name) || !isOffered) return refuse("there is no such tool here.");
    const parsed = inputs[name].safeParse(input ?? {});
    if (!parsed.success) return refuse(z.prettifyError(parsed.error).slice(0, 500));
    if (isContextTool(name)) return ask(name, parsed.data);
    switch (name) {
      case "channel_reply":
      case "channel_send":
        if (actions.skipped) return refuse("you chose to skip this response.");
        return send(parsed.data as z.infer<typeof sendInput>);
      case "channel_react":
        if (actions.skipped) return refuse("you chose to skip this response.");
        return react((parsed.data as z.infer<typeof reaction>).emoji);
      case "channel_disengage":
        actions.disengage();
        return "You are no longer following this conversation. You may end now.";
      case "skip_response":
        actions.skip();
        return "Nothing will be sent. End now.";
    }
  };
  const noted = (name: string, answer: string): string => {
    if (answer.startsWith(refusal)) actions.refused(name, answer.slice(refusal.length));
    return answer;
  };
  return (name, input) => {
    if (actions.over) return turnIsOver;
    const answer = call(name, input);
    if (typeof answer === "string") return noted(name, answer);
    return answer.then((text) => (actions.over ? text : noted(name, text)));
  };
}
