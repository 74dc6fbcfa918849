/** A channel to connect, made from what the channel says of itself. */
import { useState } from "preact/hooks";
import type { TriedChannel } from "../../../src/daemon/api-types/setup.ts";
import { ask } from "../lib/api.ts";
import { type Channel, channelOf, type Form, fieldsAsked, messageOf } from "./form.ts";
import { Choice, Line, type Outcome, OutcomeLine, Step } from "./parts.tsx";

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
      title="Channel"
      about="The web page, the terminal and HTTP are already on. Connect a platform, or skip this step."
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
          None for now
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
      const body = channelOf(form, channel) ?? { id: channel.id, fields: {} };
      const found = (await ask("/api/setup/channel", { token, body })) as TriedChannel;
      const who = found.name === found.id ? found.id : `${found.name} (${found.id})`;
      setOutcome({ state: "ok", text: `Connected as ${who}.` });
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
      {fieldsAsked(channel, form).map((field) => (
        <Entry
          key={field.name}
          field={field}
          value={form.fields[field.name] ?? ""}
          isConfigured={channel.isConfigured}
          onChange={(text) => onChange({ fields: { ...form.fields, [field.name]: text } })}
        />
      ))}
      <div class="setup-acts">
        <button type="button" class="btn" onClick={() => void run()}>
          Test connection
        </button>
        <OutcomeLine outcome={outcome} />
      </div>
      {notes.map((note) => (
        <OutcomeLine key={note} outcome={{ state: "warn", text: note }} />
      ))}
    </>
  );
}

interface EntryProps {
  readonly field: Channel["fields"][number];
  readonly value: string;
  readonly isConfigured: boolean;
  readonly onChange: (text: string) => void;
}

/** One question: a choice where the values are known, a line for anything else. */
function Entry({ field, value, isConfigured, onChange }: EntryProps) {
  const { isSecret, isOptional, hint, type, options = type === "flag" ? flags : null } = field;
  const label = isOptional ? `${field.label} (optional)` : field.label;
  if (options !== null)
    return (
      <Choice
        label={label}
        value={value}
        options={isConfigured || field.initial === undefined ? ["", ...options] : options}
        none={isConfigured ? "unchanged" : "not set"}
        onChange={onChange}
      />
    );
  const kept = isSecret ? "Stored. Leave empty to keep it" : "Leave empty to keep it";
  return (
    <Line
      label={label}
      value={value}
      isSecret={isSecret}
      placeholder={isConfigured ? kept : ""}
      {...(hint !== undefined && { hint })}
      onChange={onChange}
    />
  );
}

const flags = ["true", "false"];
