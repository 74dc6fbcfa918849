/**
 * `commands`: who may use commands
 * ================================
 * `allowFrom`, where set for a channel (or `*`), is the only list; otherwise the channel's own
 * allow lists apply. Owners are listed separately.
 */
import { z } from "zod";
import { stopWords } from "../../stop-words.ts";
import { id, section } from "../conversation/section.ts";
import { scopedId } from "./access.ts";

export const commands = section(
  {
    text: z.boolean().describe("Whether text such as `/help` in a message is a command."),
    allowFrom: z
      .record(id, z.array(id).max(10_000))
      .describe("Who may use commands on this channel. Under `*` each id includes its channel."),
    ownerAllowFrom: z
      .array(scopedId)
      .max(1_000)
      .describe("Owners, who may do everything. Each id includes its channel."),
    bash: z
      .boolean()
      .describe("Whether owners may run shell commands on this machine with `/bash`."),
    stopWords: z
      .array(z.string().trim().min(1).max(64))
      .max(200)
      .describe(
        "A message of only one of these is `/stop`, in any case, with any punctuation and politeness.",
      ),
  },
  { text: true, allowFrom: {}, ownerAllowFrom: [], bash: false, stopWords: [...stopWords] },
);
