/**
 * The updates of a session that become events, as agentclientprotocol.com/protocol/v1/prompt-turn describes
 * them. As lenient as the SDK's own schemas, which it does not export: a field that only informs may be
 * anything. The SDK would print what does not fit on stderr; here it is passed over.
 */
import { z } from "zod";

const textSchema = z.object({ type: z.literal("text"), text: z.string() });
/** Pictures, links and the like: nothing of them is shown. */
const otherSchema = z.object({ type: z.string() }).transform(() => null);
const contentSchema = z.union([textSchema.transform(({ text }) => text), otherSchema]);

const partSchema = z
  .object({ type: z.literal("content"), content: contentSchema })
  .transform(({ content }) => content)
  .catch(null);
const toolFields = {
  toolCallId: z.string(),
  status: z.string().nullish().catch(null),
  content: z.array(partSchema).nullish().catch(null),
};

const updateSchema = z.discriminatedUnion("sessionUpdate", [
  z.object({ sessionUpdate: z.literal("agent_message_chunk"), content: contentSchema }),
  z.object({ sessionUpdate: z.literal("agent_thought_chunk"), content: contentSchema }),
  z.object({
    sessionUpdate: z.literal("tool_call"),
    ...toolFields,
    title: z.string(),
    name: z.string().nullish().catch(null),
    rawInput: z.unknown().optional(),
  }),
  z.object({ sessionUpdate: z.literal("tool_call_update"), ...toolFields }),
]);
/** Text of a content block: null where it is no text. */
export type SessionUpdate = z.infer<typeof updateSchema>;

const notificationSchema = z.object({ sessionId: z.string(), update: updateSchema });
export type SessionNotification = z.infer<typeof notificationSchema>;

/** An update; null: it is of a kind that only editors need (plans, modes), or it is none. */
export function notificationOf(params: unknown): SessionNotification | null {
  return notificationSchema.safeParse(params).data ?? null;
}
