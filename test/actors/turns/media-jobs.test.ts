/**
 * How much is fetched and converted at a time, what is remembered, and when files are forgotten, on
 * a simulated clock.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SimulatedClock } from "../../../src/actors/simulation/simulated-clock.ts";
import { linksIn, parseAttachmentName } from "../../../src/actors/turns/attachment-names.ts";
import { createMedia } from "../../../src/actors/turns/media.ts";
import { createMediaJobs } from "../../../src/actors/turns/media-jobs.ts";
import { sha256 } from "../../../src/adapters/system/digest.ts";
import { parseConfig } from "../../../src/domain/config/index.ts";
import { limits } from "../../../src/domain/limits.ts";
import type { MediaService } from "../../../src/domain/ports/index.ts";
import { property } from "../../support/property.ts";

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Lets time pass, one timer after the other. */
async function pass(clock: SimulatedClock, ms: number): Promise<void> {
  const until = clock.now() + ms;
  await settle();
  for (let due = clock.nextDue(); due !== null && due <= until; due = clock.nextDue()) {
    clock.advanceTo(due);
    await settle();
  }
  clock.advanceTo(until);
  await settle();
}

const sleep = (clock: SimulatedClock, ms: number) =>
  new Promise<void>((resolve) => void clock.setTimer(clock.now() + ms, resolve));

describe("media jobs", () => {
  const jobs = fc.array(fc.record({ conv: fc.nat(5), ms: fc.integer({ min: 1, max: 500 }) }), {
    minLength: 1,
    maxLength: 60,
  });
  property([jobs], { numRuns: 50 })(
    "never more than a few at a time, fewer for one conversation, and every one is done",
    async (wanted) => {
      const clock = new SimulatedClock(0);
      const mediaService = createMediaJobs(clock);
      const running: number[] = [];
      let most = 0;
      let done = 0;
      wanted.forEach(({ conv, ms }, n) => {
        const work = async () => {
          running.push(conv);
          most = Math.max(most, running.length);
          const own = running.filter((one) => one === conv).length;
          expect(own).toBeLessThanOrEqual(limits.mediaJobsPerConversationMax);
          await sleep(clock, ms);
          running.splice(running.indexOf(conv), 1);
          return n;
        };
        void mediaService
          .run({ id: `${n}`, conv, msMax: 1_000, keep: () => true, work })
          .then((outcome) => {
            expect(outcome).toEqual({ found: n });
            done += 1;
          });
      });
      await pass(clock, 60 * 500);
      expect(done).toBe(wanted.length);
      expect(most).toBeLessThanOrEqual(limits.mediaJobsMax);
      // So that a pool that runs one after the other fails, too.
      const rooms = new Set(wanted.map(({ conv }) => conv)).size;
      if (rooms >= 2 && wanted.length >= 8) expect(most).toBeGreaterThan(1);
    },
  );

  test("the same thing is done once, at a time and afterwards; a failure can be tried again", async () => {
    const clock = new SimulatedClock(0);
    const jobs = createMediaJobs(clock);
    let tries = 0;
    const job = {
      id: "one",
      conv: 1,
      msMax: 1_000,
      keep: () => true,
      work: async () => {
        tries += 1;
        await sleep(clock, 10);
        if (tries === 1) throw new Error("broken");
        return "done";
      },
    };
    const both = Promise.all([jobs.run(job), jobs.run(job)]);
    await pass(clock, 10);
    expect(await both).toEqual([{ note: "broken" }, { note: "broken" }]);
    expect(await jobs.run(job)).toEqual({ note: "broken" });
    expect(tries).toBe(1);
    jobs.forget("one");
    const again = jobs.run(job);
    await pass(clock, 10);
    expect(await again).toEqual({ found: "done" });
    expect(tries).toBe(2);
  });

  test("one that takes too long is given up, told to stop, and makes room", async () => {
    const clock = new SimulatedClock(0);
    const jobs = createMediaJobs(clock);
    const stopped: string[] = [];
    const stuck = (id: string) =>
      jobs.run({
        id,
        conv: 1,
        msMax: 500,
        keep: () => true,
        work: (signal) =>
          new Promise<never>((_, reject) => {
            signal.addEventListener("abort", () => {
              stopped.push(id);
              reject(signal.reason);
            });
          }),
      });
    const outcomes = Promise.all(["a", "b", "c"].map(stuck));
    await pass(clock, 1_000);
    expect(await outcomes).toEqual(Array(3).fill({ note: "took longer than 500 ms" }));
    expect(stopped).toEqual(["a", "b", "c"]);
  });

  test("a flood is refused in words, and what waits is given up at the end", async () => {
    const clock = new SimulatedClock(0);
    const jobs = createMediaJobs(clock);
    const count = limits.mediaJobsWaitingMax + limits.mediaJobsMax + 100;
    const outcomes = Array.from({ length: count }, (_, n) =>
      jobs.run({
        id: `${n}`,
        conv: n,
        msMax: 60_000,
        keep: () => true,
        work: (signal) =>
          new Promise<never>((_resolve, reject) => {
            signal.addEventListener("abort", () => reject(signal.reason));
          }),
      }),
    );
    jobs.stop();
    const notes = (await Promise.all(outcomes)).map((one) => ("note" in one ? one.note : ""));
    expect(notes.filter((note) => note.startsWith("too much"))).toHaveLength(100);
    expect(notes.filter((note) => note.includes("stopping"))).toHaveLength(count - 100);
  });
});

