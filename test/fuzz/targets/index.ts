/** Every parser that is fuzzed, by name. */
import type { Target } from "../harness/target.ts";
import { decryptedTargets } from "./decrypted.ts";
import { fileTargets } from "./files.ts";
import { postedTargets } from "./posted.ts";
import { streamedTargets } from "./streamed.ts";

export const targets: readonly Target[] = [
  ...fileTargets,
  ...postedTargets,
  ...streamedTargets,
  ...decryptedTargets,
];
