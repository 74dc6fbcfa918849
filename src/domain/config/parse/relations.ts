/**
 * Relations between config values
 * ===============================
 * Rules that no single field can check: references between names, ordered bounds, and values that
 * are safe only together.
 */
import { isSessionKey } from "../../key.ts";
import { isScopedId } from "../daemon/access.ts";
import { isLoopbackHost } from "../daemon/daemon.ts";
import type { EarshotConfig } from "../daemon/schema.ts";
import { boundProblems } from "./bounds.ts";
import { nearest } from "./nearest.ts";
import { type ConfigProblem, wrong } from "./problems.ts";

type Problems = Iterable<ConfigProblem>;

const suggestion = (word: string, known: readonly string[]): string => {
  const near = nearest(word, known);
  return near === null ? `. Known: ${known.slice(0, 40).join(", ")}` : `. Did you mean "${near}"?`;
};
const quoted = (word: string): string => JSON.stringify(word.slice(0, 64));

function* agentProblems(config: EarshotConfig): Problems {
  const ids = config.agents.list.map((agent) => agent.id);
  const known = new Set<string>();
  for (const [index, id] of ids.entries()) {
    if (known.has(id))
      yield wrong(
        ["agents", "list", index, "id"],
        `${quoted(id)} is used twice. Agent ids must be unique`,
      );
    known.add(id);
  }
  const defaults = config.agents.list.filter((agent) => agent.default);
  if (defaults.length > 1) yield wrong(["agents", "list"], "more than one agent has default: true");
  for (const [index, { agentId }] of config.bindings.entries())
    if (!known.has(agentId))
      yield wrong(
        ["bindings", index, "agentId"],
        `unknown agent ${quoted(agentId)}${suggestion(agentId, ids)}`,
      );
  for (const [index, { agent }] of config.schedule.entries())
    if (agent !== undefined && !known.has(agent))
      yield wrong(
        ["schedule", index, "agent"],
        `unknown agent ${quoted(agent)}${suggestion(agent, ids)}`,
      );
  for (const [peer, agents] of Object.entries(config.broadcast)) {
    if (!Array.isArray(agents)) continue;
    for (const [index, agentId] of agents.entries())
      if (!known.has(agentId) || agents.indexOf(agentId) !== index)
        yield wrong(
          ["broadcast", peer, index],
          known.has(agentId)
            ? `${quoted(agentId)} is listed twice`
            : `unknown agent ${quoted(agentId)}${suggestion(agentId, ids)}`,
        );
  }
}

function* sessionProblems(config: EarshotConfig): Problems {
  const owner = new Map<string, string>();
  for (const [name, ids] of Object.entries(config.session.identityLinks))
    for (const [index, id] of ids.entries()) {
      const other = owner.get(id);
      if (other !== undefined && other !== name)
        yield wrong(
          ["session", "identityLinks", name, index],
          `${quoted(id)} is already linked to ${quoted(other)}`,
        );
      owner.set(id, name);
    }
  for (const key of Object.keys(config.conversations))
    if (!isSessionKey(key))
      yield wrong(
        ["conversations", key],
        'expected a session key such as "agent:main:telegram:group:-100123"',
      );
  for (const [channel, ids] of Object.entries(config.commands.allowFrom))
    for (const [index, id] of ids.entries())
      if (id === "*" || (channel === "*" && !isScopedId(id)))
        yield wrong(
          ["commands", "allowFrom", channel, index],
          "expected a person's " +
            `id${channel === "*" ? ' with its channel, such as "telegram:123"' : ""}`,
        );
}

function* placeProblems(
  config: EarshotConfig,
  channels: ReadonlyMap<string, unknown> | undefined,
): Problems {
  const { host, exposed, tls, proxy } = config.server;
  if (exposed && !isLoopbackHost(host) && tls === null && proxy === null)
    yield {
      code: "EAR_CONFIG_UNSAFE",
      path: ["server", "exposed"],
      message:
        `server.exposed with server.host ${quoted(host)} would send the token unencrypted. Set ` +
        "server.tls to a certificate and its key, or server.proxy to the addresses of a proxy " +
        "that terminates TLS",
    };
  if (!exposed && !isLoopbackHost(host))
    yield {
      code: "EAR_CONFIG_UNSAFE",
      path: ["server", "host"],
      message:
        `server.host ${quoted(host)} can be reached from other machines. Use "127.0.0.1", or ` +
        "set server.exposed to true if you want that",
    };
  if (channels === undefined) return;
  const known = [...channels.keys()];
  for (const [id, channel] of Object.entries(config.channels))
    if (!channels.has(id) && !(["webchat", "terminal", "webhook"].includes(id) && channel.enabled))
      yield {
        code: "EAR_CONFIG_UNKNOWN_KEY",
        path: ["channels", id],
        message: `unknown channel ${quoted(id)}${suggestion(id, known)}`,
      };
}

/** All relation problems of a config whose fields are valid on their own. */
export function relationProblems(
  config: EarshotConfig,
  channels?: ReadonlyMap<string, unknown>,
): readonly ConfigProblem[] {
  return [
    ...agentProblems(config),
    ...boundProblems(config),
    ...sessionProblems(config),
    ...placeProblems(config, channels),
  ];
}
