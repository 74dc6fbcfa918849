/** One value: shown, or edited with a check while it is typed and a diff before it is written. */
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { SettingValue } from "../../../src/daemon/api-types/settings.ts";
import type { SetupPlanAnswer, SetupWritten } from "../../../src/daemon/api-types/setup.ts";
import { ApiError, ask, newestOnly } from "../lib/api.ts";
import { Diff } from "../setup/diff.tsx";
import { type Outcome, OutcomeLine } from "../setup/parts.tsx";

interface RowProps {
  readonly setting: SettingValue;
  readonly token: string;
  readonly onWritten: () => void;
}

const checkMs = 250;

export function Row({ setting, token, onWritten }: RowProps) {
  const { path, value, about, type, canEdit } = setting;
  const [isOpen, setOpen] = useState(false);
  const [done, setDone] = useState<SetupWritten | null>(null);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const took = (written: SetupWritten, text: string) => {
    setOpen(false);
    setDone(written);
    setOutcome(
      written.applied
        ? { state: "ok", text }
        : { state: "warn", text: "Saved, but not applied yet. See Health." },
    );
    onWritten();
  };
  async function undo(): Promise<void> {
    if (done === null) return;
    try {
      const body = { copy: done.copy, token: done.token };
      took((await ask("/api/config/undo", { token, body })) as SetupWritten, "Undone.");
      setDone(null);
    } catch (error) {
      setOutcome({ state: "bad", text: messageOf(error) });
    }
  }
  return (
    <li class="setting">
      <div class="setting-what">
        <h3>
          <bdi>{path}</bdi>
        </h3>
        <p>{about.replaceAll("`", "")}</p>
      </div>
      <code class="setting-value">
        <bdi>{JSON.stringify(value)}</bdi>
      </code>
      <span class={`setting-origin ${setting.origin}`}>{originText(setting)}</span>
      {(canEdit || setting.canRemove) && !isOpen ? (
        <button
          type="button"
          class="btn quiet small"
          aria-label={`Change ${path}`}
          onClick={() => {
            setOutcome(null);
            setOpen(true);
          }}
        >
          Change
        </button>
      ) : (
        <span />
      )}
      {isOpen && (
        <Edit
          setting={setting}
          type={type}
          token={token}
          onClose={() => setOpen(false)}
          onWritten={(written) => took(written, "Saved and applied.")}
        />
      )}
      {outcome !== null && (
        <div class="setting-edit">
          <OutcomeLine outcome={outcome} />
          {done !== null && (
            <button type="button" class="btn small" onClick={() => void undo()}>
              Undo
            </button>
          )}
        </div>
      )}
    </li>
  );
}

function originText({ origin, line, by }: SettingValue): string {
  if (origin === "file") return `line ${line ?? "?"}`;
  if (origin === "env") return `secret, named in line ${line ?? "?"}`;
  if (origin === "override") return `set in a chat by ${by ?? "?"}`;
  return "default";
}

interface EditProps {
  readonly setting: SettingValue;
  readonly type: string;
  readonly token: string;
  readonly onClose: () => void;
  readonly onWritten: (written: SetupWritten) => void;
}

function Edit({ setting, type, token, onClose, onWritten }: EditProps) {
  const { path } = setting;
  const id = useId();
  const [typed, setValue] = useState(JSON.stringify(setting.value));
  const [isOut, setOut] = useState(!setting.canEdit);
  const value = isOut ? null : typed;
  const [plan, setPlan] = useState<SetupPlanAnswer | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => box.current?.focus(), []);
  useEffect(() => {
    setPlan(null);
    const asking = newestOnly((body: object, signal) =>
      ask("/api/config/plan", { token, body, signal }),
    );
    const timer = setTimeout(() => {
      asking.ask({ path, value }).then(
        (found) => {
          if (found === null) return;
          setPlan(found as SetupPlanAnswer);
          setProblem(null);
        },
        (error: unknown) => setProblem(messageOf(error)),
      );
    }, checkMs);
    return () => {
      clearTimeout(timer);
      asking.cancel();
    };
  }, [path, value, token]);
  async function write(): Promise<void> {
    if (plan === null) return;
    try {
      const body = { path, value, token: plan.token };
      onWritten((await ask("/api/config/write", { token, body })) as SetupWritten);
    } catch (error) {
      setProblem(messageOf(error));
    }
  }
  const changes = plan !== null && plan.lines.length > 0;
  return (
    <div class="setting-edit">
      <div class="field">
        <input
          disabled={isOut}
          ref={box}
          type="text"
          class="mono"
          aria-label={`New value of ${path}`}
          aria-describedby={`${id}-hint`}
          aria-invalid={problem !== null}
          spellcheck={false}
          value={typed}
          onInput={(event) => setValue(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Escape") onClose();
            if (event.key === "Enter" && changes) void write();
          }}
        />
      </div>
      {setting.canRemove && (
        <label class="settings-only">
          <input
            type="checkbox"
            checked={isOut}
            disabled={!setting.canEdit}
            onChange={(event) => setOut(event.currentTarget.checked)}
          />
          Remove from the file
        </label>
      )}
      <p id={`${id}-hint`} class="setup-hint">
        {[
          type === "" ? "" : `Expected: ${type.replaceAll("`", "")}.`,
          setting.default === null ? "" : `Default: ${setting.default}.`,
          setting.origin === "override"
            ? "An override set in a chat takes precedence over the file."
            : "",
        ]
          .filter((part) => part !== "")
          .join(" ")}
      </p>
      <OutcomeLine outcome={problem === null ? null : { state: "bad", text: problem }} />
      {changes && <Diff lines={plan.lines} />}
      <div class="setup-acts">
        <button
          type="button"
          class="btn primary small"
          aria-disabled={!changes}
          onClick={() => changes && void write()}
        >
          Save
        </button>
        <button type="button" class="btn quiet small" onClick={onClose}>
          Cancel
        </button>
      </div>
    </div>
  );
}

const messageOf = (error: unknown): string =>
  error instanceof ApiError ? error.message : "Cannot reach earshot.";
