/** What is said at set times: the next time of each entry, and its buttons. Absent without entries. */
import { useEffect, useState } from "preact/hooks";
import type { ScheduleRow } from "../../../src/daemon/api-types/schedules.ts";
import { ask } from "../lib/api.ts";
import { Icon } from "../ui/icons.tsx";
import { Acts } from "./actions.tsx";
import { entryActs, momentText, shownName } from "./entry.ts";

const lookMs = 2_000;

interface ScheduleProps {
  readonly token: string;
}

export function Schedule({ token }: ScheduleProps) {
  const { schedules: entries, saidBy } = useSchedule(token);
  if (entries.length === 0) return null;
  return (
    <section class="panel" aria-labelledby="schedule-title">
      <header>
        <h2 id="schedule-title">Schedule</h2>
        <span class="end">
          {entries.length} {entries.length === 1 ? "entry" : "entries"}
          {saidBy !== null && (
            <>
              , said by <bdi>{saidBy}</bdi>
            </>
          )}
        </span>
      </header>
      {entries.map((entry) => (
        <div key={entry.name} class={`need timed ${lookOf(entry)}`}>
          <Icon name={lookOf(entry)} />
          <div>
            <h3>
              <bdi>{shownName(entry)}</bdi>
            </h3>
            <p>{whenOf(entry)}</p>
            <p class="words">
              {entry.turn ? "Prompt: " : ""}
              <bdi>{entry.text.slice(0, 160)}</bdi>
            </p>
            {lastOf(entry) !== null && <p class="last">{lastOf(entry)}</p>}
          </div>
          <div class="acts">
            <Acts acts={entryActs(entry)} token={token} version={String(entry.paused)} />
          </div>
        </div>
      ))}
    </section>
  );
}

interface Answer {
  readonly schedules: readonly ScheduleRow[];
  /** Of several nodes. */
  readonly saidBy: string | null;
}

/** Looked at again and again: entries change by commands and by agents as well. */
function useSchedule(token: string): Answer {
  const [answered, setAnswered] = useState<Answer>({ schedules: [], saidBy: null });
  useEffect(() => {
    let gone = false;
    async function look(): Promise<void> {
      // The line of the page itself says that the daemon does not answer.
      const answer = await ask("/api/schedules", { token }).catch(() => null);
      if (!gone && answer !== null) setAnswered(answer as Answer);
    }
    void look();
    const timer = setInterval(() => void look(), lookMs);
    return () => {
      gone = true;
      clearInterval(timer);
    };
  }, [token]);
  return answered;
}

const lookOf = ({ paused, last, next }: ScheduleRow) =>
  paused ? "wait" : last?.result === "failed" || next === null ? "bad" : "ok";

function whenOf({ cron, timeZone, next, paused, to }: ScheduleRow): string {
  const when = paused ? "Paused" : next === null ? "Over" : `Next ${momentText(next)}`;
  const line = cron === null ? "" : `, ${cron} ${timeZone}`;
  return `${when}${line}, in ${to.channel} ${to.chat.id}`;
}

function lastOf({ last }: ScheduleRow): string | null {
  if (last === null) return null;
  const why = last.why === undefined ? "" : `: ${last.why}`;
  return `${momentText(last.due)} ${last.result}${why}`;
}
