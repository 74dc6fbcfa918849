/**
 * kill -9 of the built daemon in the middle of a load over HTTP, again and again on one state directory.
 * What was not answered is said again to the next start. Afterwards everything accepted was decided once,
 * every turn has one outcome, and no answer came twice unless it was in doubt. The judge is check.ts.
 */
import { setTimeout as passed } from "node:timers/promises";
import fc from "fast-check";
import { expect } from "vitest";
import { property } from "../support/property.ts";
import { rounds } from "../support/rounds.ts";
import { violations } from "./check.ts";
import {
  atRest,
  end,
  openPlatform,
  start,
  startHere,
  stateDirFor,
  Talk,
  underWay,
  unsettled,
} from "./http-daemon.ts";

/** After how many more accepted messages it is killed, and how much later, ms. */
const kills = fc.array(fc.tuple(fc.integer({ min: 1, max: 120 }), fc.nat(30)), {
  minLength: rounds(1, 2),
  maxLength: rounds(1, 6),
});

property([kills], { numRuns: rounds(1, 6), endOnFailure: true })(
  "kill -9 under load over HTTP breaks no promise about what was accepted",
  async (instants) => {
    const platform = await openPlatform();
    const stateDir = stateDirFor(platform.url);
    let daemon = await start(stateDir);
    const talk = new Talk(daemon);
    for (const [more, laterMs] of instants) {
      await talk.accepted(talk.acked.size + more);
      await passed(laterMs);
      expect(await end(daemon, "SIGKILL")).toBe("SIGKILL");
      daemon = await start(stateDir);
      await talk.goOn(daemon);
    }
    await talk.accepted(talk.acked.size + 12);
    expect(await end(daemon)).toBe(0);
    await talk.goOn(null);
    const last = await startHere(stateDir);
    // It is ready before it has begun with what the one before left.
    const answered = () => platform.received.map(({ text }) => text).join("\n");
    let open = [...talk.acked];
    const left = async () => {
      const said = answered();
      open = await unsettled(
        last,
        open.filter((id) => !said.includes(id)),
      );
      return open.length + (await underWay(last));
    };
    await expect.poll(left, { timeout: 120_000, interval: 100 }).toBe(0);
    await last.stop();
    platform.close();
    const { received } = platform;
    const { acked } = talk;
    const found = await atRest(stateDir, (store) => violations(store, { acked, received }));
    expect(found).toEqual([]);
  },
);
