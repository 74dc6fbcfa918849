/**
 * Two lists of decisions about the same recording, side by side. A message that several agents
 * received is compared for each agent, in their order.
 */
import { LabelledDecisions, type Side } from "../../domain/quality/labelled-decisions.ts";
import type { ScenarioLine } from "../../domain/scenario/scenario.ts";
import type { WhatIfChange, WhatIfResult, WhatIfVerdict } from "../api-types/what-if.ts";
import type { RecordedMessage, Recording } from "./recording.ts";
import type { Decided } from "./worker.ts";

/** At most so many changes are sent to a page; all are counted. */
export const changesSentMax = 2_000;

/** Decisions by message; the n-th decision of an id belongs to its n-th message. */
function byMessage(decided: readonly Decided[]): Map<string, Decided[]> {
  const map = new Map<string, Decided[]>();
  for (const decision of decided) {
    const name = `${decision[0]}|${decision[1]}`;
    const list = map.get(name);
    if (list === undefined) map.set(name, [decision]);
    else list.push(decision);
  }
  return map;
}

const verdictOf = ([, , , decision, rule, asks]: Decided): WhatIfVerdict =>
  asks === true ? { decision, rule, undecided: true } : { decision, rule };

const isSame = (old: Decided, now: Decided): boolean =>
  old[3] === now[3] && old[4] === now[4] && old[5] === now[5];

/** The differences, without the duration. */
export function compare(
  { messages, rooms, header, lines }: Recording,
  before: readonly Decided[],
  after: readonly Decided[],
): Omit<WhatIfResult, "tookMs"> {
  const was = byMessage(before);
  const is = byMessage(after);
  const start = header.start ?? 0;
  const changes: WhatIfChange[] = [];
  const count = { ...noChange };
  const seen = new Map<string, number>();
  for (const [n, message] of messages.entries()) {
    const name = `${message.t}|${message.id}`;
    const from = seen.get(name) ?? 0;
    const olds = was.get(name) ?? [];
    const news = is.get(name) ?? [];
    seen.set(name, olds.length);
    for (let index = from; index < olds.length; index += 1) {
      const old = olds[index] as Decided;
      const now = news[index];
      if (now === undefined || isSame(old, now)) continue;
      note(count, old, now);
      if (changes.length < changesSentMax) changes.push(changeOf(n, message, start, old, now));
    }
  }
  const labelled = labelledIn(lines, before, after);
  return { messages: messages.length, rooms, ...count, changes, labelled };
}

/** How right both are on labelled messages; null: there is none. */
function labelledIn(
  lines: readonly ScenarioLine[],
  before: readonly Decided[],
  after: readonly Decided[],
): WhatIfResult["labelled"] {
  const labelled = new LabelledDecisions();
  for (const line of lines) if ("label" in line) labelled.label(line.label);
  for (const [side, all] of Object.entries({ before, after }) as [Side, readonly Decided[]][])
    for (const [, id, key, decision, , asks] of all)
      labelled.decided(side, key, id, asks === true ? "undecided" : decision);
  return labelled.compare();
}

const noChange = {
  changed: 0,
  otherRule: 0,
  nowEngage: 0,
  nowObserve: 0,
  nowOther: 0,
  undecided: 0,
};

/** Where a judge would be asked, nothing is known: it is no change and no agreement. */
function note(
  count: { [Name in keyof typeof noChange]: number },
  old: Decided,
  now: Decided,
): void {
  const decision = now[3];
  if (old[5] === true || now[5] === true) count.undecided += 1;
  else if (old[3] === decision) count.otherRule += 1;
  else {
    count.changed += 1;
    if (decision === "engage") count.nowEngage += 1;
    else if (decision === "observe") count.nowObserve += 1;
    else count.nowOther += 1;
  }
}

function changeOf(
  n: number,
  { t, id, author, isBot, room, text }: RecordedMessage,
  start: number,
  old: Decided,
  now: Decided,
): WhatIfChange {
  const shown = { n, at: start + t, id, key: now[2] ?? old[2], author, isBot, room, text };
  return { ...shown, before: verdictOf(old), after: verdictOf(now) };
}
