/** What `earshot status` says of the engine: the server, each node, who has which connection, and what is wrong. */
import type { EngineNode, EngineStatus } from "../../api-types/engine.ts";
import { counted, minuteOf } from "./command.ts";

/** A row, and the state that selects its colour. */
export type Row = readonly [name: string, text: string, state?: string | undefined];

/** `said`: a problem that another row says. */
export function engineRows(engine: EngineStatus | null, said: string | null): readonly Row[] {
  if (engine === null) return [];
  const problems = engine.problems.filter(({ says }) => says !== said);
  return [
    serverRow(engine),
    ...problems.map(problemRow),
    ...engine.nodes.map(nodeRow),
    ...(engine.nodes[0]?.copy === null ? [noCopyRow] : []),
    ...scheduleRow(engine),
  ];
}

function serverRow({ kind, server, problems }: EngineStatus): Row {
  const { version, ingress } = server;
  const failing = problems.find(({ what }) => what === "server");
  const name = version === null ? kind : `${kind} ${version}`;
  if (failing === undefined) return ["engine", `${name} at ${ingress}`];
  const since = minuteOf(failing.since);
  return ["engine", `${name} at ${ingress} does not answer since ${since} UTC`, "broken"];
}

const scheduleRow = ({ schedule }: EngineStatus): readonly Row[] =>
  schedule === null
    ? []
    : [
        [
          "schedule",
          `said by ${schedule.holder ?? "nobody"} since ${minuteOf(schedule.since)} UTC`,
        ],
      ];

const noCopyRow: Row = [
  "copy",
  "none on this node (engine.mirror is false): its pages, why, record, search and counts have no conversations",
];

const problemRow = ({ title, since, says }: EngineStatus["problems"][number]): Row => [
  "problem",
  `${title} since ${minuteOf(since)} UTC: ${says}`,
  "broken",
];

const inks: Readonly<Record<EngineNode["state"], string>> = {
  running: "",
  stops: "restarting",
  silent: "restarting",
  unknown: "restarting",
  stopped: "",
  gone: "broken",
};

function nodeRow(node: EngineNode): Row {
  return [
    "node",
    [node.own ? `${node.node} (this one)` : node.node, ...partsOf(node)].join(", "),
    inks[node.state],
  ];
}

function partsOf({
  state,
  since,
  address,
  version,
  conversations,
  turns,
  copy,
}: EngineNode): string[] {
  const when = since === null ? "" : ` ${minuteOf(since)} UTC`;
  if (state === "stopped") return [`stopped${when}`];
  if (state === "gone") return [`gone without a word${when}`];
  const words = {
    running: "since",
    stops: "stops, since",
    silent: "silent since",
    unknown: "not heard of since",
  };
  const facts = [
    ...(when === "" ? [] : [`${words[state]}${when}`]),
    version === null ? "an older version" : `version ${version}`,
  ];
  if (conversations !== null) facts.push(`${conversations} active`, counted(turns ?? 0, "turn"));
  if (conversations !== null) facts.push(copyText(copy));
  if (address !== null) facts.push(address);
  return facts;
}

function copyText(copy: EngineNode["copy"]): string {
  if (copy === null) return "no copy for the pages";
  if (copy.since === null) return "copy complete";
  const what =
    copy.behind === 0 ? "copy does not follow" : `copy lacks ${copy.behind} conversations`;
  return `${what} since ${minuteOf(copy.since)} UTC`;
}

/** Who has a connection and who waits for it, to follow its state; empty: every node connects for itself. */
export function holderText(engine: EngineStatus | null, channel: string, account: string): string {
  const one = engine?.connections.find(
    (shared) => shared.channel === channel && shared.account === account,
  );
  if (one === undefined) return "";
  const { holder, since, waiting } = one;
  if (engine?.server.failing === true)
    return `${holder ?? "nobody"} had it when Restate last answered`;
  const has = `${holder === null ? "nobody has it" : `${holder} has it`} since ${minuteOf(since)} UTC`;
  if (waiting.length === 0) return has;
  return `${has}; ${waiting.join(", ")} ${waiting.length === 1 ? "waits" : "wait"}`;
}
