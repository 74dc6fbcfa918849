/** The statecharts of the docs are drawn from the machines, and `npm run check` notices when not. */
import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import type { AnyStateMachine } from "xstate";
import { connectionMachine } from "../../src/machines/connection.machine.ts";
import { conversationMachine } from "../../src/machines/conversation.machine.ts";
import { deliveryMachine } from "../../src/machines/delivery.machine.ts";
import { hostMachine } from "../../src/machines/host.machine.ts";

const root = resolve(import.meta.dirname, "../..");
const pictures = join(root, "docs/pictures/machines");
const machines: readonly AnyStateMachine[] = [
  conversationMachine,
  deliveryMachine,
  connectionMachine,
  hostMachine,
];

type Node = AnyStateMachine["root"];
const below = (node: Node): Node[] => [node, ...Object.values(node.states).flatMap(below)];

/** The picture's words, wrapped lines joined. */
const wordsOf = (svg: string) =>
  [...svg.matchAll(/<text[^>]*>([^<]*)</gu)].map(([, words]) => words).join(" ");

test.each(machines)(
  "the picture of $id shows each state, what it is and every event",
  async (one) => {
    const words = wordsOf(await readFile(join(pictures, `${one.id}.svg`), "utf8"));
    const nodes = below(one.root);
    expect(nodes.length).toBeGreaterThan(4);
    for (const { key, description } of nodes) {
      expect(words).toContain(key === "(machine)" ? one.id : key);
      expect(description, key).toBeTypeOf("string");
      expect(words).toContain(description);
    }
    for (const event of one.root.events) expect(words).toContain(event);
  },
);

test("a picture follows the reader's colours and loads nothing", async () => {
  for (const { id } of machines) {
    const svg = await readFile(join(pictures, `${id}.svg`), "utf8");
    expect(svg).toContain("prefers-color-scheme:dark");
    expect(svg).not.toMatch(/<script|<image|href=|@import|url\((?!#)/u);
  }
});

test("drawn anew they are the same, and one that is not as drawn is told", {
  timeout: 90_000,
}, async () => {
  const copy = await mkdtemp(join(tmpdir(), "earshot-charts-"));
  await cp(pictures, copy, { recursive: true });
  const path = join(copy, "host.svg");
  await writeFile(path, (await readFile(path, "utf8")).replace("broken", "fine"));
  const args = ["scripts/charts.mjs", "--check", "--into", copy];
  await expect(promisify(execFile)(process.execPath, args, { cwd: root })).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^\S*host\.svg is stale: run node scripts\/charts\.mjs\n$/u),
  });
});
