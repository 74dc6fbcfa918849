/**
 * Settings
 * ========
 * Every value of the config: what it is for, what it is, where it comes from. One can be changed in the
 * file: checked while it is typed, shown as a diff, written, and taken back.
 */
import { useEffect, useMemo, useState } from "preact/hooks";
import type { SettingsAnswer, SettingValue } from "../../../src/daemon/api-types/settings.ts";
import { ApiError, ask, askAgain } from "../lib/api.ts";
import type { PageProps } from "../lib/page-props.ts";
import { Entries } from "../settings/entries.tsx";
import { LastChange } from "../settings/last-change.tsx";
import { Row } from "../settings/row.tsx";
import { Icon } from "../ui/icons.tsx";
import "../styles/setup.css";
import "../styles/settings.css";

export function SettingsPage({ token, onLink }: PageProps) {
  const { answer, problem, reload } = useSettings({ token, onLink });
  const [find, setFind] = useState("");
  const [isOnlySet, setOnlySet] = useState(false);
  const sections = useMemo(
    () => sectionsOf(answer?.values ?? [], find, isOnlySet),
    [answer, find, isOnlySet],
  );
  const count = sections.reduce((sum, [, rows]) => sum + rows.length, 0);
  return (
    <main id="main" class="page settings" tabIndex={-1}>
      <div class="head">
        <h1>Settings</h1>
        <span class="sub">
          <bdi>{answer?.path ?? ""}</bdi>
          {answer !== null && !answer.exists ? " (not created yet)" : ""}
        </span>
        <a class="btn small" href="/setup">
          Setup
        </a>
      </div>
      {answer !== null && <LastChange last={answer.last} token={token} onUndone={reload} />}
      <search class="settings-find">
        <label class="field">
          <Icon name="find" size={14} />
          <input
            type="text"
            placeholder="Find a setting"
            aria-label="Find a setting"
            value={find}
            onInput={(event) => setFind(event.currentTarget.value)}
          />
        </label>
        <label class="settings-only">
          <input
            type="checkbox"
            checked={isOnlySet}
            onChange={(event) => setOnlySet(event.currentTarget.checked)}
          />
          Only set values
        </label>
        <span class="small muted" role="status">
          {answer === null ? "" : count === 1 ? "1 setting" : `${count} settings`}
        </span>
      </search>
      {problem !== null && (
        <p class="setup-outcome bad" role="alert">
          <Icon name="bad" />
          <bdi>{problem}</bdi>
        </p>
      )}
      {answer !== null && count === 0 && <p class="muted">No matching settings.</p>}
      {answer !== null && find === "" && (
        <Entries containers={answer.containers} token={token} onWritten={reload} />
      )}
      {sections.map(([name, rows]) => (
        <section key={name} class="panel" aria-labelledby={`section-${name}`}>
          <header>
            <h2 id={`section-${name}`}>{name}</h2>
            <span class="end">{rows.length}</span>
          </header>
          <ul>
            {rows.map((setting) => (
              <Row key={setting.path} setting={setting} token={token} onWritten={reload} />
            ))}
          </ul>
        </section>
      ))}
    </main>
  );
}

type Section = readonly [name: string, rows: readonly SettingValue[]];

function sectionsOf(
  values: readonly SettingValue[],
  find: string,
  isOnlySet: boolean,
): readonly Section[] {
  const parts = find
    .toLowerCase()
    .split(/\s+/u)
    .filter((part) => part !== "");
  const found = values.filter(({ path, about, origin }) => {
    if (isOnlySet && origin === "default") return false;
    const text = `${path} ${about}`.toLowerCase();
    return parts.every((part) => text.includes(part));
  });
  const sections = new Map<string, SettingValue[]>();
  for (const value of found) {
    const name = value.path.split(/[.[]/u)[0] ?? "";
    const rows = sections.get(name) ?? [];
    rows.push(value);
    sections.set(name, rows);
  }
  return [...sections];
}

function useSettings({ token, onLink }: Pick<PageProps, "token" | "onLink">) {
  const [answer, setAnswer] = useState<SettingsAnswer | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const take = (found: unknown) => {
    setAnswer(found as SettingsAnswer);
    setProblem(null);
    onLink({ state: "live" });
  };
  useEffect(() => {
    const gone = new AbortController();
    let said = "";
    const asking = { token, signal: gone.signal };
    void askAgain("/api/config", asking, (message) => {
      said = message;
      onLink({ state: "connecting" });
    }).then((found) => {
      if (gone.signal.aborted) return;
      if (found !== null) return take(found.answer);
      // A token that is refused is known by the frame; a file that is not valid has its reason.
      setProblem(said);
      onLink({ state: "live" });
    });
    return () => gone.abort();
  }, [token]);
  async function reload(): Promise<void> {
    try {
      take(await ask("/api/config", { token }));
    } catch (error) {
      setProblem(error instanceof ApiError ? error.message : "Cannot reach earshot.");
    }
  }
  return { answer, problem, reload: () => void reload() };
}
