/** Copies a text to the clipboard, and says whether it did. */
import { useEffect, useState } from "preact/hooks";

interface CopyButtonProps {
  readonly text: string;
  /** What is copied, for those who hear the button only. */
  readonly what: string;
}

const saidMs = 2_000;

export function CopyButton({ text, what }: CopyButtonProps) {
  const [said, setSaid] = useState<"Copied" | "Not copied" | null>(null);
  useEffect(() => {
    if (said === null) return;
    const timer = setTimeout(() => setSaid(null), saidMs);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async () => {
    try {
      // Missing where the page did not come from this machine or over TLS.
      await navigator.clipboard.writeText(text);
      setSaid("Copied");
    } catch {
      setSaid("Not copied");
    }
  };
  return (
    <button
      type="button"
      class="btn quiet small copy"
      aria-label={said ?? `Copy ${what}`}
      onClick={() => void copy()}
    >
      {said ?? "Copy"}
    </button>
  );
}
