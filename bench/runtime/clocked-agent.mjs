// An agent whose answer ends in the moment it said it, in nanoseconds of the process's own clock, so
// that the receiver of the answer on another thread knows how long it was under way. Plain
// JavaScript: worker hosts of the built code load it as it is.
import { z } from "zod";

// Named in our address, as threads do not get the environment; otherwise this checkout's own.
const dist =
  new URL(import.meta.url).searchParams.get("dist") ?? new URL("../../dist/", import.meta.url).href;
export const { createSystemClock } = await import(`${dist}adapters/system/clock.js`);

const words = "a few words that come one after the other ".split(/(?<= )/);

const clocked = {
  kind: "clocked",
  configSchema: z.looseObject({}),
  open: () => ({
    capabilities: { steer: false, tools: false, images: false },
    async *run() {
      for (const text of words) yield { type: "text", text };
      yield { type: "text", text: String(process.hrtime.bigint()) };
    },
  }),
};
export const drivers = new Map([["clocked", clocked]]);
