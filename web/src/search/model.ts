/**
 * What is searched for: kept in the address, so that a search can be linked to and survives a
 * reload, and turned into a question to the daemon.
 */
import type { FoundView } from "../../../src/daemon/api-types/search.ts";
import type { Decision, Rule } from "../../../src/domain/decision.ts";
import type { FoundOutcome } from "../../../src/domain/search/values.ts";

export const fields = [
  ...(["text", "author", "decision", "rule", "outcome", "when", "from", "to", "room"] as const),
] as const;
export type Field = (typeof fields)[number];
/** Empty: any. */
export type Sought = Readonly<Record<Field, string>>;

const textUnitsMax = 1_000;
const hourMs = 3_600_000;
/** How far back, by its name in the address. */
export const spans: Readonly<Record<string, { readonly word: string; readonly ms: number }>> = {
  "1h": { word: "Last hour", ms: hourMs },
  "1d": { word: "Last 24 hours", ms: 24 * hourMs },
  "7d": { word: "Last 7 days", ms: 168 * hourMs },
};
export const decisionWords: Readonly<Record<Exclude<Decision, "duplicate">, string>> = {
  engage: "Engaged",
  observe: "Observed",
  denied: "Denied",
  claim: "Claim",
  command: "Command",
};
export const outcomeWords: Readonly<Record<FoundOutcome, string>> = {
  replied: "Answered",
  partly: "Partly answered",
  undelivered: "Not delivered",
  "in-doubt": "In doubt",
  silent: "Silent",
  failed: "Failed",
  cancelled: "Stopped",
  expired: "Expired",
};
const rulesThere: Readonly<Record<Exclude<Rule, "duplicate">, true>> = {
  dm: true,
  mention: true,
  reply: true,
  "addressed-elsewhere": true,
  sticky: true,
  alias: true,
  "mentions-others": true,
  "reply-to-other": true,
  "names-peer-bot": true,
  "thread-unknown": true,
  "solo-human": true,
  default: true,
  "loop-guard": true,
  always: true,
  judge: true,
  "dm-policy": true,
  "group-policy": true,
  "no-author": true,
  "rate-limit": true,
  claim: true,
  command: true,
};
export const ruleWords: Readonly<Record<string, string>> = Object.fromEntries(
  Object.keys(rulesThere).map((rule) => [rule, rule]),
);

/** What an address asks for; what is not known is left out. */
export function soughtIn(query: string): Sought {
  const params = new URLSearchParams(query);
  const known: Partial<Record<Field, Readonly<Record<string, unknown>>>> = {
    decision: decisionWords,
    rule: ruleWords,
    outcome: outcomeWords,
    when: spans,
  };
  const pairs = fields.map((field) => {
    const value = (params.get(field) ?? "").slice(0, textUnitsMax);
    const names = known[field];
    if (field === "from" || field === "to") return [field, dayOf(value) === null ? "" : value];
    return [field, names === undefined || Object.hasOwn(names, value) ? value : ""];
  });
  return Object.fromEntries(pairs) as Sought;
}

/** The address of a search. */
export function searchHref(sought: Partial<Sought>): string {
  const params = new URLSearchParams();
  for (const field of fields) if (sought[field]) params.set(field, sought[field]);
  const query = params.toString();
  return query === "" ? "/search" : `/search?${query}`;
}

/** When a day like 2026-11-23 begins here, and the next one; null: there is no such day. */
function dayOf(text: string): { readonly begins: number; readonly ends: number } | null {
  const [year = 0, month = 0, day = 0] = /^\d{4}-\d\d-\d\d$/u.test(text)
    ? text.split("-").map(Number)
    : [];
  const begins = new Date(year, month - 1, day);
  if (year < 1971 || begins.getMonth() !== month - 1 || begins.getDate() !== day) return null;
  return { begins: begins.getTime(), ends: new Date(year, month - 1, day + 1).getTime() };
}

const notAsked: ReadonlySet<Field> = new Set(["when", "from", "to"]);

/** The question to the daemon. */
export function apiPath(sought: Sought, now: number, before: number | null): string {
  const params = new URLSearchParams();
  for (const field of fields)
    if (!notAsked.has(field) && sought[field] !== "") params.set(field, sought[field]);
  const span = spans[sought.when];
  const since = span === undefined ? dayOf(sought.from)?.begins : now - span.ms;
  const until = dayOf(sought.to)?.ends;
  if (since !== undefined) params.set("since", String(since));
  if (until !== undefined) params.set("until", String(until));
  if (before !== null) params.set("before", String(before));
  return `/api/search?${params}`;
}

export interface Group {
  readonly key: string;
  readonly room: string;
  readonly found: readonly FoundView[];
}

/** Messages that follow one another in one room, together. */
export function groupsOf(found: readonly FoundView[]): Group[] {
  const groups: { key: string; room: string; found: FoundView[] }[] = [];
  for (const one of found) {
    const last = groups.at(-1);
    if (last !== undefined && last.key === one.key && last.room === one.room) last.found.push(one);
    else groups.push({ key: one.key, room: one.room, found: [one] });
  }
  return groups;
}

/** A text in pieces, found or not. */
export function piecesOf({ text, marks }: Pick<FoundView, "text" | "marks">) {
  const pieces: { readonly text: string; readonly found: boolean }[] = [];
  let at = 0;
  for (const [from, to] of marks) {
    if (from > at) pieces.push({ text: text.slice(at, from), found: false });
    pieces.push({ text: text.slice(from, to), found: true });
    at = to;
  }
  if (at < text.length) pieces.push({ text: text.slice(at), found: false });
  return pieces;
}
