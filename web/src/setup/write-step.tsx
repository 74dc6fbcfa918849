/** What changes in the config file, line by line, before it is written; then the first group. */
import { useEffect, useState } from "preact/hooks";
import type { Need } from "../../../src/daemon/api-types/needs.ts";
import type { SetupPlanAnswer, SetupWritten } from "../../../src/daemon/api-types/setup.ts";
import { Acts, actsOf } from "../health/actions.tsx";
import { useNeeds } from "../health/use-needs.ts";
import { ask } from "../lib/api.ts";
import { Diff } from "./diff.tsx";
import { messageOf } from "./form.ts";
import { type Outcome, OutcomeLine, Step } from "./parts.tsx";

interface WriteStepProps {
  readonly answers: object;
  readonly token: string;
  readonly onWritten: () => void;
}

export function WriteStep({ answers, token, onWritten }: WriteStepProps) {
  const [plan, setPlan] = useState<SetupPlanAnswer | null>(null);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const said = JSON.stringify(answers);
  // What was shown is what is written: other answers are shown first.
  useEffect(() => setPlan(null), [said]);
  const attempt = (work: () => Promise<void>) => () => {
    work().catch((error: unknown) => setOutcome({ state: "bad", text: messageOf(error) }));
  };
  const show = attempt(async () => {
    setOutcome(null);
    setPlan((await ask("/api/setup/plan", { token, body: answers })) as SetupPlanAnswer);
  });
  const write = attempt(async () => {
    const body = { answers, token: plan?.token };
    setOutcome({ state: "wait", text: "Writing …" });
    const { path, copy, applied } = (await ask("/api/setup/write", {
      token,
      body,
    })) as SetupWritten;
    const kept = copy === null ? "" : ` A copy of the old file: ${copy}.`;
    if (applied) setOutcome({ state: "ok", text: `Saved to ${path} and applied.${kept}` });
    else setOutcome({ state: "warn", text: `Saved to ${path}, but not applied yet. See Health.` });
    setPlan(null);
    onWritten();
  });
  return (
    <Step
      number={4}
      title="Save"
      about="Only these values change in the config file. Comments and everything else stay."
    >
      {plan !== null && (
        <>
          <p class="setup-hint">
            <bdi>{plan.path}</bdi>
            {plan.exists ? "" : " (new)"}
          </p>
          <Diff lines={plan.lines} />
        </>
      )}
      <div class="setup-acts">
        {plan === null ? (
          <button type="button" class="btn" onClick={show}>
            Review changes
          </button>
        ) : (
          <button type="button" class="btn primary" onClick={write}>
            {plan.lines.length === 0 ? "Store keys" : "Save"}
          </button>
        )}
        <OutcomeLine outcome={outcome} />
      </div>
    </Step>
  );
}

/** Changes when it has come back from what was done about it. */
const versionOf = (need: Need): number =>
  need.kind === "refused" ? need.at : need.kind === "pairing" ? need.expiresAt : 0;

/** A group that writes for the first time appears here. */
export function GroupStep({ token }: { readonly token: string }) {
  const { needs } = useNeeds(token, true);
  const asking = needs.flatMap((need) =>
    need.kind === "refused" || need.kind === "pairing" ? [need] : [],
  );
  return (
    <Step
      number={5}
      title="Your group"
      about="Add the bot to your group and write something there. The group appears here, ready to allow."
    >
      {asking.length === 0 ? (
        <p class="setup-hint" role="status">
          Waiting for a message from a new group or person…
        </p>
      ) : (
        <ul class="setup-groups">
          {asking.map((need) => (
            <li key={need.id}>
              <bdi>{need.title}</bdi>
              <span class="acts">
                <Acts acts={actsOf(need)} token={token} version={versionOf(need)} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Step>
  );
}