describe("names and links", () => {
  property([fc.string()])("no other text is an attachment's name", (text) => {
    const found = parseAttachmentName(text);
    if (found !== null) expect(text).toBe(`a${found.seq}-${found.index}`);
  });
  test("a name is read back, and one with a sign, a blank or leading zeros is none", () => {
    expect(parseAttachmentName("a12-3")).toEqual({ seq: 12, index: 3 });
    for (const name of ["a-1-0", "a012-0", " a1-0", "a1-0\n", "a1", "a1-0-0", "A1-0", "a1e3-0"])
      expect(parseAttachmentName(name)).toBeNull();
  });
  test("links are found whole, each once, without the sentence around them", () => {
    const text =
      "see https://a.test/x?y=1#z, (http://b.test/) and [c](https://c.test/p_q). " +
      "https://a.test/x?y=1#z again; ftp://d.test javascript:alert(1) http:// https://e.test/ok!";
    expect(linksIn(1, text, 10, sha256).map(({ url }) => url)).toEqual([
      "https://a.test/x?y=1#z",
      "http://b.test/",
      "https://c.test/p_q",
      "https://e.test/ok",
    ]);
    expect(linksIn(1, text, 2, sha256)).toHaveLength(2);
  });
  test("a link belongs to its conversation: the same page is kept apart", () => {
    const [one] = linksIn(1, "https://a.test/", 1, sha256);
    const [other] = linksIn(2, "https://a.test/", 1, sha256);
    expect(one?.id).toMatch(/^[0-9a-f]{40}$/);
    expect(one?.id).not.toBe(other?.id);
  });
});

test("files are forgotten with the journal, now and then, and no more after the end", async () => {
  const clock = new SimulatedClock(1_000_000_000);
  const cleanups: [number, number][] = [];
  const media = createMedia({
    digest: sha256,
    clock,
    log: () => undefined,
    config: () => parseConfig({ media: { storeBytesMax: 2_000_000 } }),
    agentOf: () => "main",
    service: {
      async prune(before: number, bytesMax: number) {
        cleanups.push([clock.now() - before, bytesMax]);
        if (cleanups.length === 1) throw new Error("disk");
      },
    } as Partial<MediaService> as MediaService,
  });
  media.start();
  await pass(clock, 1_200_000);
  expect(cleanups).toEqual(Array(3).fill([172_800_000, 2_000_000]));
  media.stop();
  await pass(clock, 3_600_000);
  expect(cleanups).toHaveLength(3);
});
