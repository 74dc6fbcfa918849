/**
 * The table of commands, and what is read out of a message: everything that is made from the table
 * knows every entry, and no text, however it is wrapped or how long it is, orders more than it
 * says.
 */

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { withDocsTable } from "../../../scripts/reference/commands.ts";
import { inboundSchema } from "../../../src/domain/message.ts";
import { stopWords as stopWordsByDefault } from "../../../src/domain/stop-words.ts";
import { takeDirectives } from "../../../src/machines/commands/directives.ts";
import { commandsText, helpText, menuCommands } from "../../../src/machines/commands/help.ts";
import { editedText, noOrders, readOrders } from "../../../src/machines/commands/parse-command.ts";
import { shownSpans } from "../../../src/machines/commands/quoted-spans.ts";
import { commandList, commandNamed } from "../../../src/machines/commands/table.ts";
import { property } from "../../support/property.ts";
import { rounds } from "../../support/rounds.ts";

const owner = { commandAuthorized: true, owner: true };
const member = { commandAuthorized: true, owner: false };
const nobody = { commandAuthorized: false, owner: false };
const resetTriggers = ["/new", "/reset"];
const stopWords = ["stop", "Genug", "/halt"];

function read(text: string, authority = owner, more: object = {}) {
  const message = inboundSchema.parse({
    channel: "telegram",
    chat: { id: "ann", kind: "direct" },
    id: "m1",
    author: { id: "ann" },
    text,
    ...more,
  });
  return readOrders(message, { authority, resetTriggers, stopWords });
}
const all = (calls: readonly { command: string; args: readonly string[] }[]) =>
  calls.map(({ command, args }) => [command, ...args].join(" "));

/** Words that hold commands, real and nearly. */
const piece = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...commandList.map(([, { example }]) => example)) },
  { weight: 2, arbitrary: fc.constantFrom("/think", "/v full", "/t: max", "/queue", "/elev full") },
  {
    weight: 2,
    arbitrary: fc.constantFrom("hello", "stop", "/unknown", "a/b", "/", "//", "`", "> x"),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('"', "“", "”", "```", "~~~", "\n", "\n\n", "  ", "\t", "’"),
  },
  { weight: 1, arbitrary: fc.string({ maxLength: 8 }) },
);
const talk = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(" "));
const wraps: readonly [string, (text: string) => string][] = [
  [
    "a quote",
    (text) =>
      text
        .split("\n")
        .map((line) => `> ${line}`)
        .join("\n"),
  ],
  ["a fence", (text) => `~~~~~~\n${text.replaceAll("~", "-")}\n~~~~~~`],
  ["a fence of backticks", (text) => `\`\`\`text\n${text.replaceAll("`", "'")}\n\`\`\``],
  ["a fence without an end", (text) => `\`\`\`\n${text.replaceAll("`", "'")}`],
  ["a code span", (text) => `see \`${text.replaceAll(/[`\n]/g, " ")}\``],
  ["quotation marks", (text) => `he said "${text.replaceAll(/["`\n“„«»‹]/g, " ")}"`],
];

const page = readFileSync(
  resolve(import.meta.dirname, "../../../docs/reference/commands.md"),
  "utf8",
);

/** A value that each directive takes. */
const words: Readonly<Record<string, string>> = {
  think: "high",
  verbose: "on",
  reasoning: "on",
  elevated: "ask",
  exec: "security=deny",
  model: "gpt-5",
  queue: "steer",
};

describe("the table", () => {
  test("is the one of the docs page", () => {
    expect(withDocsTable(page)).toBe(page);
  });

  test.each(commandList)(
    "%s is in the help, in the docs and findable by every name",
    (name, spec) => {
      expect(commandsText()).toContain(`/${name}`);
      expect(page).toContain(`\`${spec.example}\``);
      expect(helpText(name)).toContain(spec.help);
      for (const word of [name, ...spec.aliases]) {
        expect(commandNamed(word)).toBe(name);
        expect(commandNamed(word.toUpperCase())).toBe(name);
      }
      expect(menuCommands().some((entry) => entry.name === name)).toBe(spec.menu);
    },
  );

  test("says in its help what each does among other words, and that a name is none", () => {
    const after = "hello there";
    for (const [name, { form }] of commandList) {
      if (form !== "inline") continue;
      const orders = read(`/${name} ${words[name] ?? ""} ${after}`);
      expect(orders.text, name).toBe(after);
      const stays = orders.quiet.length + orders.calls.length > 0;
      expect(/ counts for that message\./u.test(helpText(name)), name).toBe(!stays);
    }
    expect(helpText("nonsense")).toMatch(/^There is no command of that name\.\n\n`\/help/);
    expect(helpText()).toMatch(/^`\/help/);
  });

  test("has no word twice, and its menu fits a platform that takes short lower-case names", () => {
    const words = commandList.flatMap(([name, { aliases }]) => [name, ...aliases]);
    expect(new Set(words).size).toBe(words.length);
    for (const { name, description } of menuCommands()) {
      expect(name).toMatch(/^[a-z0-9_]{1,32}$/);
      expect(description).toMatch(/^[A-Z].{1,99}$/);
      expect(description).not.toMatch(/\.$/);
    }
  });

  test("gives examples that are read as what they show", () => {
    for (const [name, { example, form }] of commandList) {
      const { calls, ended, steers = false, text } = read(example);
      expect([name, ended, steers]).toEqual([name, name !== "steer", name === "steer"]);
      if (steers) expect(`/steer ${text}`).toBe(example);
      if (steers) continue;
      if (form !== "own") expect(calls.map(({ command }) => command)).toEqual([name]);
    }
  });
});

