/** Entries of maps and lists of the file: accounts, agents, groups. One is added or taken out by a diff. */
import { useEffect, useState } from "preact/hooks";
import type { SettingContainer } from "../../../src/daemon/api-types/settings.ts";
import type { SetupPlanAnswer, SetupWritten } from "../../../src/daemon/api-types/setup.ts";
import { ApiError, ask } from "../lib/api.ts";
import { Diff } from "../setup/diff.tsx";
import { Choice, Line, type Outcome, OutcomeLine } from "../setup/parts.tsx";

interface EntriesProps {
  readonly containers: readonly SettingContainer[];
  readonly token: string;
  readonly onWritten: () => void;
}

interface Change {
  readonly path: string;
  readonly value: string | null;
  readonly add?: string;
}

export function Entries({ containers, token, onWritten }: EntriesProps) {
  const [path, setPath] = useState("agents.list");
  const [name, setName] = useState("");
  const [value, setValue] = useState("{}");
  const [shown, setShown] = useState<{ change: Change; plan: SetupPlanAnswer } | null>(null);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  useEffect(() => setShown(null), [path, name, value]);
  const container = containers.find((one) => one.path === path);
  const attempt = (work: () => Promise<void>) => () => {
    setOutcome(null);
    work().catch((error: unknown) =>
      setOutcome({
        state: "bad",
        text: error instanceof ApiError ? error.message : "Cannot reach earshot.",
      }),
    );
  };
  const show = (change: Change) =>
    attempt(async () => {
      const plan = (await ask("/api/config/plan", { token, body: change })) as SetupPlanAnswer;
      setShown({ change, plan });
    });
  const write = attempt(async () => {
    if (shown === null) return;
    const body = { ...shown.change, token: shown.plan.token };
    const { applied } = (await ask("/api/config/write", { token, body })) as SetupWritten;
    setShown(null);
    setOutcome(
      applied
        ? { state: "ok", text: "Saved and applied." }
        : { state: "warn", text: "Saved, but not applied yet. See Health." },
    );
    onWritten();
  });
  if (container === undefined) return null;
  const addition = { path, value, add: container.kind === "map" ? name.trim() : "" };
  return (
    <section class="panel" aria-labelledby="entries-title">
      <header>
        <h2 id="entries-title">Add or remove an entry</h2>
      </header>
      <div class="setup-body">
        <Choice
          label="Section"
          value={path}
          options={containers.map((one) => one.path)}
          none=""
          onChange={setPath}
        />
        {container.entries.map((entry) => (
          <div key={entry} class="setup-acts">
            <code class="mono">{entry}</code>
            <button
              type="button"
              class="btn quiet small"
              aria-label={`Remove ${entry}`}
              onClick={show({ path: entry, value: null })}
            >
              Remove
            </button>
          </div>
        ))}
        {container.kind === "map" && <Line label="Name" value={name} onChange={setName} />}
        <Line
          label="Value"
          value={value}
          hint="JSON5, such as { enabled: true }."
          onChange={setValue}
        />
        {shown !== null && <Diff lines={shown.plan.lines} />}
        <div class="setup-acts">
          {shown === null ? (
            <button type="button" class="btn" onClick={show(addition)}>
              Review change
            </button>
          ) : (
            <button type="button" class="btn primary" onClick={write}>
              Save
            </button>
          )}
          <OutcomeLine outcome={outcome} />
        </div>
      </div>
    </section>
  );
}
