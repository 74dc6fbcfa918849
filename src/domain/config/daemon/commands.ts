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
    text: z.boolean().describe("Whether `/words` in a message are treated as commands."),
    allowFrom: z
      .record(id, z.array(id).max(10_000))
      .describe("Channel id to ids; under `*` each id carries its channel."),
    ownerAllowFrom: z
      .array(scopedId)
      .max(1_000)
      .describe("Ids, each with its channel, that have every right."),
    bash: z
      .boolean()
      .describe("Whether owners may run command lines on this machine with `/bash`."),
    stopWords: z
      .array(z.string().trim().min(1).max(64))
      .max(200)
      .describe(
        "A message of only one of these is `/stop`, in any case, with any punctuation and politeness.",
      ),
  },
  { text: true, allowFrom: {}, ownerAllowFrom: [], bash: false, stopWords: [...stopWords] },
);
