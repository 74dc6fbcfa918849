/** The picture of the statechart in the docs is the statechart. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { conversationMachine } from "../../../src/machines/conversation.machine.ts";

interface Described {
  readonly description?: string;
  readonly states?: Readonly<Record<string, Described>>;
}

const column = 23;

/** One line a state, its children below it, its description beside it. */
function drawn({ states = {} }: Described, before = ""): string[] {
  const entries = Object.entries(states);
  return entries.flatMap(([name, state], index) => {
    const last = index === entries.length - 1;
    const head = `${before}${last ? "└" : "├"}─ ${name}`;
    return [
      `${head.padEnd(column)} ${state.description}`,
      ...drawn(state, `${before}${last ? "   " : "│  "}`),
    ];
  });
}

test("docs/concepts.md draws every state, with its description", () => {
  const docs = readFileSync(resolve(import.meta.dirname, "../../../docs/concepts.md"), "utf8");
  const [, picture = ""] = /```text\n(conversation\n[^`]*)```/.exec(docs) ?? [];
  const states = drawn(conversationMachine.config as Described);
  expect(states.length).toBeGreaterThan(10);
  expect(picture.trimEnd().split("\n")).toEqual(["conversation", ...states]);
});
