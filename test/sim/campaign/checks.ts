/**
 * What must be true of every history, whatever failed in it. Each check is a pure function: it reads
 * a history and returns what is wrong, in words.
 */
import { noConversation } from "../../../src/domain/ports/index.ts";
import { type Entry, type History, theEnd, type Written } from "./history.ts";

export type Check = (history: History) => readonly string[];

type Kind<What extends Entry["what"]> = Extract<Entry, { what: What }>;
const all = <What extends Entry["what"]>({ entries }: History, what: What) =>
  entries.filter((entry): entry is Kind<What> => entry.what === what);

const written = <What extends Written["kind"]>(history: History, kind: What) =>
  all(history, "committed").flatMap(({ rows }) =>
    rows.filter((row): row is Extract<Written, { kind: What }> => row.kind === kind),
  );

function counts(names: readonly string[]): ReadonlyMap<string, number> {
  const count = new Map<string, number>();
  for (const name of names) count.set(name, (count.get(name) ?? 0) + 1);
  return count;
}
const repeated = (names: readonly string[]) => [...counts(names)].filter(([, count]) => count > 1);

/** P1: what was acknowledged to a platform is in the journal, and was applied. */
const loss: Check = (history) => {
  const stored = new Set(written(history, "event").map(({ message }) => message));
  const acked = new Set(all(history, "acked").map(({ id }) => id));
  const lost = [...acked].filter((id) => !stored.has(id));
  const kept = new Set(history.ending.rows.map(({ seq }) => seq));
  return [
    ...lost.map((id) => `${id} was acknowledged and is not in the journal`),
    ...written(history, "event")
      .filter(({ seq }) => !kept.has(seq))
      .map(({ seq, type }) => `row ${seq} (${type}) was committed and is gone`),
  ];
};

/** P2 and P5: each message is stored and applied once, each part shown once, but for doubts. */
const duplication: Check = (history) => {
  const received = written(history, "event").filter(({ type }) => type === "message.received");
  const applied = written(history, "applied").filter(({ answer }) => answer > 0);
  const doubted = new Set(
    written(history, "outbox")
      .filter(({ doubts }) => doubts > 0)
      .map(({ id }) => id),
  );
  const shown = all(history, "shown").map(({ id }) => id);
  const times = counts(shown);
  return [
    ...repeated(received.map(({ message }) => `${message}`)).map(
      ([name, count]) => `${name} was stored ${count} times`,
    ),
    ...repeated(applied.map(({ seq }) => String(seq))).map(
      ([seq, count]) => `row ${seq} was applied ${count} times`,
    ),
    ...[...times].flatMap(([id, count]) =>
      count > 2 || (count > 1 && !doubted.has(id)) ? [`${id} was shown ${count} times`] : [],
    ),
    ...Object.entries(history.ending.engaged).flatMap(([name, ends]) =>
      // What was stopped is remembered like what was overheard, and may be forgotten like that.
      ends.length > 1 && ends[0] !== "stopped" ? [`${name} became ${ends.join(" and ")}`] : [],
    ),
  ];
};

/** P3 and P6: rows are applied in their order, parts and answers are shown in theirs. */
const order: Check = (history) => {
  const found: string[] = [];
  const convOf = new Map(history.ending.rows.map(({ seq, conv }) => [seq, conv]));
  const last = new Map<number, number>();
  for (const { seq, answer } of written(history, "applied")) {
    const conv = convOf.get(seq) ?? noConversation;
    if (answer === 0 || conv === noConversation) continue;
    const before = last.get(conv) ?? 0;
    if (seq < before) found.push(`row ${seq} was applied after row ${before}`);
    last.set(conv, Math.max(seq, before));
  }
  return [...found, ...shownOrder(history)];
};

/** The first time that each part of a turn was shown, against the parts that it followed. */
function shownOrder(history: History): string[] {
  const found: string[] = [];
  const ranks = new Map(history.ending.turns.map(({ turnId }, rank) => [turnId, rank]));
  const seen = new Set<string>();
  const last = new Map<
    string,
    { readonly id: string; readonly place: readonly [number, number] }
  >();
  for (const { id, chat } of all(history, "shown")) {
    const [turnId = "", index = "0"] = id.split(":");
    const rank = ranks.get(turnId);
    if (seen.has(id) || rank === undefined) continue;
    seen.add(id);
    const before = last.get(chat);
    const place = [rank, Number(index)] as const;
    if (
      before !== undefined &&
      (place[0] < before.place[0] || (place[0] === before.place[0] && place[1] < before.place[1]))
    )
      found.push(`${chat}: ${id} was shown after ${before.id}`);
    last.set(chat, { id, place });
  }
  return found;
}

/** P4: each turn has one outcome, each engaged message one end. */
const outcome: Check = ({ ending }) => [
  ...ending.turns.flatMap(({ turnId, begun, outcomes }) =>
    begun === 1 && outcomes.length === 1
      ? []
      : [`turn ${turnId} began ${begun} times and ended as ${outcomes.join(", ") || "nothing"}`],
  ),
  ...Object.entries(ending.engaged).flatMap(([name, ends]) =>
    ends.length === 0 ? [`${name} was engaged and nothing became of it`] : [],
  ),
];

/** Once nothing fails any more, everything comes to its end. */
const liveness: Check = (history) => {
  const { ending } = history;
  const acked = new Set(all(history, "acked").map(({ id }) => id));
  return [
    ...all(history, "said").flatMap(({ id }) =>
      acked.has(id) ? [] : [`${id} was never acknowledged`],
    ),
    ...ending.rows.flatMap(({ seq, type, code, conv }) =>
      code === null && conv !== noConversation ? [`row ${seq} (${type}) is not applied`] : [],
    ),
    ...ending.runs.map(({ turnId, state }) => `a turn is left ${state} (${turnId})`),
    ...ending.outbox.flatMap(({ id, state }) =>
      state === "pending" || state === "sending" || state === "waiting"
        ? [`${id} is left ${state}`]
        : [],
    ),
    ...(ending.problem === null ? [] : [`the status has a problem: ${ending.problem}`]),
    ...ending.quarantined.map((error) => `an event is in quarantine: ${error}`),
  ];
};

