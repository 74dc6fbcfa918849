/**
 * Ports of a worker host
 * ======================
 * The outside as a worker thread sees it: agents and a clock, nothing else. Hosts import this
 * module by its URL on their first turn, so a thread that only decides never loads a driver.
 */
export { drivers } from "./agents/index.ts";
export { createSystemClock } from "./clock.ts";
