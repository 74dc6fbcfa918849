/**
 * Test kit
 * ========
 * What the suite of this package is made of, for the tests of yours: generators of rooms, messages
 * and ladder inputs, rules to hold against played rooms, a simulated world to walk about in, the
 * reference model, and the contracts that agents and channels must keep (docs/testing.md). Needs
 * vitest and fast-check beside it; the daemon loads none of it.
 */
export { SimulatedClock } from "./actors/simulation/simulated-clock.ts";
export { type Simulated, type SimulateOptions, simulate } from "./daemon/replay/simulate.ts";
export * from "./testing/agent-contract.ts";
export * from "./testing/arbitraries.ts";
export * from "./testing/channel-contract.ts";
export * from "./testing/channel-world.ts";
export * from "./testing/open-channel.ts";
export * from "./testing/reference-ladder.ts";
export * from "./testing/reference-room.ts";
export * from "./testing/reference-run.ts";
export * from "./testing/room.ts";
export * from "./testing/room-arbitrary.ts";
export * from "./testing/room-run.ts";
export * from "./testing/room-words.ts";
export * from "./testing/rules.ts";
export * from "./testing/stream-lines.ts";
export * from "./testing/world.ts";
