/** What `earshot chat` prints of a session that is shared with other channels. */
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { ChatScreen } from "../../../../src/daemon/cli/chat/screen.ts";

function screen() {
  const out = new PassThrough();
  const lines = createInterface({ input: new PassThrough(), output: new PassThrough() });
  const chat = new ChatScreen(lines, out as unknown as NodeJS.WriteStream, false);
  chat.show({ type: "ready", agent: { id: "main", name: "Scout" }, n: 0 });
  return { chat, printed: () => String(out.read() ?? "") };
}

test("words from another channel carry its name and their author's; a page's are yours", () => {
  const { chat, printed } = screen();
  const at = 0;
  chat.show({ type: "taken", id: "x", n: 1, at, text: "hello", via: "telegram", by: "Ann" });
  chat.show({
    type: "said",
    n: 2,
    id: "t:0",
    text: "hi Ann",
    replyTo: null,
    at,
    turnId: "t",
    via: "telegram",
  });
  chat.show({ type: "taken", id: "y", n: 3, at, text: "and I" });
  expect(printed()).toBe("Ann (telegram): hello\nScout (telegram): hi Ann\nyou: and I\n");
});

test("files stand behind the words, or instead of them, by kind and name", () => {
  const { chat, printed } = screen();
  const files = [{ kind: "image", name: "hat\u001b[2J.png" }, { kind: "file" }] as const;
  chat.show({ type: "taken", id: "x", n: 1, at: 0, text: "look", attachments: [...files] });
  chat.show({ type: "taken", id: "y", n: 2, at: 0, text: "", attachments: [files[1]] });
  expect(printed()).toBe("you: look\n[picture hat[2J.png] [file]\nyou: [file]\n");
});

test("a name from a room is one line without tricks", () => {
  const { chat, printed } = screen();
  const by = "An\u001b[31mn\nyou";
  chat.show({ type: "taken", id: "x", n: 1, at: 0, text: "hi", via: "telegram", by });
  const [first, ...rest] = printed().split("\n");
  expect(first).not.toContain("\u001b");
  expect(first).toMatch(/\(telegram\): hi$/u);
  expect(rest).toEqual([""]);
});
