/**
 * Test kit
 * ========
 * The parts of this package's own suite, for your tests: generators of rooms, messages and ladder
 * inputs, rules that are checked on generated rooms, a simulated world, the reference model, and the
 * contracts of agents and channels (docs/testing.md). Needs vitest and fast-check; the daemon loads
 * none of it.
 */
export { SimulatedClock } from "./actors/simulation/simulated-clock.ts";
export { type Simulated, type SimulateOptions, simulate } from "./daemon/replay/simulate.ts";
export * from "./testing/agent-contract.ts";
export * from "./testing/arbitraries.ts";
export * from "./testing/channel-contract.ts";
export * from "./testing/channel-world.ts";
export * from "./testing/labelled-rooms.ts";
export * from "./testing/open-channel.ts";
export * from "./testing/reference-ladder.ts";
export * from "./testing/reference-room.ts";
export * from "./testing/reference-run.ts";
export * from "./testing/room.ts";
export * from "./testing/room-arbitrary.ts";
export * from "./testing/room-line.ts";
export * from "./testing/room-run.ts";
export * from "./testing/room-text.ts";
export * from "./testing/rules.ts";
export * from "./testing/stream-lines.ts";
export * from "./testing/world.ts";
