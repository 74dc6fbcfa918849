// The agent as a driver of its own: options with a schema, words one by one, a tool, and questions that
// are added while it answers. `driver: { kind: "module", module: "./faq.mjs", options: { … } }` runs it.
import { defineAgent } from "earshot";
import { z } from "zod";
import { find } from "./search.mjs";

const options = z.strictObject({
  entries: z.array(z.strictObject({ about: z.string(), answer: z.string() })).max(1_000),
  /** Between two words, ms. */
  paceMs: z.number().int().min(0).max(60_000).default(30),
  /** The reaction to a question without an answer. */
  shrug: z.string().min(1).default("🤷"),
});

export default defineAgent({
  kind: "faq",
  configSchema: options,
  open({ config, sleep }) {
    /** The unanswered questions by turn id. */
    const running = new Map();
    return {
      capabilities: { steer: true, tools: true, images: false },
      async *run(turn, { signal }) {
        signal.throwIfAborted();
        const questions = [turn.said];
        running.set(turn.turnId, questions);
        try {
          for (let said = questions.shift(); said !== undefined; said = questions.shift()) {
            const answer = find(config.entries, said);
            if (answer === null) yield* shrug(turn, config.shrug, signal);
            else yield* speak(answer, (ms) => sleep(ms, signal), config.paceMs);
          }
        } finally {
          running.delete(turn.turnId);
        }
      },
      /** Called between two of our events. False: too late, make it a turn of its own. */
      steer(turnId, text) {
        const questions = running.get(turnId);
        questions?.push(text);
        return questions !== undefined;
      },
    };
  },
});

async function* speak(answer, sleep, paceMs) {
  for (const word of answer.split(/(?<=\s)/u)) {
    yield { type: "text", text: word };
    // On the runtime's clock, and aborted when the turn is stopped.
    await sleep(paceMs);
  }
  yield { type: "message-end" };
}

/** No text: a turn that ends without any is silent. */
async function* shrug(turn, emoji, signal) {
  const name = "channel_react";
  if (!turn.tools.some((tool) => tool.name === name)) return;
  const input = { emoji };
  yield { type: "tool-start", name, input };
  await unlessAborted(turn.callTool(name, input), signal);
  yield { type: "tool-end", name, ok: true };
}

/** A stopped turn does not wait. */
function unlessAborted(work, signal) {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}
