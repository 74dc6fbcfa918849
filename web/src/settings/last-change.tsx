/** The last change of the file by a page, which can be taken back, also after a reload. */
import { useState } from "preact/hooks";
import type { LastConfigChange } from "../../../src/daemon/api-types/settings.ts";
import { ApiError, ask } from "../lib/api.ts";
import { type Outcome, OutcomeLine } from "../setup/parts.tsx";

interface LastChangeProps {
  readonly last: LastConfigChange | null;
  readonly token: string;
  readonly onUndone: () => void;
}

export function LastChange({ last, token, onUndone }: LastChangeProps) {
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  async function undo(): Promise<void> {
    if (last === null) return;
    try {
      const body = { copy: last.copy, token: last.token };
      await ask("/api/config/undo", { token, body });
      setOutcome({ state: "ok", text: `Undone: ${last.what}.` });
      onUndone();
    } catch (error) {
      const text = error instanceof ApiError ? error.message : "Cannot reach earshot.";
      setOutcome({ state: "bad", text });
    }
  }
  if (last === null && outcome === null) return null;
  return (
    <section class="settings-last" aria-label="Last change">
      {last !== null && (
        <>
          <span>
            Last change, {new Date(last.at).toLocaleString()}: <bdi>{last.what}</bdi>
          </span>
          <button type="button" class="btn small" onClick={() => void undo()}>
            Undo
          </button>
        </>
      )}
      <OutcomeLine outcome={last === null ? outcome : null} />
    </section>
  );
}