describe("a whole message", () => {
  test.each([
    ["/status", ["status"]],
    ["  /STATUS\n", ["status"]],
    ["/status:", ["status"]],
    ["/id", ["whoami"]],
    ["/activation Always", ["activation always"]],
    ["/think", ["think"]],
    ["/think highest", ["think high"]],
    ["/reason on", ["reasoning on"]],
    ["/elev on", ["elevated ask"]],
    ["/queue steer debounce:1.5s cap:3 drop:OLD", ["queue steer debounce:1500 cap:3 drop:old"]],
    ["/queue reset", ["queue default"]],
    ["/model anthropic/claude-x", ["model anthropic/claude-x"]],
    ["/model mistral", ["model mistral"]],
    ["/abort", ["stop"]],
    ["stop", ["stop"]],
    [" GENUG ", ["stop"]],
    ["/halt", ["stop"]],
    ["/new", ["new"]],
    ["/activation maybe", ["help activation"]],
    ["/send perhaps not", ["help send"]],
    ["/verbose on /think low", ["think low", "verbose on"]],
  ])("%j is a command", (text, calls) => {
    const orders = read(text);
    expect(all(orders.calls)).toEqual(calls);
    expect(orders).toMatchObject({ ended: true, quiet: [], levels: {} });
  });

  test.each([
    "/unknown",
    "/ status",
    "//status",
    "status",
    "∕status",
    "／status",
    "/status@other",
    "/",
  ])("%j is text for the agent", (text) => expect(read(text)).toEqual(noOrders(text)));

  const readsStop = (text: string) =>
    readOrders(
      inboundSchema.parse({
        channel: "telegram",
        chat: { id: "ann", kind: "direct" },
        id: "m1",
        author: { id: "ann" },
        text,
      }),
      { authority: owner, resetTriggers, stopWords: stopWordsByDefault },
    ).calls.some(({ command }) => command === "stop");

  test.each([
    ...[
      "stop",
      "STOP!",
      "Stop.",
      "please stop",
      "Stop, please!!",
      "ok stop it",
      "🛑 stop",
      "ＳＴＯＰ",
    ],
    ...["Stopp!", "Bitte aufhören.", "hör auf", "HOER AUF", "Détente, por favor", "¡Basta!"],
    ...["Arrête, s'il te plaît !", "arrete stp", "s’il vous plaît, arrêtez", "Pare, por favor."],
    ...[
      "Стоп!",
      "пожалуйста, остановись",
      "停止",
      "请停下来！",
      "谢谢，停",
      "やめて",
      "止めてください。",
    ],
    ...["रुको", "कृपया रुको।", "توقف", "توقف من فضلك", "رجاء، قف"],
  ])("%j stops", (text) => expect(readsStop(text)).toBe(true));

  test.each([
    ...["please stop the music", "stop or go", "non-stop", "please", "> stop", "`stop`", '"stop"'],
    ...["- stop", "/ stop", "／stop", "stop?no", "bus stop", "停止线", "停车", "no pare", "arrêt"],
    ...["", "!", "🛑", "thanks", "wait"],
  ])("%j is talk", (text) => expect(readsStop(text)).toBe(false));

  test("for another bot is text, for us a command", () => {
    expect(read("/status@other", owner, { mentions: [{ id: "other" }] }).ended).toBe(false);
    const mentions = [{ id: "us", isSelf: true }];
    expect(all(read("/status@us", owner, { mentions }).calls)).toEqual(["status"]);
  });

  test("with a file keeps its caption's text but for directives", () => {
    const attachments = [{ id: "a", kind: "image" }];
    expect(read("/status of this", owner, { attachments })).toMatchObject({
      ended: false,
      text: "of this",
      calls: [{ command: "status" }],
    });
    expect(read("/help", owner, { attachments })).toEqual(noOrders("/help"));
  });
});