/** P3: records of a conversation come from one writer at a time; an older one is refused. */
const writer: Check = (history) => {
  const newest = new Map<number, number>();
  return written(history, "checkpoint").flatMap(({ conv, epoch, recordSeq, answer }) => {
    const before = newest.get(conv) ?? 0;
    newest.set(conv, Math.max(before, epoch));
    const isStale = epoch < before;
    if (isStale === (answer === 0)) return [];
    return [
      `the record of row ${recordSeq}, epoch ${epoch} after ${before}, was answered ${answer}`,
    ];
  });
};

/** What shows that an answer is on its way ends with it. */
const marks: Check = (history) => {
  const over = new Map<string, number>();
  let died = -1;
  const typed = new Map<string, number>();
  const marked = new Map<string, boolean>();
  for (const entry of history.entries) {
    if (entry.what === "typing ordered" && !entry.on) over.set(entry.chat, entry.at);
    // A dead process says no more, and platforms forget typing that is not shown again.
    if (entry.what === "ended" && entry.why !== theEnd) died = entry.at;
    if (entry.what === "typing" && entry.on) typed.set(entry.chat, entry.at);
    if (entry.what === "react") marked.set(entry.message, entry.on);
  }
  const given = new Set(
    history.ending.outbox.flatMap(({ kind, state, message }) =>
      kind === "unreact" && state !== "sent" ? [message] : [],
    ),
  );
  return [
    ...history.ending.left.map((what) => `${what} is left on`),
    ...[...typed].flatMap(([chat, at]) =>
      at > Math.max(died, over.get(chat) ?? -1) ? [`${chat} shows typing from ${at} on`] : [],
    ),
    ...[...marked].flatMap(([message, on]) =>
      on && !given.has(message) ? [`${message} keeps its mark`] : [],
    ),
  ];
};

/** P6: nothing is shown after its time, and P11: no deadline is due before its. */
const time: Check = (history) => {
  const expiry = new Map(written(history, "outbox").map(({ id, expiresAt }) => [id, expiresAt]));
  // A deadline may fall due while the one that replaces it is being stored.
  const due = new Map<string, number[]>();
  const early: string[] = [];
  for (const row of all(history, "committed").flatMap(({ rows }) => rows)) {
    if (row.kind === "deadline" && row.due !== null) {
      const name = `${row.conv} ${row.id}`;
      due.set(name, [...(due.get(name) ?? []), row.due]);
    }
    if (row.kind !== "event" || row.about === null) continue;
    const name = `${row.conv} ${row.about}`;
    const wanted = due.get(name) ?? [];
    const first = Math.min(...wanted);
    if (row.at < first) early.push(`${row.about} of ${first} was due at ${row.at}`);
    due.set(name, wanted.slice(-1));
  }
  const late = all(history, "shown").flatMap(({ id, now }) => {
    const until = expiry.get(id) ?? Number.POSITIVE_INFINITY;
    return now > until ? [`${id} was shown ${now - until} ms after its time`] : [];
  });
  return [...early, ...late];
};

/** P5: what is said to be sent was shown, and what was shown is said to be. */
const truth: Check = (history) => {
  const shown = new Set(all(history, "shown").map(({ id }) => id));
  const edited = new Set(all(history, "edited").map(({ id }) => id));
  const rows = new Map(history.ending.outbox.map((row) => [row.id, row]));
  return [
    ...[...shown].filter((id) => !rows.has(id)).map((id) => `${id} was shown and has no row`),
    ...history.ending.outbox.flatMap(({ id, kind, state }) =>
      state === "sent" &&
      (kind === "reply" || kind === "notice"
        ? !shown.has(id)
        : kind === "edit" && !edited.has(id) && !shown.has(id))
        ? [`${id} is said to be sent and was not shown`]
        : [],
    ),
  ];
};

/** P1 and P5: what leaves the process survives a loss of power: an acknowledgement, a message. */
const durable: Check = ({ entries }) => {
  const found: string[] = [];
  const storedBy = new Map<string, number>();
  let commits = 0;
  let synced = 0;
  const left = (name: string, what: string) => {
    const by = storedBy.get(name) ?? 0;
    if (by > synced) found.push(`${what} by commit ${by}, and only ${synced} were synced`);
  };
  for (const entry of entries) {
    if (entry.what === "synced") synced = Math.max(synced, entry.commits);
    if (entry.what === "acked") left(entry.id, `${entry.id} was acknowledged, stored`);
    if (entry.what === "shown") left(`${entry.id} sending`, `${entry.id} was shown, marked`);
    if (entry.what !== "committed") continue;
    commits += 1;
    for (const row of entry.rows)
      if (row.kind === "event" && row.message !== null && row.type === "message.received")
        storedBy.set(row.message, commits);
      else if (row.kind === "outbox" && row.state === "sending")
        storedBy.set(`${row.id} sending`, commits);
  }
  return found;
};

export const checks: Readonly<Record<string, Check>> = {
  loss,
  duplication,
  order,
  outcome,
  liveness,
  writer,
  marks,
  time,
  truth,
  durable,
};

/** Everything that is wrong with a history, by check. */
export function violations(history: History): readonly string[] {
  return Object.entries(checks).flatMap(([name, check]) =>
    check(history).map((what) => `${name}: ${what}`),
  );
}
