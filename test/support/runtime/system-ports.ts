/** What a runtime gets from the machine it runs on, and a log that goes nowhere. */
import { createSystemClock } from "../../../src/adapters/system/clock.ts";
import { sha256 } from "../../../src/adapters/system/digest.ts";
import { createIds, createRandom } from "../../../src/adapters/system/ids.ts";

export const systemPorts = () => ({
  clock: createSystemClock(),
  ids: createIds(),
  random: createRandom(),
  digest: sha256,
  log: () => undefined,
});
