/**
 * Check everything
 * ================
 * The machine, the config in force and all that it names, tried when it is asked for. What has begun
 * is shown at once; each result takes its place as it comes.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import type { CheckStepLine } from "../../../src/daemon/api-types/checks.ts";
import { ApiError, askLines } from "../lib/api.ts";
import { Icon } from "../ui/icons.tsx";

interface ChecksProps {
  readonly token: string;
}

const looks = { running: "wait", ok: "ok", warning: "warn", wrong: "bad" } as const;
const names = { running: "Running", ok: "Fine", warning: "Warning", wrong: "Wrong" } as const;

export function Checks({ token }: ChecksProps) {
  const { steps, problem, isRunning, start } = useChecks(token);
  const ended = steps.filter(({ state }) => state !== "running");
  return (
    <section class="panel" aria-labelledby="checks-title">
      <header>
        <h2 id="checks-title">Checks</h2>
        <span class="end" role="status">
          {isRunning || steps.length > 0 ? summary(steps, ended.length, isRunning) : ""}
        </span>
      </header>
      {steps.length === 0 && !isRunning && (
        <div class="calm">
          <p>
            Tries the key and name of each model, addresses, bot tokens and folders, and looks for
            risky settings. Nothing is changed and no message is sent.
          </p>
        </div>
      )}
      {steps.length > 0 && (
        <ul class="checks">
          {steps.map(({ check, state, says }) => (
            <li key={`${check} ${says}`} class={`check ${state}`}>
              <Icon name={looks[state]} />
              <div>
                <h3>
                  <span class="sr">{names[state]}: </span>
                  <bdi>{check}</bdi>
                </h3>
                <p>
                  <bdi>{says ?? "Trying …"}</bdi>
                </p>
              </div>
            </li>
          ))}
        </ul>
      )}
      {problem !== null && (
        <p class="calm small" role="alert">
          {problem}
        </p>
      )}
      <footer class="check-act">
        {/* It keeps the focus while it runs, so it is not disabled. */}
        <button class="btn" type="button" aria-disabled={isRunning} onClick={start}>
          {isRunning ? "Checking…" : steps.length === 0 ? "Check everything" : "Check again"}
        </button>
      </footer>
    </section>
  );
}

function summary(steps: readonly CheckStepLine[], ended: number, isRunning: boolean): string {
  if (isRunning) return `${ended} of ${steps.length}`;
  const wrong = steps.filter(({ state }) => state === "wrong").length;
  const warnings = steps.filter(({ state }) => state === "warning").length;
  if (wrong + warnings === 0) return "All good";
  const found = [
    ...(wrong > 0 ? [`${wrong} wrong`] : []),
    ...(warnings > 0 ? [`${warnings} ${warnings === 1 ? "warning" : "warnings"}`] : []),
  ];
  return found.join(", ");
}

function useChecks(token: string) {
  const [steps, setSteps] = useState<readonly CheckStepLine[]>([]);
  const [problem, setProblem] = useState<string | null>(null);
  const [isRunning, setRunning] = useState(false);
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);
  async function run(): Promise<void> {
    stop.current = new AbortController();
    const { signal } = stop.current;
    setSteps([]);
    setProblem(null);
    setRunning(true);
    try {
      await askLines("/api/checks", { token, body: {}, signal }, (line) =>
        setSteps((before) => withStep(before, line as CheckStepLine)),
      );
    } catch (error) {
      if (signal.aborted) return;
      setProblem(
        error instanceof ApiError ? error.message : "The checks stopped early. Try again.",
      );
    }
    setRunning(false);
  }
  const start = () => {
    if (!isRunning) void run();
  };
  return { steps, problem, isRunning, start };
}

/** A result takes the place of the line that says that it runs. */
function withStep(steps: readonly CheckStepLine[], step: CheckStepLine): readonly CheckStepLine[] {
  const at = steps.findIndex(({ check, state }) => check === step.check && state === "running");
  return at === -1 ? [...steps, step] : steps.with(at, step);
}
