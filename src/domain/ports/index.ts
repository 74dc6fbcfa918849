/**
 * The only interfaces between the runtime and the outside. Actors receive them; adapters, tests and
 * the simulation implement them. Time, randomness, ids, disk and network enter here and nowhere
 * else.
 */
export * from "./agent.ts";
export * from "./agent-failure.ts";
export * from "./channel.ts";
export * from "./daemon-control.ts";
export * from "./engine/connection-leases.ts";
export * from "./engine/numbers.ts";
export * from "./hook.ts";
export * from "./inspector.ts";
export * from "./media.ts";
export * from "./outgoing-files.ts";
export * from "./plugin.ts";
export * from "./row-mirror.ts";
export * from "./search-index.ts";
export * from "./session-files.ts";
export * from "./skill.ts";
export * from "./store.ts";
export * from "./system.ts";
export * from "./workspace.ts";
