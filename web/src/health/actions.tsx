/**
 * Actions of a problem
 * ====================
 * The buttons of one line of "Needs you". An action that cannot be undone asks once, in place; a
 * refusal of the daemon is shown there as well.
 */
import { useEffect, useState } from "preact/hooks";
import type { Need } from "../../../src/daemon/api-types/needs.ts";
import { ApiError, ask } from "../lib/api.ts";

export interface Act {
  readonly label: string;
  /** What is asked of the daemon. */
  readonly path: string;
  /** Asked first; left out: it is done at once. */
  readonly question?: string;
  /** The way back from the question. */
  readonly back?: string;
}

interface ActsProps {
  readonly acts: readonly Act[];
  readonly token: string;
  /** Changes when it has come back from what was done: it can be acted on again. */
  readonly version: string | number;
}

type Step = "rest" | "working" | Act;

export function Acts({ acts, token, version }: ActsProps) {
  const [step, setStep] = useState<Step>("rest");
  const [failed, setFailed] = useState<string | null>(null);
  useEffect(() => setStep("rest"), [version]);
  const carryOut = ({ path }: Act) => {
    setStep("working");
    setFailed(null);
    ask(path, { token, body: {} }).catch((error: unknown) => {
      setStep("rest");
      setFailed(error instanceof ApiError ? error.message : "Cannot reach earshot.");
    });
  };
  if (typeof step === "object")
    return (
      <>
        <span class="ask">{step.question}</span>
        <button type="button" class="btn small" ref={focused} onClick={() => carryOut(step)}>
          {step.label}
        </button>
        <button type="button" class="btn quiet small" onClick={() => setStep("rest")}>
          {step.back ?? "Keep"}
        </button>
      </>
    );
  return (
    <>
      {failed !== null && (
        <span class="ask" role="alert">
          {failed}
        </span>
      )}
      {acts.map((act, index) => (
        <button
          key={act.label}
          type="button"
          class={index === 0 ? "btn small" : "btn quiet small"}
          disabled={step === "working"}
          onClick={() => (act.question === undefined ? carryOut(act) : setStep(act))}
        >
          {act.label}
        </button>
      ))}
    </>
  );
}

/** The buttons of what needs a person. */
export const actsOf = ({ id, acts }: Pick<Need, "id" | "acts">): readonly Act[] =>
  acts.map(({ action, label, question, back }) => ({
    label,
    path: `/api/needs/${encodeURIComponent(id)}/${encodeURIComponent(action)}`,
    ...(question === null ? {} : { question }),
    ...(back === null ? {} : { back }),
  }));

const focused = (button: HTMLButtonElement | null) => button?.focus();
