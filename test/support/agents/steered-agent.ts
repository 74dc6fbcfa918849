/**
 * An agent that listens while it works
 * ====================================
 * Works in steps of a fixed time, takes in between two steps messages that came meanwhile, and answers
 * with everything it heard, in order. Before `deafMs` and in its last step it takes nothing.
 */
import { z } from "zod";
import { type AgentEvent, defineAgent } from "../../../src/domain/ports/index.ts";

const configSchema = z.looseObject({
  steps: z.number().default(3),
  stepMs: z.number().default(1_000),
  deafMs: z.number().default(0),
});

/** Who said what, out of a text of the layout that prompts have. */
const said = (text: string) =>
  [...text.matchAll(/^\[id .*\] (.+:)\n((?: {2}.*\n)*)/gm)]
    .map(([, who, lines = ""]) => `${who} ${lines.trim()}`)
    .join("\n");

interface Work {
  readonly since: number;
  readonly steered: string[];
  open: boolean;
}

export const steered = defineAgent<z.infer<typeof configSchema>>({
  kind: "steered",
  configSchema: configSchema as z.ZodType<z.infer<typeof configSchema>>,
  open: ({ config: { steps, stepMs, deafMs }, now, sleep }) => {
    const works = new Map<string, Work>();
    return {
      capabilities: { steer: true, tools: false, images: false },
      steer(turnId, text) {
        const work = works.get(turnId);
        if (work === undefined || !work.open || now() - work.since < deafMs) return false;
        work.steered.push(said(text));
        return true;
      },
      async *run({ turnId, said: first }, { signal }): AsyncGenerator<AgentEvent> {
        const work: Work = { since: now(), steered: [], open: true };
        works.set(turnId, work);
        const heard = first.split("\n");
        try {
          for (let step = 1; step <= steps; step += 1) {
            work.open = step < steps;
            heard.push(...work.steered.splice(0));
            await sleep(stepMs, signal);
          }
          yield { type: "text", text: heard.join(" + ") };
        } finally {
          works.delete(turnId);
        }
      },
    };
  },
});
