/**
 * What the agent was given to answer a message, fetched when it is opened. The daemon keeps that of
 * its newest turns only.
 */
import { useEffect, useState } from "preact/hooks";
import type { SentPrompt } from "../../../src/daemon/api-types/runtime.ts";
import { ApiError, ask } from "../lib/api.ts";
import { shownText } from "../lib/sanitize.ts";

interface AgentInputProps {
  readonly messageId: string;
  readonly turnId: string;
  readonly token: string;
}

export function AgentInput({ messageId, turnId, token }: AgentInputProps) {
  const [open, setOpen] = useState(false);
  return (
    <details class="read" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Prompt</summary>
      {open && <Input messageId={messageId} turnId={turnId} token={token} />}
    </details>
  );
}

function Input({ messageId, turnId, token }: AgentInputProps) {
  const [found, setFound] = useState<SentPrompt | string | null>(null);
  useEffect(() => {
    let wanted = true;
    ask(`/api/prompts/${encodeURIComponent(messageId)}`, { token }).then(
      (answer) => {
        const { prompts } = answer as { prompts: readonly SentPrompt[] };
        const last = prompts.findLast((sent) => sent.turnId === turnId) ?? prompts.at(-1);
        if (wanted) setFound(last ?? "Empty.");
      },
      (error: unknown) => {
        const why = error instanceof ApiError ? error.message : "Cannot reach earshot.";
        if (wanted) setFound(why);
      },
    );
    return () => {
      wanted = false;
    };
  }, [messageId, turnId, token]);
  if (found === null) return <p class="small muted">Loading…</p>;
  if (typeof found === "string") return <p class="small muted">{found}</p>;
  const parts = [
    ["System message", found.system],
    ...found.transcript.map(({ role, text }) => [`Transcript: ${role}`, text] as const),
    ["User turn", found.prompt],
  ] as const;
  return (
    <>
      {parts.map(([title, text], index) => (
        <section key={index}>
          <h3>{title}</h3>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by key. */}
          <pre tabIndex={0}>{shownText(text)}</pre>
        </section>
      ))}
    </>
  );
}
