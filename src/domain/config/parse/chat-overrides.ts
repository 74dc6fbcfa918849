/**
 * Values said in a room
 * =====================
 * What an owner may put over the config file with `/config set` and `/debug set`. A room is a place
 * where somebody else may one day sit at an owner's keyboard: what decides who an owner is, what
 * runs on the machine, and where secrets go is refused, whoever asks (docs/reference/commands.md
 * has the list).
 */
import { EarshotError } from "../../errors.ts";
import { overrideFields } from "../conversation/overrides.ts";
import { isPlain } from "./overlay.ts";
import { isSecretPath } from "./secrets.ts";

type Path = readonly string[];

const partsMax = 12;
const everywhere = new Set(Object.keys(overrideFields).filter((name) => name !== "media"));
const ofAgents = new Set([...everywhere, "maxConcurrent", "contextTokens", "thinking"]);
const ofAgent = new Set([...ofAgents, "name", "aliases", "system"]);
const forbidden = new Set(["__proto__", "constructor", "prototype"]);

const reasons = {
  secret: "secrets are not said in rooms: write them into the file or the environment",
  people: "who may speak and give orders is not decided here: use /allowlist, or the file",
  machine: "that is decided by whoever runs the machine, in the file",
  programs: "it may name programs to run: that stands in the file only",
  accounts: "accounts and lists of channels stand in the file only",
  agents: "which program or model answers, and in which folder, stands in the file only",
  identity: "who is the same person is not decided here",
  name: "that is no name in a config",
} as const;

/** Sections of which nothing may be said. */
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

/** Why nothing may be said at this place; null: it may. */
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

/** A place as it is written in a room: names and numbers of list entries with dots between. */
export const overridePath = (text: string): Path => text.split(".");

function* placesIn(value: unknown, path: Path): Generator<Path> {
  yield path;
  if (typeof value !== "object" || value === null) return;
  for (const [name, below] of Object.entries(value)) yield* placesIn(below, [...path, name]);
}

/** @throws EarshotError EAR_CONFIG_UNSAFE where the place, or one inside the value, is refused. */
export function assertMayOverride(path: Path, value: unknown): void {
  for (const place of placesIn(value, path)) {
    const why = refusalOf(place);
    if (why !== null)
      throw new EarshotError(
        "EAR_CONFIG_UNSAFE",
        `Cannot set ${place.join(".").slice(0, 200)} from a room as ${why}`,
      );
  }
}

/**
 * The file's values with those that were said over them, in order. Nothing is changed in place.
 * @throws EarshotError EAR_CONFIG_INVALID where the file has no such list entry.
 */
export function withChatOverrides(
  raw: unknown,
  said: readonly { readonly path: string; readonly value: unknown }[],
): unknown {
  return said.reduce((whole, { path, value }) => put(whole, overridePath(path), value, path), raw);
}

function put(holder: unknown, [name, ...rest]: Path, value: unknown, whole: string): unknown {
  if (name === undefined) return value;
  if (Array.isArray(holder)) {
    const index = Number(name);
    if (!/^\d{1,4}$/u.test(name) || index >= holder.length) throw missing(whole);
    return holder.map((one, at) => (at === index ? put(one, rest, value, whole) : one));
  }
  if (holder !== undefined && !isPlain(holder)) throw missing(whole);
  const below = holder !== undefined && Object.hasOwn(holder, name) ? holder[name] : undefined;
  if (below === undefined && /^\d+$/u.test(rest[0] ?? "")) throw missing(whole);
  return { ...holder, [name]: put(below, rest, value, whole) };
}

const missing = (path: string) =>
  new EarshotError(
    "EAR_CONFIG_INVALID",
    `Cannot set ${path.slice(0, 200)} as the config file has no such entry`,
  );
