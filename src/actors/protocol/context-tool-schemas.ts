/**
 * What a turn may ask the main thread for
 * =======================================
 * Tools whose answer lies in the journal or outside: the host that runs the turn has neither. The
 * same schemas stand at both ends, as a host is not trusted. Nothing here is a path, an address or
 * another conversation: an attachment is named as the prompt named it, a search has words.
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
} as const;
export type ContextToolName = keyof typeof contextToolInputs;

export const contextToolPurposes: Readonly<Record<ContextToolName, string>> = {
  attachment_list:
    "List the files of the recent messages of this conversation, newest first, with their ids.",
  attachment_fetch:
    "What is in a file: its text, transcript or description. Takes an attachment_id.",
  history_search: "Search this session for words, newest first. Plain text, no wildcards.",
};

/** What a turn asks under this name is for an owner, not a tool of the agent's. */
export const approvalRequest = "permission";

export const isContextTool = (name: string): name is ContextToolName =>
  Object.hasOwn(contextToolInputs, name);
