/** What answers: a model of a server, a program, or an ACP agent; tried before it is written. */
import { useRef, useState } from "preact/hooks";
import type { SetupModels, SetupState, TryLine } from "../../../src/daemon/api-types/setup.ts";
import { ask, askLines } from "../lib/api.ts";
import {
  agentOf,
  driverOf,
  type Form,
  isModel,
  type Kind,
  kinds,
  messageOf,
  serverOf,
} from "./form.ts";
import { Line, type Outcome, OutcomeLine, Step } from "./parts.tsx";

interface ModelStepProps {
  readonly form: Form;
  readonly state: SetupState;
  readonly token: string;
  readonly onChange: (change: Partial<Form>) => void;
}

export function ModelStep({ form, state, token, onChange }: ModelStepProps) {
  const { models, listed, list } = useModels(form, token);
  const { kind } = form;
  const hasKey = state.driver.hasKey && state.driver.provider === kind;
  return (
    <Step
      number={2}
      title="Model"
      about="A server with an OpenAI-compatible API (Ollama, llama.cpp, vLLM, OpenRouter), a provider, or your own program."
    >
      <fieldset class="setup-kinds">
        <legend class="sr">Kind</legend>
        {(Object.keys(kinds) as Kind[])
          .filter((one) => one !== "keep" || formIsKept(state))
          .map((one) => (
            <label key={one}>
              <input
                type="radio"
                name="kind"
                checked={kind === one}
                onChange={() => onChange({ kind: one, key: "" })}
              />
              {one === "keep" ? `Unchanged (${state.driver.kind})` : kinds[one]}
            </label>
          ))}
      </fieldset>
      {kind === "openai-compatible" && (
        <Line
          label="Base URL"
          value={form.baseUrl}
          hint="The part before /chat/completions, often ending in /v1."
          onChange={(baseUrl) => onChange({ baseUrl })}
        />
      )}
      {isModel(kind) && (
        <>
          <Line
            label={kind === "openai-compatible" ? "API key (if the server needs one)" : "API key"}
            value={form.key}
            isSecret
            placeholder={hasKey ? "Stored. Leave empty to keep it" : ""}
            hint="Stored in a file that only you can read. The config refers to it by name."
            onChange={(key) => onChange({ key })}
          />
          <div class="setup-acts">
            <button type="button" class="btn" onClick={list}>
              List models
            </button>
            <OutcomeLine outcome={listed} />
          </div>
          <Line
            label="Model name"
            value={form.model}
            options={models}
            placeholder={models[0] ?? "llama3.2"}
            onChange={(model) => onChange({ model })}
          />
        </>
      )}
      {(kind === "command" || kind === "acp") && (
        <Line
          label="Program and arguments"
          value={form.command}
          placeholder={kind === "acp" ? "claude-code-acp" : "python3 scout.py"}
          hint="A program on the PATH, or a path relative to the config file."
          onChange={(command) => onChange({ command })}
        />
      )}
      {kind !== "keep" && <Trial form={form} token={token} />}
    </Step>
  );
}

/** A driver that this page has no fields for, such as the guide or a module. */
const formIsKept = ({ driver }: SetupState): boolean =>
  !["model", "command", "acp"].includes(driver.kind);

function useModels(form: Form, token: string) {
  const [models, setModels] = useState<readonly string[]>([]);
  const [listed, setListed] = useState<Outcome | null>(null);
  async function read(): Promise<void> {
    setListed({ state: "wait", text: "Asking …" });
    try {
      const answer = await ask("/api/setup/models", { token, body: serverOf(form) });
      const found = (answer as SetupModels).models;
      setModels(found ?? []);
      setListed(outcomeOf(found));
    } catch (error) {
      setListed({ state: "bad", text: messageOf(error) });
    }
  }
  return { models, listed, list: () => void read() };
}

function outcomeOf(found: SetupModels["models"]): Outcome {
  if (found === null)
    return { state: "warn", text: "The server responds, but lists no models. Check the base URL." };
  if (found.length === 0) return { state: "warn", text: "The server has no models yet." };
  const names = found.slice(0, 4).join(", ");
  const more = found.length > 4 ? ` and ${found.length - 4} more` : "";
  return { state: "ok", text: `${names}${more}` };
}

/** The first words of the agent, as they come. */
function Trial({ form, token }: { readonly form: Form; readonly token: string }) {
  const [said, setSaid] = useState("");
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const stop = useRef(new AbortController());
  async function run(): Promise<void> {
    stop.current.abort();
    stop.current = new AbortController();
    const { signal } = stop.current;
    setSaid("");
    setOutcome({ state: "wait", text: "Waiting for an answer…" });
    const body = {
      agent: agentOf(form),
      driver: driverOf(form),
      ...(isModel(form.kind) && form.key.trim() !== "" && { key: form.key.trim() }),
    };
    let problem: string | null = null;
    let text = "";
    try {
      await askLines("/api/setup/try", { token, body, signal }, (line) => {
        const step = line as TryLine;
        text += step.text ?? "";
        setSaid(text);
        problem = step.problem ?? problem;
      });
      if (problem !== null) setOutcome({ state: "bad", text: problem });
      else if (text === "") setOutcome({ state: "warn", text: "It returned an empty answer." });
      else setOutcome({ state: "ok", text: "It works." });
    } catch (error) {
      if (!signal.aborted) setOutcome({ state: "bad", text: messageOf(error) });
    }
  }
  return (
    <>
      <div class="setup-acts">
        <button type="button" class="btn" onClick={() => void run()}>
          Try it
        </button>
        <OutcomeLine outcome={outcome} />
      </div>
      {said !== "" && (
        <blockquote class="setup-said">
          <bdi>{said}</bdi>
        </blockquote>
      )}
    </>
  );
}
