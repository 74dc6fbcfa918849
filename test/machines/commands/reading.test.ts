/** What a message orders, word for word: bounds, names, and what is beside a command. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { inboundSchema } from "../../../src/domain/message.ts";
import { isAbortWord, saysStop } from "../../../src/machines/commands/abort-words.ts";
import { takeDirectives } from "../../../src/machines/commands/directives.ts";
import type { ExtraCommand } from "../../../src/machines/commands/extension-commands.ts";
import {
  editedText,
  isWholeCommand,
  noOrders,
  readOrders,
} from "../../../src/machines/commands/parse-command.ts";
import { afterResetTrigger } from "../../../src/machines/commands/reset-words.ts";

const owner = { commandAuthorized: true, owner: true };
const member = { commandAuthorized: true, owner: false };
const us = { mentions: [{ id: "us", isSelf: true }] };
const both = { mentions: [{ id: "us", isSelf: true }, { id: "other" }] };
const file = { attachments: [{ id: "a", kind: "image" }] };

const inbound = (text: string, more: object = {}) =>
  inboundSchema.parse({
    channel: "telegram",
    chat: { id: "ann", kind: "direct" },
    id: "m1",
    author: { id: "ann" },
    text,
    ...more,
  });
const rules = { authority: owner, resetTriggers: ["/new", "fresh"], stopWords: ["stop"] };
const read = (text: string, more: object = {}, changed: Partial<typeof rules> = {}) =>
  readOrders(inbound(text, more), { ...rules, ...changed });
const all = (calls: readonly { command: string; args: readonly string[] }[]) =>
  calls.map(({ command, args }) => [command, ...args].join(" "));

describe("the order to stop", () => {
  const stops = (text: string, more: object = {}, words = ["stop"]) =>
    isAbortWord(inbound(text, more), words);

  test("names this bot or none, and has nothing attached", () => {
    expect(stops("/stop@us", us)).toBe(true);
    expect(stops(" /ABORT@us ", both)).toBe(true);
    expect(stops("/stop@other", { mentions: [{ id: "other" }] })).toBe(false);
    expect(stops("/stop@us")).toBe(false);
    expect(stops("/status@us", us)).toBe(false);
    expect(stops("/stop", file)).toBe(false);
    expect(stops("stop", file)).toBe(false);
  });

  test("is short", () => {
    expect(stops(`/stop@${"x".repeat(122)}`, us)).toBe(true);
    expect(stops(`/stop@${"x".repeat(123)}`, us)).toBe(false);
    expect(saysStop(`stop${"!".repeat(124)}`, ["stop"])).toBe(true);
    expect(saysStop(`stop${"!".repeat(125)}`, ["stop"])).toBe(false);
    expect(stops(`${" ".repeat(200)}/stop`)).toBe(true);
  });

  test("may be a word with an @, and is never nothing but marks", () => {
    expect(stops("halt@once", {}, ["halt@once"])).toBe(true);
    expect(stops("halt@once/", {}, ["halt@once/"])).toBe(true);
    expect(saysStop("?!", ["!"])).toBe(false);
    expect(saysStop("please!", ["!"])).toBe(false);
  });

  // A mark that is no ASCII in front of a text changes nothing but the way it is read.
  test("is the same for a text that begins with a word of ASCII, whatever follows it", () => {
    const words = ["stop", "arrête", "détente", "half-way", "so lange", "'s gut", "停止"];
    const part = fc.constantFrom(
      ...words,
      ...[
        "Stop",
        "please",
        "bitte",
        "s'il te plaît",
        "ＳＴＯＰ",
        "stop\u0301",
        "half",
        "so",
        "tune",
      ],
      ...[" ", ".", "...", "'", "!", "-", "é", "\u0301", "👍", "\u00a0", "\n", "@us", "请"],
    );
    const texts = fc.array(part, { maxLength: 6 }).map((parts) => parts.join(""));
    let stopped = 0;
    fc.assert(
      fc.property(texts, (text) => {
        const says = saysStop(text, words);
        if (says) stopped += 1;
        expect(says).toBe(saysStop(`。${text}`, words));
      }),
      { numRuns: 2_000 },
    );
    expect(stopped).toBeGreaterThan(20);
  });
});

describe("a new session", () => {
  const leftOf = (text: string, triggers = ["/new", "fresh"], more: object = us) =>
    afterResetTrigger(inbound(text, more), triggers);

  test.each([
    ["/new", ""],
    ["  /NEW  hello ", "hello"],
    ["/new:hello", "hello"],
    ["/new: hello:", "hello:"],
    ["/new@us hello", "hello"],
    ["/new@us a@b", "a@b"],
    ["/new@us:", ""],
    ["fresh hello", "hello"],
  ])("%j leaves %j", (text, left) => expect(leftOf(text)).toBe(left));

  test.each([
    "/newer hello",
    "/new/hello",
    "/newa@",
    "fresh: a",
    "fresh@us a",
    "freshly",
    "hello /new",
  ])("%j begins none", (text) => expect(leftOf(text)).toBeNull());

  test("is begun by its own name only", () => {
    expect(leftOf("/new@other hello", ["/new"], { mentions: [{ id: "other" }] })).toBeNull();
    expect(leftOf("/new@us hello", ["/new"], both)).toBe("hello");
    expect(leftOf("a/:b", ["a/"])).toBeNull();
  });

  test("is begun beside a command, and what is behind its word is read as any message", () => {
    expect(read("/new")).toEqual({
      ...noOrders(""),
      calls: [{ command: "new", args: [] }],
      ended: true,
      resets: true,
    });
    expect(read("/new hello")).toEqual({ ...noOrders("hello"), resets: true });
    for (const known of [[], extras]) {
      const among = { ...rules, extras: known };
      expect(read("Fresh", {}, among)).toEqual(read("/new"));
      expect(read("fresh hello", {}, among)).toEqual(read("/new hello"));
      expect(read("hello fresh", {}, among)).toEqual(noOrders("hello fresh"));
    }
    expect(read("/new /status")).toMatchObject({ resets: true, ended: true });
    expect(read("/new a /status")).toMatchObject({ resets: true, ended: false, text: "a" });
    expect(read("/new", file)).toEqual({ ...noOrders(""), resets: true });
    const triggers = { resetTriggers: ["/help"] };
    expect(read("/help queue", {}, triggers)).toEqual({ ...noOrders("queue"), resets: true });
    const feed = { resetTriggers: ["/feed"], extras };
    expect(read("/feed x", {}, feed)).toEqual({ ...noOrders("x"), resets: true });
  });

  test("moves what the platform shows", () => {
    const text = "  /new see /think high or /think low ";
    const at = text.indexOf("/think high");
    expect(read(text, { verbatim: [[at, at + "/think high".length]] })).toMatchObject({
      text: "see /think high or",
      levels: { thinking: "low" },
    });
  });
});

const extras: readonly ExtraCommand[] = [
  ["pigeon:feed", "authorised", null] as const,
  ["pigeon:tame", "owner", null] as const,
  ["skill:review", "authorised", "main"] as const,
].map(([name, who, agentId]) => ({ name, who, agentId, usage: "", help: "", menu: true }));

describe("a command of a plugin or an agent", () => {
  const further = (text: string, more: object = {}, authority = owner) =>
    readOrders(inbound(text, more), { ...rules, authority, extras });

  test("has spaces around it, and a bounded text behind it where a plugin reads it", () => {
    expect(all(further(" /feed x ").calls)).toEqual(["pigeon:feed x"]);
    expect(further(`/feed ${"x".repeat(1_024)}`).ended).toBe(true);
    expect(further(`/feed ${"x".repeat(1_025)}`).ended).toBe(false);
    expect(further(`/review ${"x".repeat(1_025)}`).skill).toBe("skill:review");
  });

  test("is given by those who may, with nothing attached, and never in what is shown", () => {
    expect(further("/feed x", {}, member).ended).toBe(true);
    expect(further("/tame x", {}, member)).toEqual(noOrders("/tame x"));
    expect(further("/feed x", file)).toEqual(noOrders("/feed x"));
    expect(further("/feed@us x", both).ended).toBe(true);
    expect(further("/feed x", { verbatim: [[0, 5]] })).toEqual(noOrders("/feed x"));
  });
});

describe("a whole message", () => {
  test.each([
    ["/activation: always", ["activation always"]],
    ["/activation:always", ["activation always"]],
    ["/activation  \n always", ["activation always"]],
    ["  /help queue\n", ["help queue"]],
    ["/btw: a:b  c ", ["btw a:b  c"]],
    ["/btw a:b", ["btw a:b"]],
    ["/exec security=maybe", ["help exec"]],
    ["/queue sometimes", ["help queue"]],
    ["/verbose on \n /think low\n", ["think low", "verbose on"]],
  ])("%j orders %j", (text, calls) => {
    expect(read(text)).toStrictEqual({ ...noOrders(""), calls: read(text).calls, ended: true });
    expect(all(read(text).calls)).toEqual(calls);
  });

  test.each(["/stop now", "   ", "/new:x"])("%j is text", (text) => {
    expect(read(text, {}, { resetTriggers: [] })).toEqual(noOrders(text));
  });

  test("that only owners give is text of others, whatever its words", () => {
    for (const text of ["/config", "/config nonsense here", "/exec security=full"])
      expect(read(text, {}, { authority: member })).toEqual(noOrders(text));
    expect(read("/config nonsense here").calls).toEqual([{ command: "help", args: ["config"] }]);
    expect(read("/verbose full", {}, { authority: member }).ended).toBe(true);
    expect(read("/send allow", {}, { authority: member }).ended).toBe(true);
  });

  test("is short, but for one whose words are text", () => {
    const long = (start: string, units: number) => start + "x".repeat(units - start.length);
    const few = long("/activation ", 1_024);
    expect(read(few).calls).toEqual([{ command: "help", args: ["activation"] }]);
    expect(read(`${few}x`)).toEqual(noOrders(`${few}x`));
    expect(read(` ${few} `).ended).toBe(true);
    const words = long("/btw ", 8_005);
    expect(read(words).calls).toEqual([{ command: "btw", args: [words.slice(5)] }]);
    expect(read(`${words}x`).calls).toEqual([{ command: "help", args: ["btw"] }]);
    expect(read(long("/btw ", 9_024)).ended).toBe(true);
    expect(read(long("/btw ", 9_025)).ended).toBe(false);
  });

  test("names this bot or none", () => {
    expect(read("/status@us", both).ended).toBe(true);
    expect(read("/status@us: ", us).ended).toBe(true);
    expect(read("/status@us").ended).toBe(false);
  });

  test("is none where its beginning is shown", () => {
    for (const text of ["/help queue", "  /help queue", "stop", "/new", "/new hello"])
      expect(read(text, { verbatim: [[0, text.length]] })).toEqual(noOrders(text));
    expect(read("/help queue", { verbatim: [[1, 5]] }).ended).toBe(true);
    expect(read("  /help queue", { verbatim: [[0, 2]] }).ended).toBe(true);
    expect(read("  /help queue", { verbatim: [[0, 3]] }).ended).toBe(false);
    expect(read("  /help queue", { verbatim: [[2, 3]] }).ended).toBe(false);
  });

  test.each([
    ["/status", true],
    [" /STATUS: ", true],
    ["/help  queue", true],
    ["/help:queue", true],
    ["/activation maybe", false],
    ["/new", false],
    ["/btw hello", false],
    ["/status@us", false],
    ["/unknown", false],
    ["hello", false],
    ["", false],
  ])("as a line, %j is one: %j", (line, is) => expect(isWholeCommand(line)).toBe(is));

  test("as a line, it is short", () => {
    const line = (units: number) =>
      `/config set a ${"x ".repeat(60)}`.padEnd(units - 1, " ").concat("y");
    expect(isWholeCommand(line(1_024))).toBe(true);
    expect(isWholeCommand(line(1_025))).toBe(false);
  });
});

describe("directives", () => {
  test.each([
    ["hello /model there", "hello there", [], {}],
    ["/think high low", "low", [], { thinking: "high" }],
    ["/think a=b", "a=b", [], {}],
    ["/think maybe", "maybe", [], {}],
    ["/think:nonsense x", "nonsense x", [], {}],
    ["/think : x", "x", [], {}],
    ["/think high host=box x", "host=box x", [], { thinking: "high" }],
    ["/exec what now", "what now", [], {}],
    ["/exec security=full host=box x", "security=full host=box x", [], {}],
    ["/queue no way", "no way", [], {}],
    ["/status high", "high", [], {}],
    ["a /think high /verbose on b", "a b", [], { thinking: "high", verbose: "on" }],
    ["/think high  /verbose on  b", "b", [], { thinking: "high", verbose: "on" }],
    ["a\n  /think high b", "a\nb", [], { thinking: "high" }],
    [
      "/queue steer cap:3 drop:old debounce:1s collect x",
      "collect x",
      ["queue steer cap:3 drop:old debounce:1000"],
      {},
    ],
    ["`/think low` /verbose on x", "`/think low` x", [], { verbose: "on" }],
    [
      "/verbose on `/think low` /elev ask x",
      "`/think low` x",
      [],
      { verbose: "on", elevated: "ask" },
    ],
  ])("%j leave %j", (text, left, quiet, levels) => {
    const orders = read(text);
    expect(orders.text).toBe(left);
    expect(all(orders.quiet)).toEqual(quiet);
    expect(orders.levels).toStrictEqual(levels);
  });

  test("are not read in what else is shown, in whatever order that is named", () => {
    const text = "/think low `x` /verbose on y /elev ask";
    const span = (words: string) => ({
      from: text.indexOf(words),
      to: text.indexOf(words) + words.length,
    });
    const take = (...shown: string[]) =>
      all(takeDirectives(text, () => true, shown.map(span)).calls);
    expect(take()).toEqual(["think low", "verbose on", "elevated ask"]);
    expect(take("/think low")).toEqual(["verbose on", "elevated ask"]);
    expect(take("low `x` ")).toEqual(["think low", "verbose on", "elevated ask"]);
    expect(take("/elev ask", "/think low")).toEqual(["verbose on"]);
    expect(take("/verbose on y /elev", "/verbose", "/think")).toEqual([]);
    expect(take("`x` /verbose on", "x")).toEqual(["think low", "elevated ask"]);
  });

  test("that may not be given stay, and do not take the place of those that may", () => {
    const may = ({ args }: { args: readonly string[] }) => args[0] !== "max";
    expect(takeDirectives("/think max x /think low", may)).toEqual({
      calls: [{ command: "think", args: ["low"] }],
      text: "/think max x",
    });
  });

  test("of an edit begin no session", () => {
    expect(editedText("/new hello", rules)).toBe("hello");
    expect(editedText("/config show", { ...rules, authority: member })).toBe("/config show");
    expect(
      editedText("/new hello", { ...rules, authority: { ...owner, commandAuthorized: false } }),
    ).toBe("/new hello");
  });
});
