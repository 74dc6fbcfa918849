/** The table of capabilities says what the definitions say, each thing in one way. */
import { describe, expect, test } from "vitest";
import {
  capabilityColumns,
  no,
  textLimitText,
  yes,
} from "../../../src/domain/config/docs/capability-table.ts";
import type { ChannelCapabilities } from "../../../src/domain/ports/index.ts";

const none: ChannelCapabilities = {
  edits: false,
  deletes: false,
  reactions: false,
  typing: false,
  threads: false,
  membership: false,
  history: false,
  media: false,
  mentions: "unknown",
  replyAuthor: false,
  botFlag: false,
};
const cellsOf = (capabilities: ChannelCapabilities): readonly string[] =>
  capabilityColumns.map(({ cell }) => cell({ capabilities, textLimit: 1 }));

describe("a capability", () => {
  test.each(Object.keys(none))("%s changes one cell of its row, and no other", (key) => {
    const before = cellsOf(none);
    const after = cellsOf({ ...none, [key]: key === "mentions" ? "structured" : true });
    const changed = after.filter((cell, index) => cell !== before[index]);
    expect(changed).toEqual([key === "mentions" ? "by id" : yes]);
    expect(before.filter((cell) => cell === no)).toHaveLength(Object.keys(none).length - 1);
  });
});

test("a limit has the platform's unit", () => {
  const limit = (textUnit?: "codepoints" | "bytes") =>
    textLimitText({ capabilities: none, textLimit: 4_096, ...(textUnit && { textUnit }) });
  expect(limit()).toBe("4,096 UTF-16 units");
  expect(limit("codepoints")).toBe("4,096 code points");
  expect(limit("bytes")).toBe("4,096 bytes");
});
