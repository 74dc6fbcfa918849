/**
 * Values an owner sets over the config file with `/config set` and `/debug set`. An owner's chat
 * account may be taken over, so some values cannot be set from a room by anyone: who is an owner,
 * what runs on the machine, and where secrets go (docs/reference/commands.md has the list).
 */
import { EarshotError } from "../../errors.ts";
import { overrideFields } from "../conversation/overrides.ts";
import { onlyMain } from "../daemon/agents.ts";
import { isPlain } from "./overlay.ts";
import { isSecretPath } from "./secrets.ts";

type Path = readonly string[];

const partsMax = 12;
const everywhere = new Set(Object.keys(overrideFields).filter((name) => name !== "media"));
const ofAgents = new Set([...everywhere, "maxConcurrent", "contextTokens", "thinking"]);
const ofAgent = new Set([...ofAgents, "name", "aliases", "purpose", "system"]);
const forbidden = new Set(["__proto__", "constructor", "prototype"]);

const reasons = {
  secret: "secrets are not accepted in rooms: use the file or the environment",
  people: "access is not set this way: use /allowlist, or the file",
  machine: "only the config file sets this, on the machine itself",
  programs: "it may name programs to run: only the file sets this",
  accounts: "only the file sets accounts and channel lists",
  agents: "only the file sets an agent's program, model and folder",
  identity: "only the file links identities",
  name: "that is not a config path",
} as const;

/** Sections that cannot be overridden at all. */
const closed: Readonly<Record<string, keyof typeof reasons>> = {
  $schema: "name",
  access: "people",
  commands: "people",
  server: "machine",
  store: "machine",
  engine: "machine",
  workers: "machine",
  plugins: "programs",
  media: "programs",
};

/** Why this path cannot be overridden; null: it can. */
export function refusalOf(path: Path): string | null {
  const [section = "", first, second, third] = path;
  if (path.some((name) => name === "" || forbidden.has(name))) return reasons.name;
  if (path.length > partsMax) return reasons.name;
  if (isSecretPath(path)) return reasons.secret;
  const why = Object.hasOwn(closed, section) ? closed[section] : undefined;
  if (why !== undefined) return reasons[why];
  if (path.includes("media")) return reasons.programs;
  if (section === "channels")
    return second === "enabled" || everywhere.has(second ?? "") ? null : reasons.accounts;
  if (section === "session" && (first === undefined || first === "identityLinks"))
    return reasons.identity;
  if (section === "session" && first === "store") return reasons.machine;
  if (section !== "agents") return null;
  if (first === "defaults") return ofAgents.has(second ?? "") ? null : reasons.agents;
  return first === "list" && ofAgent.has(third ?? "") ? null : reasons.agents;
}

/** Parses a path as written in a room: names and list indexes separated by dots. */
export const overridePath = (text: string): Path => text.split(".");

function* placesIn(value: unknown, path: Path): Generator<Path> {
  yield path;
  if (typeof value !== "object" || value === null) return;
  for (const [name, below] of Object.entries(value)) yield* placesIn(below, [...path, name]);
}

/**
 * Checks a path and every path inside the value.
 * @throws EarshotError EAR_CONFIG_UNSAFE for a refused one.
 */
export function assertMayOverride(path: Path, value: unknown): void {
  for (const place of placesIn(value, path)) {
    const why = refusalOf(place);
    if (why !== null)
      throw new EarshotError(
        "EAR_CONFIG_UNSAFE",
        `Cannot set ${place.join(".").slice(0, 200)} from a room: ${why}`,
      );
  }
}

/**
 * The file's values with the overrides applied in order. Pure.
 * @throws EarshotError EAR_CONFIG_INVALID when the file has no such list entry.
 */
export function withChatOverrides(
  raw: unknown,
  overrides: readonly { readonly path: string; readonly value: unknown }[],
): unknown {
  return overrides.reduce((config, { path, value }) => {
    const steps = overridePath(path);
    return put(withAgents(config, steps), steps, value, path);
  }, raw);
}

/** A config without a list of agents has one agent, which can be overridden as if it were listed. */
function withAgents(config: unknown, [section, first, index]: Path): unknown {
  if (section !== "agents" || first !== "list" || index !== "0" || !isPlain(config)) return config;
  const { agents = {} } = config;
  return isPlain(agents) && agents.list === undefined
    ? { ...config, agents: { ...agents, list: onlyMain } }
    : config;
}

function put(holder: unknown, [name, ...rest]: Path, value: unknown, config: string): unknown {
  if (name === undefined) return value;
  if (Array.isArray(holder)) {
    const index = Number(name);
    if (!/^\d{1,4}$/u.test(name) || index >= holder.length) throw missing(config);
    return holder.map((entry, at) => (at === index ? put(entry, rest, value, config) : entry));
  }
  if (holder !== undefined && !isPlain(holder)) throw missing(config);
  const below = holder !== undefined && Object.hasOwn(holder, name) ? holder[name] : undefined;
  if (below === undefined && /^\d+$/u.test(rest[0] ?? "")) throw missing(config);
  return { ...holder, [name]: put(below, rest, value, config) };
}

const missing = (path: string) =>
  new EarshotError(
    "EAR_CONFIG_INVALID",
    `Cannot set ${path.slice(0, 200)}: the config file has no such entry`,
  );
