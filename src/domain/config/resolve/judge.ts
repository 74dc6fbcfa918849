/**
 * The judge of a conversation, with its driver. Read where it is asked, as it may hold secrets; the
 * settings of a conversation say only that there is one, and how sure it has to be.
 */
import { parseSessionKey } from "../../key.ts";
import { type JudgeSettings, judgeSettings } from "../conversation/judge.ts";
import type { EarshotConfig } from "../daemon/schema.ts";
import { placesOf } from "./resolve.ts";
import { scopeOfKey } from "./rooms.ts";

/** Of the most specific level that says something; null: there is none. */
export function resolveJudge(
  config: EarshotConfig,
  agentId: string,
  key: string,
): JudgeSettings | null {
  let found = config.engagement.judge;
  const scope = { agentId, ...scopeOfKey(parseSessionKey(key), key) };
  for (const { engagement } of placesOf(config, scope))
    if (engagement?.judge !== undefined) found = engagement.judge;
  return found === undefined || found === null ? null : judgeSettings(found);
}
