/**
 * The agent's text
 * ================
 * Models write Markdown. The page shows the small part of it that chat needs (paragraphs, lists,
 * bold, code) as elements, never as HTML: anything else stays text. Links stay text as well, so
 * that a manipulated model cannot lead anyone anywhere.
 */
import type { ComponentChildren } from "preact";
import { CopyButton } from "./copy-button.tsx";

type Block =
  | { readonly kind: "code"; readonly text: string }
  | { readonly kind: "list"; readonly ordered: boolean; readonly items: readonly string[] }
  | { readonly kind: "text"; readonly text: string };

const fence = /^ {0,3}(`{3,}|~{3,})/;
const bullet = /^\s{0,3}[-*+] +(?=\S)/;
const numbered = /^\s{0,3}\d{1,3}[.)] +(?=\S)/;

/** Cuts a text into blocks, line by line; an open fence runs to the end. */
export function blocksOf(text: string): readonly Block[] {
  const blocks: Block[] = [];
  const lines = text.split("\n");
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? "";
    const opened = fence.exec(line)?.[1];
    if (opened !== undefined) {
      const close = lines.findIndex((other, n) => n > at && other.trim() === opened);
      const to = close < 0 ? lines.length : close;
      blocks.push({ kind: "code", text: lines.slice(at + 1, to).join("\n") });
      at = to + 1;
      continue;
    }
    const mark = bullet.test(line) ? bullet : numbered.test(line) ? numbered : null;
    let to = at + 1;
    if (mark !== null) {
      while (to < lines.length && mark.test(lines[to] ?? "")) to += 1;
      const items = lines.slice(at, to).map((item) => item.replace(mark, ""));
      blocks.push({ kind: "list", ordered: mark === numbered, items });
    } else if (line.trim() !== "") {
      while (to < lines.length && isPlain(lines[to] ?? "")) to += 1;
      blocks.push({ kind: "text", text: lines.slice(at, to).join("\n") });
    }
    at = to;
  }
  return blocks;
}

const isPlain = (line: string): boolean =>
  line.trim() !== "" && !fence.test(line) && !bullet.test(line) && !numbered.test(line);

/** Bold and code inside a line; unclosed marks stay as they are. */
function inline(text: string): ComponentChildren[] {
  return text.split(/(`[^`\n]+`|\*\*[^*\n]+\*\*)/).map((piece, index) => {
    if (index % 2 === 0) return piece;
    if (piece.startsWith("`")) return <code>{piece.slice(1, -1)}</code>;
    return <b>{piece.slice(2, -2)}</b>;
  });
}

/** A text of the agent; `tail` goes behind its last letter (the writing caret). */
export function Prose({
  text,
  tail = null,
  copies = false,
}: {
  readonly text: string;
  readonly tail?: ComponentChildren;
  /** A code block has a button that copies it. */
  readonly copies?: boolean;
}) {
  const blocks = blocksOf(text);
  return (
    <bdi class="prose">
      {blocks.map((block, index) => (
        <BlockView
          key={index}
          block={block}
          tail={index === blocks.length - 1 ? tail : null}
          copies={copies}
        />
      ))}
      {blocks.length === 0 && tail}
    </bdi>
  );
}

interface BlockProps {
  readonly block: Block;
  readonly tail: ComponentChildren;
  readonly copies: boolean;
}

function BlockView({ block, tail, copies }: BlockProps) {
  if (block.kind === "code") {
    const code = (
      // biome-ignore lint/a11y/noNoninteractiveTabindex: code that scrolls sideways must be reachable
      <pre tabIndex={0}>
        <code>{block.text}</code>
        {tail}
      </pre>
    );
    if (!copies) return code;
    return (
      <div class="code-block">
        {code}
        <CopyButton text={block.text} what="the code" />
      </div>
    );
  }
  if (block.kind === "text")
    return (
      <p>
        {inline(block.text)}
        {tail}
      </p>
    );
  const items = block.items.map((item, index) => (
    <li key={index}>
      {inline(item)}
      {index === block.items.length - 1 && tail}
    </li>
  ));
  return block.ordered ? <ol>{items}</ol> : <ul>{items}</ul>;
}
