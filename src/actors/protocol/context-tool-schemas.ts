/**
 * What a turn may ask the main thread for
 * =======================================
 * Tools whose answer is in the journal or outside: the host that runs the turn has neither. Both
 * ends check the same schemas, because a host is not trusted. Nothing here is a path, an address or
 * another conversation: an attachment has the name that the prompt gave it, and a search is plain
 * text.
 */
import { z } from "zod";
import { limits } from "../../domain/limits.ts";

export const contextToolInputs = {
  attachment_list: z.strictObject({
    limit: z.number().int().min(1).max(limits.attachmentsListedMax).default(20),
  }),
  attachment_fetch: z.strictObject({ attachment_id: z.string().trim().min(1).max(64) }),
  history_search: z.strictObject({
    query: z.string().trim().min(1).max(limits.searchQueryUnitsMax),
    limit: z.number().int().min(1).max(limits.searchHitsMax).default(10),
  }),
  schedule: z.strictObject({
    action: z.enum(["create", "list", "remove"]),
    name: z.string().trim().min(1).max(40).optional(),
    cron: z.string().max(128).optional(),
    at: z.string().max(64).optional(),
    time_zone: z.string().max(64).optional(),
    prompt: z.string().max(limits.scheduleUnitsMax).optional(),
  }),
} as const;
export type ScheduleInput = z.output<typeof contextToolInputs.schedule>;
export type ContextToolName = keyof typeof contextToolInputs;

export const contextToolPurposes: Readonly<Record<ContextToolName, string>> = {
  attachment_list:
    "List the files of the recent messages of this conversation, newest first, with their ids.",
  attachment_fetch:
    "What is in a file: its text, transcript or description. Takes an attachment_id.",
  schedule:
    "Prompts for yourself at set times, in this chat: create one with a name, a prompt and either " +
    "cron (five fields, with a time_zone like Europe/Berlin) or at (like " +
    "2026-12-24T18:00:00+01:00), list yours, or remove one by its name.",
  history_search: "Search this session for words, newest first. Plain text, no wildcards.",
};

/** A request under this name is for an owner; it is no tool of the agent's. */
export const approvalRequest = "permission";
/**
 * Of a turn itself, like the last: a file to send, its whole answer as a file, and the end of a delivery
 * or of a reaction.
 */
export const fileRequest = "file";
export const answerFileRequest = "answer-file";
export const deliveryRequest = "delivery";
export const reactionRequest = "reaction";

export const isContextTool = (name: string): name is ContextToolName =>
  Object.hasOwn(contextToolInputs, name);
