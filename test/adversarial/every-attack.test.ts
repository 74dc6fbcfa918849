/**
 * The list of attacks: each has a number, what the attacker does, and the files whose tests show that
 * it fails. A number without such a test, or a test with a number that is not listed, fails here.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const here = "test/adversarial/";
const attacks: Readonly<Record<string, readonly [what: string, ...files: string[]]>> = {
  A01: ["posts to a hook without a signature", `${here}a01-a04-hooks.test.ts`],
  A02: ["signs with another key, or other bytes", `${here}a01-a04-hooks.test.ts`],
  A03: ["posts what was signed long ago, or twice", `${here}a01-a04-hooks.test.ts`],
  A04: ["uses up the id of a message that is still to come", `${here}a01-a04-hooks.test.ts`],
  A05: ["sends a body without end, or one that unfolds", `${here}a05-a07-bodies.test.ts`],
  A06: ["sends a byte now and then, on many sockets", `${here}a05-a07-bodies.test.ts`],
  A07: ["sends JSON that breaks what reads it", `${here}a05-a07-bodies.test.ts`],
  A08: ["reaches a page or a hook by another name for it", `${here}a08-a10-control.test.ts`],
  A09: ["gives orders without the token, or with an old one", `${here}a08-a10-control.test.ts`],
  A10: ["finds a daemon that listens to everybody", `${here}a08-a10-control.test.ts`],
  A11: ["writes without being listed", `${here}a11-a17-who-speaks.test.ts`],
  A12: ["takes the owner's name", `${here}a11-a17-who-speaks.test.ts`],
  A13: ["has an id that looks like the owner's", `${here}a11-a17-who-speaks.test.ts`],
  A14: ["is let in to one place and speaks in another", `${here}a11-a17-who-speaks.test.ts`],
  A15: ["hopes for an empty list, or a misspelt one", `${here}a11-a17-who-speaks.test.ts`],
  A16: ["edits, reacts, presses, forwards, posts as a chat", `${here}a11-a17-who-speaks.test.ts`],
  A17: ["guesses codes", `${here}a11-a17-who-speaks.test.ts`],
  A18: ["gives commands, openly or hidden in a message", `${here}a18-commands.test.ts`],
  A19: ["imitates the runtime's own lines in a prompt", `${here}prompts.test.ts`],
  A20: ["puts orders into names, titles and file names", `${here}prompts.test.ts`],
  A21: [
    "has an id that is another session's key",
    "test/domain/key.test.ts",
    "test/machines/routing/routing.test.ts",
  ],
  A22: [
    "names the session or the agent in the message",
    `${here}state-dir.test.ts`,
    "test/machines/routing/routing.test.ts",
  ],
  A23: ["links to an address inside the network", `${here}media.test.ts`],
  A24: ["redirects there, or changes a name's address", `${here}media.test.ts`],
  A25: ["names a file like a path", `${here}media.test.ts`, `${here}uploads.test.ts`],
  A26: ["sends a file that is not what it says", `${here}media.test.ts`, `${here}uploads.test.ts`],
  A27: ["writes what is slow to match", `${here}a27-a31-floods.test.ts`],
  A28: ["makes the agent write what is slow to cut", `${here}long-answers.test.ts`],
  A29: [
    "floods a room, or makes up rooms",
    `${here}a27-a31-floods.test.ts`,
    "test/actors/turns/queue-modes.test.ts",
  ],
  A30: ["sets bots on each other", `${here}a27-a31-floods.test.ts`],
  A31: [
    "keeps the agent busy, or interrupts it all the time",
    `${here}a27-a31-floods.test.ts`,
    "test/actors/turns/queue-modes.test.ts",
  ],
  A32: ["makes the agent call everybody, or never end", `${here}long-answers.test.ts`],
  A33: [
    "asks for the answer to be sent elsewhere",
    `${here}a32-a34-hostile-agents.test.ts`,
    "test/machines/routing/routing.test.ts",
  ],
  A34: ["speaks the runtime's protocol as an agent", `${here}a32-a34-hostile-agents.test.ts`],
  A35: ["looks for secrets wherever something is shown", `${here}secrets.test.ts`],
  A36: ["writes what forges a log or drives a terminal", `${here}terminals.test.ts`],
  A37: [
    "has a config read that is not what it seems",
    "test/domain/config/parse.test.ts",
    "test/adapters/files/config-file.test.ts",
  ],
  A38: [
    "lays something into the state folder",
    `${here}state-dir.test.ts`,
    "test/machines/snapshot/snapshot.test.ts",
  ],
  A39: ["writes SQL", `${here}state-dir.test.ts`],
  A40: ["has taken over a worker thread", `${here}workers.test.ts`],
  A41: ["has a clock of its own, or repeats old messages", `${here}state-dir.test.ts`],
  A42: ["has taken over a package", `${here}a42-supply.test.ts`],
  A43: ["has talked the agent into anything", `${here}a32-a34-hostile-agents.test.ts`],
};

/** Numbers in titles: a title is a string that begins with them. */
const titled = (text: string): string[] =>
  [...text.matchAll(/["'`]((?:A\d\d(?:, | and )?)+)[: ]/g)].flatMap(
    ([, ids = ""]) => ids.match(/A\d\d/g) ?? [],
  );
const root = new URL("../../", import.meta.url).pathname;
const idsIn = (file: string) => new Set(titled(readFileSync(join(root, file), "utf8")));

test("the numbers run from the first to the last", () => {
  const ids = Object.keys(attacks);
  expect(ids).toEqual(ids.map((_, at) => `A${String(at + 1).padStart(2, "0")}`));
});

test.each(Object.entries(attacks))("%s has tests where they are listed", (id, [, ...files]) => {
  expect(files.length).toBeGreaterThan(0);
  for (const file of files) expect([...idsIn(file)], file).toContain(id);
});

test("every number that a test has is listed", () => {
  const files = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" });
  const used = files
    .filter((file) => file.endsWith(".test.ts"))
    .flatMap((file) => [...idsIn(join("test", file))]);
  expect([...new Set(used)].filter((id) => !(id in attacks))).toEqual([]);
});
