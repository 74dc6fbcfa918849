/**
 * An agent that follows orders
 * ==================================
 * Calls the tools that the message names (`call history_search {"query":"x"}`, a line each) and
 * answers with its texts, and with the pictures it was given.
 */
import { z } from "zod";
import { type AgentEvent, defineAgent } from "../../../src/domain/ports/index.ts";

const configSchema = z.looseObject({ images: z.boolean().default(false) });

export const toolCaller = defineAgent<z.infer<typeof configSchema>>({
  kind: "asking",
  configSchema: configSchema as z.ZodType<z.infer<typeof configSchema>>,
  open: ({ config }) => ({
    capabilities: { steer: false, tools: true, images: config.images },
    async *run(turn): AsyncGenerator<AgentEvent> {
      const answers: string[] = [];
      for (const line of turn.said.split("\n")) {
        const found = /call (\w+) (.*)$/.exec(line);
        if (found === null) continue;
        const [, tool = "", input = ""] = found;
        yield { type: "tool-start", name: tool, input: {} };
        answers.push(await turn.callTool(tool, JSON.parse(input)));
        yield { type: "tool-end", name: tool, ok: true };
      }
      for (const { mime, name, data } of turn.takePictures?.() ?? [])
        answers.push(`fetched ${mime} ${name} ${data.length}`);
      for (const { mime, name, data } of turn.images)
        answers.push(`picture ${mime} ${name} ${data.length}`);
      yield { type: "text", text: answers.length === 0 ? "ok" : answers.join("\n~~\n") };
    },
  }),
});
