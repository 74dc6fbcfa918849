import type { EngagementInput } from "../../../src/domain/decision.ts";

/** Of a line in a room that is aimed at nobody, from a person: what the ladder is asked beside text and author. */
export const plainLine = {
  authorIsBot: false,
  isDirect: false,
  inThread: false,
  mentionsSelf: false,
  mentionsOthers: false,
  repliesToSelf: false,
  repliesToOther: false,
} satisfies Partial<EngagementInput["message"]>;
