/** The answer to a search, page by page. A new search ends the one before. */
import { useEffect, useMemo, useState } from "preact/hooks";
import type { FoundView, SearchAnswer } from "../../../src/daemon/api-types/search.ts";
import { ApiError, ask, newestOnly } from "../lib/api.ts";
import type { PageProps } from "../lib/page-props.ts";
import { apiPath, type Sought } from "./model.ts";

export interface Answer {
  readonly found: readonly FoundView[];
  readonly next: number | null;
  readonly index: SearchAnswer["index"];
  readonly lookedAt: number | null;
}

export interface Searching {
  /** Null: there is no answer yet. */
  readonly answer: Answer | null;
  readonly problem: string | null;
  readonly busy: boolean;
  readonly more: () => void;
  readonly again: () => void;
}

/** After the last letter, ms. */
const typingMs = 200;
/** While the index is built, ms. */
const buildingMs = 1_500;

export function useSearch(
  { token, onLink }: Pick<PageProps, "token" | "onLink">,
  sought: Sought,
): Searching {
  const [answer, setAnswer] = useState<Answer | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(true);
  const [round, setRound] = useState(0);
  const asking = useMemo(
    () =>
      newestOnly(async (path: string, signal) => (await ask(path, { token, signal })) as Answer),
    [token],
  );
  const run = (path: string, take: (next: Answer) => Answer) => {
    setBusy(true);
    asking.ask(path).then(
      (next) => {
        if (next === null) return;
        setAnswer(take(next));
        setProblem(null);
        setBusy(false);
        onLink({ state: "live" });
      },
      (error: unknown) => {
        const { status, message } = error instanceof ApiError ? error : new ApiError(0, "");
        setBusy(false);
        if (status === 401) return onLink({ state: "refused", message });
        if (status === 0) onLink({ state: "lost", tries: 1 });
        setProblem(message || "Cannot reach earshot.");
      },
    );
  };
  const what = JSON.stringify(sought);
  useEffect(() => {
    const timer = setTimeout(
      () => run(apiPath(sought, Date.now(), null), (next) => next),
      answer === null ? 0 : typingMs,
    );
    return () => {
      clearTimeout(timer);
      asking.cancel();
    };
  }, [what, token, round]);
  const building = answer?.index.state === "building";
  useEffect(() => {
    if (!building) return;
    const timer = setTimeout(() => setRound((count) => count + 1), buildingMs);
    return () => clearTimeout(timer);
  }, [building, answer]);
  return {
    answer,
    problem,
    busy,
    more() {
      if (answer === null || answer.next === null) return;
      const { found } = answer;
      run(apiPath(sought, Date.now(), answer.next), (next) => ({
        ...next,
        found: [...found, ...next.found],
      }));
    },
    again: () => setRound((count) => count + 1),
  };
}