describe("directives", () => {
  test.each([
    ["/think high hello", "hello", { thinking: "high" }],
    ["hello /think high", "hello", { thinking: "high" }],
    ["a /think high b", "a b", { thinking: "high" }],
    [
      "a  b /v full\n  c\n\n/reasoning stream\td",
      "a  b\n  c\n\nd",
      {
        verbose: "full",
        reasoning: "stream",
      },
    ],
    ["/think about it", "about it", {}],
    ["/think low and /think max", "and", { thinking: "max" }],
    ["/think:high x", "x", { thinking: "high" }],
    ["x /think: nothing", "x nothing", {}],
    ["why /tmp is full", "why /tmp is full", {}],
    ["/elevated full now", "now", { elevated: "full" }],
    ["/exec security=full now", "now", { exec: { security: "full" } }],
    [
      "/exec host=here ask=always security=allowlist now",
      "now",
      { exec: { ask: "always", security: "allowlist" } },
    ],
    ["/exec security=full host=sandbox now", "security=full host=sandbox now", {}],
  ])("%j leave %j", (text, left, levels) => {
    expect(read(text)).toMatchObject({ text: left, levels, ended: false });
  });

  test("for the model and the queue are remembered beside the message", () => {
    const orders = read("/queue collect cap:5 hello /model gpt-5 and /model please");
    expect(all(orders.quiet)).toEqual(["model gpt-5", "queue collect cap:5"]);
    expect(orders.text).toBe("hello and please");
  });

  test("that are an owner's stay in the text of others", () => {
    expect(read("hey /elevated full", member)).toEqual(noOrders("hey /elevated full"));
    expect(read("hey /elevated ask", member).levels).toEqual({ elevated: "ask" });
    expect(read("/config show", member)).toEqual(noOrders("/config show"));
  });

  test("of an edit are taken out and obeyed no more", () => {
    const rules = { authority: owner, resetTriggers };
    expect(editedText("hello /think high", rules)).toBe("hello");
    expect(editedText("hello /think high", { ...rules, authority: nobody })).toBe(
      "hello /think high",
    );
  });
});

describe("whatever is said", () => {
  property([talk])("somebody without authority orders nothing", (text) => {
    expect(read(text, nobody)).toEqual(noOrders(text));
  });

  describe.each(wraps)("wrapped in %s", (_, wrap) => {
    property([talk], { numRuns: rounds(50, 300) })(
      "it orders nothing and stays as it is",
      (text) => {
        const wrapped = wrap(text);
        expect(read(wrapped)).toEqual(noOrders(wrapped));
      },
    );
  });

  test("not wrapped, the same words order much", () => {
    const texts = fc.sample(talk, { numRuns: 500, seed: 7 });
    const commands = texts.flatMap((text) => {
      const { calls, quiet, levels } = read(text);
      return [...all([...calls, ...quiet]), ...Object.keys(levels)];
    });
    const kinds = new Set(commands.map((one) => one.split(" ")[0]));
    for (const kind of ["thinking", "verbose", "elevated", "status", "model", "queue", "help"])
      expect([...kinds]).toContain(kind);
  });

  property([talk])(
    "directives take away only words that are theirs, and no second pass finds more",
    (text) => {
      const may = () => true;
      const { text: left, calls } = takeDirectives(text, may);
      if (calls.length === 0) expect(left).toBe(text);
      const words = (said: string) => said.split(/\s+/).filter(Boolean);
      const rest = words(left);
      let at = 0;
      for (const word of words(text)) if (rest[at] === word) at += 1;
      expect(at).toBe(rest.length);
    },
  );

  property([talk])("what is shown is a list of parts of the text, in order", (text) => {
    let last = 0;
    for (const { from, to } of shownSpans(text)) {
      expect(from).toBeGreaterThanOrEqual(last);
      expect(to).toBeGreaterThan(from);
      last = to;
    }
    expect(last).toBeLessThanOrEqual(text.length);
  });
});

describe("a megabyte", () => {
  const hostile: readonly [string, string][] = [
    ["spaces behind a directive", "/think "],
    ["directives", "/think high "],
    ["directives of several words", "/exec security=full ask=off "],
    ["half directives", "/queue collect cap: "],
    ["backticks", "`"],
    ["runs of backticks", "` `` ``` ```` "],
    ["quotation marks", '"'],
    ["marks that open", "„ « “ "],
    ["quotes", "> "],
    ["fences", "```\n"],
    ["fences with a tail", "```` x `"],
    ["spaces", " "],
    ["slashes", "/"],
    ["line ends", "\n"],
  ];
  const units = 1_000_000;
  /** ms of this process's own work: what else the machine does meanwhile is not counted. */
  const timed = (text: string) => {
    const begun = process.cpuUsage();
    takeDirectives(text, () => true);
    const { user, system } = process.cpuUsage(begun);
    return (user + system) / 1_000;
  };

  test.each(hostile)("of %s is read in a time that grows with its length only", (_, unit) => {
    const text = (length: number) =>
      `/v ${unit.repeat(Math.ceil(length / unit.length))} /think high`;
    timed(text(units / 32));
    const once = Math.min(...[0, 1].map(() => timed(text(units / 32))));
    // 32 times the text in 32 times the time, with room for noise; squared it is 1,024.
    const most = Math.max(once, 1) * 300;
    const often = timed(text(units));
    expect(often < most ? often : timed(text(units))).toBeLessThan(most);
  });
});
