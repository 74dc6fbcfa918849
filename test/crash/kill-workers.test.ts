/** The same kills as in kill.test.ts, with conversations and turns in a worker host. */
import { describe } from "vitest";
import { crashContract } from "./suite.ts";

describe("a killed process with conversations in a worker", () => crashContract(1));
