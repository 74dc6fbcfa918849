/**
 * SIGTERM in the middle of a load: the built daemon drains, and ends with nothing in doubt. After the next
 * start every accepted message is decided and answered once, and every turn has one outcome. The judge is
 * that of the crashes (check.ts), and the config is theirs.
 */
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
} from "./http-daemon.ts";

property([fc.integer({ min: 1, max: 300 })], { numRuns: rounds(1, 6), endOnFailure: true })(
  "SIGTERM under load leaves nothing in doubt, and after the next start everything accepted is answered once",
  async (acceptedFirst) => {
    const platform = await openPlatform();
    const stateDir = stateDirFor(platform.url);
    const first = await start(stateDir);
    const talk = new Talk(first);
    await talk.accepted(acceptedFirst);
    expect(await end(first)).toBe(0);
    await talk.goOn(null);
    const { acked, refused } = talk;
    await atRest(stateDir, async (store) => {
      const states = (await store.outboxOpen()).map(({ state }) => state);
      expect(states.filter((state) => state !== "pending")).toEqual([]);
    });

    const second = await startHere(stateDir);
    const texts = () => platform.received.map(({ text }) => text).join("\n");
    const unanswered = async () => {
      const said = texts();
      return [...acked].filter((id) => !said.includes(id)).length + (await underWay(second));
    };
    await expect.poll(unanswered, { timeout: 120_000, interval: 100 }).toBe(0);
    await second.stop();
    platform.close();
    const { received } = platform;
    const found = await atRest(stateDir, (store) => violations(store, { acked, received }));
    expect(found).toEqual([]);
    const inDoubt = await atRest(stateDir, (store) => store.outboxByState(["in-doubt"], 10));
    expect(inDoubt).toEqual([]);
    expect([...refused].filter((id) => texts().includes(id))).toEqual([]);
    const ids = received.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  },
);
