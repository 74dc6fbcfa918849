/** A channel to connect, made from what the channel says of itself. */
import { useState } from "preact/hooks";
import type { SetupState, TriedChannel } from "../../../src/daemon/api-types/setup.ts";
import { ask } from "../lib/api.ts";
import { channelOf, type Form, messageOf } from "./form.ts";
import { Line, type Outcome, OutcomeLine, Step } from "./parts.tsx";

type Channel = SetupState["channels"][number];

interface ChannelStepProps {
  readonly form: Form;
  readonly channels: readonly Channel[];
  readonly chosen: string | null;
  readonly token: string;
  readonly onChoose: (id: string | null) => void;
  readonly onChange: (change: Partial<Form>) => void;
}

export function ChannelStep(props: ChannelStepProps) {
  const { channels, chosen, onChoose } = props;
  const channel = channels.find(({ id }) => id === chosen);
  return (
    <Step
      number={3}
      title="Where it listens"
      about="This page, the terminal and HTTP are on already. Connect a platform, or skip this."
    >
      <fieldset class="setup-kinds">
        <legend class="sr">Channel</legend>
        <label>
          <input
            type="radio"
            name="channel"
            checked={chosen === null}
            onChange={() => onChoose(null)}
          />
          None now
        </label>
        {channels.map(({ id, name, isConfigured }) => (
          <label key={id}>
            <input
              type="radio"
              name="channel"
              checked={chosen === id}
              onChange={() => onChoose(id)}
            />
            {name}
            {isConfigured ? " (connected)" : ""}
          </label>
        ))}
      </fieldset>
      {channel !== undefined && <Connect key={channel.id} {...props} channel={channel} />}
    </Step>
  );
}

function Connect({ form, token, channel, onChange }: ChannelStepProps & { channel: Channel }) {
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const [notes, setNotes] = useState<readonly string[]>([]);
  async function run(): Promise<void> {
    setNotes([]);
    setOutcome({ state: "wait", text: "Asking …" });
    try {
      const body = channelOf(form, channel.id) ?? { id: channel.id, fields: {} };
      const found = (await ask("/api/setup/channel", { token, body })) as TriedChannel;
      setOutcome({ state: "ok", text: `The token is right: it is ${found.name} (${found.id}).` });
      setNotes(found.notes);
    } catch (error) {
      setOutcome({ state: "bad", text: messageOf(error) });
    }
  }
  return (
    <>
      <ol class="setup-steps">
        {channel.steps.map((step) => (
          <li key={step}>{step}</li>
        ))}
      </ol>
      {channel.fields.map(({ name, label, isSecret, isOptional }) => (
        <Line
          key={name}
          label={isOptional ? `${label} (optional)` : label}
          value={form.fields[name] ?? ""}
          isSecret={isSecret}
          placeholder={
            isSecret && channel.isConfigured ? "One is stored; leave empty to keep it" : ""
          }
          onChange={(text) => onChange({ fields: { ...form.fields, [name]: text } })}
        />
      ))}
      <div class="setup-acts">
        <button type="button" class="btn" onClick={() => void run()}>
          Test the connection
        </button>
        <OutcomeLine outcome={outcome} />
      </div>
      {notes.map((note) => (
        <OutcomeLine key={note} outcome={{ state: "warn", text: note }} />
      ))}
    </>
  );
}
