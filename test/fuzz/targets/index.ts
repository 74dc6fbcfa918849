/** Every parser that is fuzzed, by name. */
import type { Target } from "../harness/target.ts";
import { fileTargets } from "./files.ts";

export const targets: readonly Target[] = [...fileTargets];
