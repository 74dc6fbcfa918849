/**
 * What is shown of the engine: the server, all nodes, who has which connection, and each problem with its cause and
 * what to do about it.
 */
import type { Millis } from "../../domain/message.ts";
import { engineLimits } from "../../domain/ports/engine/engine-limits.ts";
import { oneLine } from "../../domain/sanitize.ts";
import type { FailingCall } from "../../engines/restate/calls/failing-calls.ts";
import type { ServerState } from "../../engines/restate/calls/server-watch.ts";
import type { CopyState } from "../../engines/restate/feed/node-mirror.ts";
import type { SeenNode, SeenNodes } from "../../engines/restate/leases/view.ts";
import type { NodeFacts } from "../../engines/restate/leases/wire.ts";
import { leaseName } from "../../engines/restate/shared/schedules.ts";
import type {
  EngineNode,
  EngineProblem,
  EngineStatus,
  SharedConnection,
} from "../api-types/engine.ts";

export interface EngineFacts {
  readonly now: Millis;
  readonly config: {
    readonly ingress: string;
    readonly admin: string;
    readonly nodes: string | null;
  };
  readonly server: ServerState;
  /** Name of this node, and what it says of itself. */
  readonly own: { readonly node: string; readonly facts: NodeFacts };
  readonly copy: CopyState | null;
  /** Conversations whose call fails. */
  readonly calls: readonly FailingCall[];
  /** Null: this is the only node, or it has not heard of any yet. */
  readonly seen: SeenNodes | null;
  /** Why leases cannot be renewed; null: they are. */
  readonly leases: { readonly since: Millis; readonly why: string } | null;
}

/** The lease of the node that says the schedule, which is no account's. */
const scheduleLease = leaseName.join(":");
const whyUnitsMax = 320;
/** Nodes that a text names. */
const nodesNamedMax = 3;

export function engineStatus(facts: EngineFacts): EngineStatus {
  const { config, server, own, seen } = facts;
  const nodes = seen?.nodes ?? [];
  const schedule = seen?.leases.find(({ account }) => account === scheduleLease);
  const ownNode: SeenNode = {
    ...own,
    isOwn: true,
    state: own.facts.stops ? "stops" : "running",
    heardAt: null,
  };
  const gone = (seen?.gone ?? []).map(({ node, at, how }): EngineNode => {
    const state = how === "stopped" ? "stopped" : "gone";
    return { ...nothing, node: oneLine(node), own: false, state, since: at };
  });
  return {
    kind: "restate",
    server: {
      ingress: config.ingress,
      admin: config.admin,
      version: server.version,
      failing: server.failing !== null,
    },
    several: config.nodes !== null,
    // What this node says of itself is newer than what it has heard.
    nodes: [...[ownNode, ...nodes.filter(({ isOwn }) => !isOwn)].map(shownNode), ...gone],
    connections: (seen?.leases ?? [])
      .filter(({ account }) => account !== scheduleLease)
      .flatMap(shownConnection),
    schedule: schedule === undefined ? null : { holder: schedule.holder, since: schedule.since },
    problems: problemsOf(facts),
  };
}

/** Nodes that run and follow the others. */
export const othersWithCopy = (seen: SeenNodes | null): number =>
  (seen?.nodes ?? []).filter(
    ({ isOwn, state, facts }) =>
      !isOwn && state === "running" && facts !== null && facts.copy !== null,
  ).length;

/** Numbers of the conversations that people look at on other nodes. */
export const watchedElsewhere = (seen: SeenNodes | null): ReadonlySet<number> =>
  new Set(
    (seen?.nodes ?? []).flatMap(({ isOwn, state, facts }) =>
      isOwn || state !== "running" ? [] : (facts?.watched ?? []),
    ),
  );

/** Of a node that keeps no copy: what its pages and API say of conversations. */
export function noCopyOf({ nodes }: EngineStatus): string {
  const others = nodes.flatMap(({ own, copy, address }) =>
    !own && copy !== null && address !== null ? [address] : [],
  );
  const where = others.length === 0 ? "another node" : others.slice(0, nodesNamedMax).join(" or ");
  return (
    "Cannot read conversations on this node: it keeps no copy of them (engine.mirror is false). " +
    `Ask ${where}, or set engine.mirror to true and start this one again`
  );
}

/** With a full stop. */
const stop = (text: string) => (/[.!?…]$/u.test(text) ? text : `${text}.`);

const nothing = { address: null, version: null, conversations: null, turns: null, copy: null };

function shownNode({ node, isOwn, state, heardAt, facts }: SeenNode): EngineNode {
  return {
    node: oneLine(node),
    own: isOwn,
    state,
    since: heardAt ?? facts?.startedAt ?? null,
    address: facts?.address ?? null,
    version: facts?.version ?? null,
    conversations: facts?.conversations ?? null,
    turns: facts?.turns ?? null,
    copy: facts?.copy ?? null,
  };
}

/** Leases are named by channel and account. One that no node has or wants is of an account that was removed. */
function shownConnection(lease: SeenNodes["leases"][number]): readonly SharedConnection[] {
  const { account: name, holder, since, isLive, waiting } = lease;
  const [, channel, account] = /^([^:]+):(.*)$/su.exec(name) ?? [];
  if (channel === undefined || account === undefined) return [];
  if (holder === null && waiting.length === 0) return [];
  return [{ channel, account, holder, since, live: isLive, waiting }];
}

function problemsOf({ now, server, leases, copy, calls }: EngineFacts): readonly EngineProblem[] {
  const problems: EngineProblem[] = [];
  const add = (what: EngineProblem["what"], title: string, since: Millis, says: string) =>
    problems.push({ what, key: null, title, since, says: oneLine(says, whyUnitsMax) });
  if (server.failing !== null) {
    const { since, why } = server.failing;
    add(
      "server",
      "Restate does not answer",
      since,
      `${why}. Nothing is accepted or answered meanwhile`,
    );
  }
  // Both have the same cause where the server is away.
  else if (leases !== null)
    add(
      "leases",
      "Leases cannot be renewed",
      leases.since,
      `${leases.why} Accounts that connect once are disconnected here 7 s after the last answer. ` +
        "Does Restate reach a node at engine.nodes?",
    );
  if (copy !== null && copy.since !== null) {
    const { behind, since, why } = copy;
    if (why !== null && server.failing === null)
      add(
        "copy",
        "Pages do not follow the other nodes",
        since,
        `${why} What other nodes have stored since is not shown here`,
      );
    else if (why === null && now - since > engineLimits.copyBehindMsMax)
      add(
        "copy",
        "Pages are behind the other nodes",
        since,
        `The copy of this node lacks ${behind} conversations, or news of them. It asks Restate for them; ` +
          "does a node answer at engine.nodes?",
      );
  }
  return [
    ...problems,
    ...calls
      .filter(({ since }) => now - since > engineLimits.failingCallMsMax)
      .map(({ key, since, failures, why }) => ({
        what: "conversation" as const,
        key,
        title: "A conversation cannot go on",
        since,
        says:
          `The call of ${oneLine(key, whyUnitsMax)} has failed ${failures} times in a row, on any node: ${stop(why)} ` +
          "What is said there waits. It is tried again every few seconds, and goes on by itself once the cause is " +
          "gone; if that is a row of another version of earshot, start that version",
      })),
  ];
}
