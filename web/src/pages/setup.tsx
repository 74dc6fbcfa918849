/**
 * Setup
 * =====
 * From nothing to an agent in a group: who it is, what answers, where it listens. Each part is tried
 * before it is written, and what is written is shown first.
 */
import { useEffect, useState } from "preact/hooks";
import type { SetupState } from "../../../src/daemon/api-types/setup.ts";
import { askAgain } from "../lib/api.ts";
import type { PageProps } from "../lib/page-props.ts";
import { ChannelStep } from "../setup/channel-step.tsx";
import { ChannelTable } from "../setup/channel-table.tsx";
import { answersOf, type Form, formOf, offeredOf } from "../setup/form.ts";
import { ModelStep } from "../setup/model-step.tsx";
import { Line, Step } from "../setup/parts.tsx";
import { GroupStep, WriteStep } from "../setup/write-step.tsx";
import "../styles/health.css";
import "../styles/setup.css";

export function SetupPage({ token, onLink }: PageProps) {
  const [state, setState] = useState<SetupState | null>(null);
  const [form, setForm] = useState<Form | null>(null);
  const [channel, setChannel] = useState<string | null>(null);
  const [reads, setReads] = useState(0);
  // Read again after each write.
  useEffect(() => {
    const gone = new AbortController();
    const asking = { token, signal: gone.signal };
    void askAgain("/api/setup", asking, () => onLink({ state: "connecting" })).then((found) => {
      if (found === null) {
        if (!gone.signal.aborted) onLink({ state: "refused", message: "badToken" });
        return;
      }
      onLink({ state: "live" });
      const next = found.answer as SetupState;
      setState(next);
      setForm((before) => before ?? formOf(next));
    });
    return () => gone.abort();
  }, [token, reads]);
  const change = (part: Partial<Form>) =>
    setForm((before) => (before === null ? null : { ...before, ...part }));
  return (
    <main id="main" class="page setup" tabIndex={-1}>
      <div class="head">
        <h1>Setup</h1>
        <span class="sub">Agent, model and group. Everything is tried before it is saved.</span>
      </div>
      {state !== null && form !== null && (
        <div class="setup-list">
          <Step number={1} title="Your agent" about="In a group it answers to its name.">
            <Line label="Name" value={form.name} onChange={(name) => change({ name })} />
            <Line
              label="Purpose (optional)"
              value={form.purpose}
              placeholder="You keep the reading list of this group."
              hint="Part of the system message of every turn."
              onChange={(purpose) => change({ purpose })}
            />
            <Line
              label="Other names (optional)"
              value={form.aliases}
              placeholder="scouty, librarian"
              hint="Separate them with commas."
              onChange={(aliases) => change({ aliases })}
            />
          </Step>
          <ModelStep form={form} state={state} token={token} onChange={change} />
          <ChannelStep
            form={form}
            channels={state.channels}
            chosen={channel}
            token={token}
            onChoose={(id) => {
              setChannel(id);
              const next = state.channels.find((one) => one.id === id);
              change({ fields: next === undefined ? {} : offeredOf(next) });
            }}
            onChange={change}
          />
          <WriteStep
            answers={answersOf(
              form,
              state.channels.find(({ id }) => id === channel),
            )}
            token={token}
            onWritten={() => {
              change({ key: "", fields: {} });
              setReads((count) => count + 1);
            }}
          />
          <GroupStep token={token} />
          <ChannelTable token={token} />
        </div>
      )}
    </main>
  );
}
