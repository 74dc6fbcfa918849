/**
 * Marks what is looked for in the messages of a transcript. The browser paints the ranges
 * (https://drafts.csswg.org/css-highlight-api-1/): the messages stay as they were rendered, and a
 * browser without it shows no marks.
 */
import { useEffect } from "preact/hooks";
import { matchText, parseQuery, type SearchTerm } from "../../../src/domain/search/query.ts";

/** Its name in the style sheet. */
const name = "found-text";
const messages = ".msg .text";

export function useFoundMarks(text: string): void {
  useEffect(() => {
    const terms = parseQuery(text).filter(({ not }) => !not);
    const main = document.getElementById("main");
    if (terms.length === 0 || main === null || CSS.highlights === undefined) return;
    let frame = 0;
    const paint = () => {
      frame = 0;
      const texts = [...main.querySelectorAll(messages)];
      CSS.highlights.set(name, new Highlight(...texts.flatMap((one) => rangesIn(one, terms))));
    };
    const later = () => {
      if (frame === 0) frame = requestAnimationFrame(paint);
    };
    paint();
    // Rows come and go while the transcript is scrolled.
    const changes = new MutationObserver(later);
    changes.observe(main, { childList: true, subtree: true, characterData: true });
    return () => {
      changes.disconnect();
      cancelAnimationFrame(frame);
      CSS.highlights.delete(name);
    };
  }, [text]);
}

/** The ranges of a message that fits; its text may be in several nodes. */
function rangesIn(element: Element, terms: readonly SearchTerm[]): Range[] {
  const found = matchText(element.textContent ?? "", terms) ?? [];
  if (found.length === 0) return [];
  const inside = document.createNodeIterator(element, NodeFilter.SHOW_TEXT);
  const nodes: { readonly node: Node; readonly from: number; readonly to: number }[] = [];
  let at = 0;
  for (let node = inside.nextNode(); node !== null; node = inside.nextNode()) {
    const to = at + (node.textContent ?? "").length;
    nodes.push({ node, from: at, to });
    at = to;
  }
  return found.flatMap(([from, to]) => {
    const start = nodes.find((one) => from < one.to);
    const end = nodes.find((one) => to <= one.to);
    if (start === undefined || end === undefined) return [];
    const range = new Range();
    range.setStart(start.node, from - start.from);
    range.setEnd(end.node, to - end.from);
    return [range];
  });
}
