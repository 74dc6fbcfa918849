/**
 * The nodes that share the conversations through Restate: the server, each node, and those that are gone. Absent
 * where the daemon keeps the conversations itself.
 */
import type { EngineNode, EngineStatus } from "../../../src/daemon/api-types/engine.ts";
import { age, amount, span } from "../lib/format.ts";
import { Icon } from "../ui/icons.tsx";

interface NodesProps {
  readonly engine: EngineStatus | null;
  readonly now: number;
}

export function Nodes({ engine, now }: NodesProps) {
  if (engine === null) return null;
  const { server, nodes, several, schedule } = engine;
  const look = server.failing ? "bad" : server.version === null ? "wait" : "ok";
  const name = server.version === null ? "Restate" : `Restate ${server.version}`;
  return (
    <section class="panel" aria-labelledby="nodes-title">
      <header>
        <h2 id="nodes-title">Nodes</h2>
        <span class={`end badge ${look}`} title={server.ingress}>
          <Icon name={look} />
          {server.failing ? `${name} does not answer` : name}
        </span>
      </header>
      <div class="scroll-x">
        <table class="table">
          <thead>
            <tr>
              <th>Node</th>
              <th>State</th>
              <th class="num opt">For</th>
              <th class="num">Active</th>
              <th class="num opt">Turns</th>
              <th class="opt">Copy</th>
              <th class="opt">Version</th>
            </tr>
          </thead>
          <tbody>
            {nodes.map((node) => (
              <NodeRow key={`${node.node} ${node.state}`} node={node} now={now} />
            ))}
          </tbody>
        </table>
      </div>
      <p class="calm small muted">
        <bdi>{server.ingress}</bdi>.{" "}
        {several
          ? "A node that ends is listed for a day, or until it comes back."
          : "This node is the only one: engine.nodes is not set."}
        {schedule?.holder != null && (
          <>
            {" "}
            <bdi>{schedule.holder}</bdi> says what is said at set times.
          </>
        )}
        {nodes[0]?.copy === null &&
          " This node keeps no copy (engine.mirror is false): its pages and counts have no conversations."}
      </p>
    </section>
  );
}

/** " now", " 4 s ago". */
const ageText = (ms: number) => (age(ms) === "now" ? " now" : ` ${age(ms)} ago`);

const looks = {
  running: { look: "ok", word: "Running" },
  stops: { look: "wait", word: "Stops" },
  silent: { look: "wait", word: "Silent" },
  unknown: { look: "wait", word: "Heard" },
  stopped: { look: "", word: "Stopped" },
  gone: { look: "bad", word: "Gone" },
} as const;

function NodeRow({ node, now }: { readonly node: EngineNode; readonly now: number }) {
  const { look, word } = looks[node.state];
  const { since, copy } = node;
  const isOver = node.state === "gone" || node.state === "stopped";
  const ago =
    since === null || node.state === "running" || node.state === "stops"
      ? ""
      : ageText(now - since);
  return (
    <tr class={isOver ? "over" : ""}>
      <td class="main wide">
        <bdi>{node.node}</bdi>
        {node.own && <span class="own"> this one</span>}
        {node.address !== null && (
          <span class="own opt">
            {" "}
            <bdi>{node.address}</bdi>
          </span>
        )}
      </td>
      <td>
        <span class={`badge ${look}`}>
          {look !== "" && <Icon name={look} />}
          {word + ago}
        </span>
      </td>
      <td class="num opt">{ago !== "" || since === null ? "–" : span(now - since)}</td>
      <td class="num">{node.conversations === null ? "–" : amount(node.conversations)}</td>
      <td class="num opt">{node.turns === null ? "–" : amount(node.turns)}</td>
      <td class="opt">{isOver ? "–" : copyText(copy, node.version !== null)}</td>
      <td class="opt">{node.version ?? "–"}</td>
    </tr>
  );

  function copyText(of: EngineNode["copy"], isKnown: boolean) {
    if (of === null) return isKnown ? "None" : "–";
    if (of.since === null) return "Complete";
    const lag = age(now - of.since);
    if (lag === "now") return "Complete";
    return <span class="flag">{of.behind === 0 ? `Stopped ${lag} ago` : `${lag} behind`}</span>;
  }
}
