/** Every parser that is fuzzed, by name. */
import type { Target } from "../harness/target.ts";
import { decryptedTargets } from "./decrypted.ts";
import { fileTargets } from "./files.ts";
import { postedTargets } from "./posted.ts";
import { signedTargets } from "./signed.ts";
import { streamedTargets } from "./streamed.ts";

export const targets: readonly Target[] = [
  ...fileTargets,
  ...postedTargets,
  ...signedTargets,
  ...streamedTargets,
  ...decryptedTargets,
];
