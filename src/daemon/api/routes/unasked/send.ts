/**
 * `POST /api/send`
 * ================
 * Says something in a chat that nobody there asked for: a text in the agent's name, or a prompt that
 * the agent answers with a turn. Answered when it is durable. With an `id` it may be sent again: the
 * same request gets the same answer, another one under that id is refused.
 */
import { z } from "zod";
import { limits } from "../../../../domain/limits.ts";
import { chatKindSchema } from "../../../../domain/message.ts";
import { text } from "../../../api-types/schema.ts";
import { ApiRefusal } from "../../../http/api-error.ts";
import type { Endpoints } from "../../../http/endpoint.ts";
import type { RouteDeps } from "../deps.ts";

const name = z.string().min(1).max(256);

export const sendSchema = z.strictObject({
  id: name.exactOptional().describe("of the caller; @default one of its own"),
  channel: name,
  account: name.default("default"),
  chat: z.strictObject({
    id: name,
    kind: chatKindSchema.exactOptional().describe("@default what earshot knows of the chat"),
  }),
  thread: z
    .strictObject({ id: name, kind: z.enum(["thread", "topic"]).default("thread") })
    .nullable()
    .default(null),
  agent: name.exactOptional().describe("@default the agent that hears the chat"),
  text: z
    .string()
    .max(limits.sendUnitsMax)
    .refine((words) => words.trim() !== "", "expected some text"),
  turn: z
    .boolean()
    .default(false)
    .describe("the text is a prompt that the agent answers in the chat, and is not sent itself"),
  replyTo: name.nullable().default(null).describe("platform id of the message to reply to"),
});

const send = {
  method: "post",
  path: "/api/send",
  summary: "Sends a text to a chat, or has the agent speak up there; answers when it is durable",
  body: sendSchema,
  answer: z.object({
    id: text,
    key: text.describe("session key of the conversation"),
    turn: z.boolean(),
    parts: z.array(text).describe("outbox ids of the messages; of a turn, none yet"),
  }),
  refuses: ["bad-request", "conflict", "too-large", "wrong-type", "not-ready"],
} as const;

export function sendRoutes({ add }: Endpoints, deps: RouteDeps): void {
  add(send, async ({ body }) => {
    const problem = deps.problem();
    if (problem !== null) throw new ApiRefusal("not-ready", problem);
    const { id, channel, account, chat, thread, agent, turn, replyTo } = body;
    if (turn && replyTo !== null)
      throw new ApiRefusal(
        "bad-request",
        "Cannot send: a turn replies to no message. Leave replyTo out, or turn",
      );
    const taken = await deps.runtime.say({
      ...(id === undefined ? {} : { id }),
      place: { channel, account, chat, thread },
      ...(agent === undefined ? {} : { agentId: agent }),
      text: body.text,
      turn,
      replyTo,
      by: "operator",
    });
    if (taken !== "conflict") {
      const { key, parts } = taken;
      return { id: taken.id, key, turn: taken.turn, parts };
    }
    throw new ApiRefusal(
      "conflict",
      "Cannot send: this id was used for another text or chat. Use an id once",
    );
  });
}
