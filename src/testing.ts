/**
 * Test kit
 * ========
 * What the suite of this package is made of, for the tests of yours: generators of messages and
 * ladder inputs, the reference model of the ladder, a simulated world to run scenarios in, and the
 * contracts that agents and channels must keep. Needs vitest and fast-check beside it; the daemon
 * loads none of it.
 */
export { SimulatedClock } from "./actors/clock.ts";
export { type Simulated, type SimulateOptions, simulate } from "./daemon/simulate.ts";
export * from "./testing/agent-contract.ts";
export * from "./testing/arbitraries.ts";
export * from "./testing/channel-contract.ts";
export * from "./testing/channel-world.ts";
export * from "./testing/open-channel.ts";
export * from "./testing/reference-ladder.ts";
