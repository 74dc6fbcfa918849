/** What of a text is only shown: exactly which parts, by example. */
import { describe, expect, test } from "vitest";
import { shownSpans } from "../../../src/machines/commands/quoted-spans.ts";

const shown = (text: string) => shownSpans(text).map(({ from, to }) => text.slice(from, to));

describe("lines", () => {
  test.each<[string, string[]]>([
    ["a\n> b\nc", ["> b"]],
    [" \t> b\n>c", [" \t> b", ">c"]],
    ["a > b", []],
    ["a\n```\nb\n```\nc `d`", ["```\nb\n```", "`d`"]],
    ["~~~ text\nb\n~~~\n~~~", ["~~~ text\nb\n~~~", "~~~"]],
    ["  ```\nb\n  ```  \nc", ["  ```\nb\n  ```  "]],
    ["```\nb\n`````\nc", ["```\nb\n`````"]],
    ["````\nb\n```\nc", ["````\nb\n```\nc"]],
    ["```\nb\n``` x\nc", ["```\nb\n``` x\nc"]],
    ["```\nb\n~~~\nc", ["```\nb\n~~~\nc"]],
    ["```\n\n> b\n```\nc", ["```\n\n> b\n```"]],
    ["``` a `\nb", []],
    ["~~~ a `b` ~\nc", ["~~~ a `b` ~\nc"]],
    ["``\nb", []],
  ])("of %j: %j", (text, parts) => expect(shown(text)).toEqual(parts));
});

describe("words", () => {
  test.each<[string, string[]]>([
    ["a `b` c", ["`b`"]],
    ["a`b`c", ["`b`"]],
    ["``a` b``` c`` `d`", ["``a` b``` c``", "`d`"]],
    ["`a", []],
    ["`a\nb`", ["`a\nb`"]],
    ["`a\n\nb`", []],
    ["`a\n \t\nb`", []],
    ["`a\n> q\nb`", ["> q"]],
    ["`a\n~~~\nb\n~~~\nc`", ["~~~\nb\n~~~"]],
    ["`a`\n\n\n> b\n> c", ["`a`", "> b", "> c"]],
    ["`a`\n> b\n> c\n~~~\n", ["`a`", "> b", "> c", "~~~\n"]],
    ['"a" b', ['"a"']],
    ['he said ("a")', ['"a"']],
    ['a"b" c"', []],
    ['a 5" b 6"', []],
    ['"" a', ['""']],
    ['"a" "b" c', ['"a"', '"b"']],
    ["“a” „b“ „c” «d» »e« ‹f›", ["“a”", "„b“", "„c”", "«d»", "»e«", "‹f›"]],
    ["„a“ b”", ["„a“"]],
    ["„a” b“", ["„a”"]],
    ['"a `b" c`', ['"a `b"']],
    ['`a "b` c"', ['`a "b`']],
    ['x `a "b` c" d', ['`a "b`']],
    ["“a", []],
  ])("of %j: %j", (text, parts) => expect(shown(text)).toEqual(parts));
});
