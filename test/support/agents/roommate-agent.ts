/**
 * An agent that shares its room with others: answers with its name and what was said to it after a
 * while, or breaks, hangs, or has nothing to say, as it is configured.
 */
import { z } from "zod";
import { type AgentEvent, defineAgent } from "../../../src/domain/ports/index.ts";

const configSchema = z.looseObject({
  afterMs: z.number().default(1_000),
  does: z.enum(["answer", "fail", "hang", "nothing"]).default("answer"),
  /** Said after its name; absent: what was said to it. */
  words: z.string().optional(),
});

export const roommate = defineAgent<z.infer<typeof configSchema>>({
  kind: "roommate",
  configSchema: configSchema as z.ZodType<z.infer<typeof configSchema>>,
  open: ({ config: { afterMs, does, words }, sleep }) => ({
    capabilities: { steer: false, tools: false, images: false },
    async *run({ agentName, said }, { signal }): AsyncGenerator<AgentEvent> {
      await sleep(does === "hang" ? 86_400_000 : afterMs, signal);
      if (does === "fail") throw new Error("out of order");
      if (does === "answer") yield { type: "text", text: `${agentName}: ${words ?? said}` };
    },
  }),
});
