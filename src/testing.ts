/**
 * Test kit
 * ========
 * What the suite of this package is made of, for the tests of yours: generators of messages and ladder
 * inputs, the reference model of the ladder, and the contracts that agents and channels must keep. Needs
 * vitest and fast-check beside it; nothing here is loaded by the daemon.
 */
export { SimulatedClock } from "./actors/clock.ts";
export * from "./testing/agent-contract.ts";
export * from "./testing/arbitraries.ts";
export * from "./testing/channel-contract.ts";
export * from "./testing/channel-world.ts";
export * from "./testing/open-channel.ts";
export * from "./testing/reference-ladder.ts";
