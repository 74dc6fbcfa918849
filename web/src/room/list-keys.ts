/**
 * Page Up and Down, Home and End among the lines of a transcript, unless the focused element uses
 * them.
 */
import { useEffect, useRef } from "preact/hooks";
import { isLine, type LineRow, type Row } from "./transcript.ts";
import type { ShownList } from "./use-virtual-list.ts";

interface PageKeys {
  readonly rows: readonly Row[];
  readonly selected: string | null;
  readonly list: ShownList;
  readonly onSelect: (key: string) => void;
}

const names: readonly string[] = ["Home", "End", "PageUp", "PageDown"];

export function usePageKeys(keys: PageKeys): void {
  const newest = useRef(keys);
  newest.current = keys;
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const { key, target, ctrlKey, metaKey, altKey, shiftKey } = event;
      if (!names.includes(key) || ctrlKey || metaKey || altKey || shiftKey) return;
      const { list } = newest.current;
      const isOurs = target === document.body || list.box.current?.contains(target as Node);
      if (isOurs !== true || document.querySelector("dialog[open]") !== null) return;
      event.preventDefault();
      go(key, newest.current);
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
}

function go(key: string, { rows, selected, list, onSelect }: PageKeys): void {
  const first = rows.find(isLine);
  const last = rows.findLast(isLine);
  const from = selected ?? last?.key ?? "";
  const by = key === "PageUp" ? -1 : 1;
  const paged = () => lineAt(rows, list.pageFrom(from, by), by);
  const to = key === "Home" ? first : key === "End" ? last : (paged() ?? (by < 0 ? first : last));
  if (to === undefined) return;
  onSelect(to.key);
  list.reveal(to.key, "nearest", true);
  if (key === "End") list.toEnd();
}

/** The line at this row, or the next one on the way. */
function lineAt(rows: readonly Row[], key: string | null, by: 1 | -1): LineRow | undefined {
  const index = rows.findIndex((row) => row.key === key);
  if (index < 0) return undefined;
  return by < 0 ? rows.slice(0, index + 1).findLast(isLine) : rows.slice(index).find(isLine);
}
