/**
 * kill -9 in the middle of traffic, at random instants and at every named point, again and again on
 * the same state directory; and a process that stands still (SIGSTOP) for longer than any lock is
 * waited for. Afterwards everything acknowledged has its decision, every turn one
 * outcome, and no answer came twice unless it is marked in-doubt: suite.ts asserts it. EARSHOT_SEED
 * repeats a run's choices.
 */
import { describe } from "vitest";
import { crashContract } from "./suite.ts";

describe("a killed process with conversations on its main thread", () => crashContract(0));
