/** An event stream as one reader has it: in order, cut off when slow, ended once. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createSystemClock } from "../../../src/adapters/system/clock.ts";
import { createSse } from "../../../src/daemon/http/sse.ts";

function open(queueUnitsMax = 1_000) {
  const calls = { slow: [] as number[], ends: 0 };
  const sse = createSse({
    clock: createSystemClock(),
    queueUnitsMax,
    stillAllowed: async () => true,
    onSlow: (units) => calls.slow.push(units),
    onEnd: () => {
      calls.ends += 1;
    },
  });
  const reader = sse.body.getReader();
  const decoder = new TextDecoder();
  const read = async () => decoder.decode((await reader.read()).value);
  return { sse, reader, read, calls };
}

test("what is put is read in order, several events at once where they waited", async () => {
  const { sse, reader, read, calls } = open();
  expect(await read()).toBe("retry: 1000\n\n");
  sse.put("one");
  sse.put("two");
  expect(await read()).toBe("data: one\n\ndata: two\n\n");
  const next = read();
  sse.put("three");
  expect(await next).toBe("data: three\n\n");
  await reader.cancel();
  expect(calls).toEqual({ slow: [], ends: 1 });
});

test("a reader that takes nothing is let go, and what comes later costs nothing", async () => {
  const { sse, reader, calls } = open(100);
  for (let n = 0; n < 50; n += 1) sse.put("x".repeat(20));
  expect(calls.slow).toHaveLength(1);
  expect(calls.ends).toBe(1);
  expect((await reader.read()).done).toBe(true);
  sse.put("after the end");
  expect(calls).toMatchObject({ ends: 1 });
});

test("a reader that keeps up is never let go, however much is calls", async () => {
  const { sse, reader, read, calls } = open(100);
  for (let n = 0; n < 200; n += 1) {
    sse.put("x".repeat(60));
    await read();
  }
  await sleep(0);
  expect(calls).toEqual({ slow: [], ends: 0 });
  await reader.cancel();
});

test("it is idle whenever all that was put was taken, from the beginning", async () => {
  const { sse, reader, read } = open();
  expect(sse.idle()).toBe(true);
  sse.put("one");
  expect(sse.idle()).toBe(false);
  expect(await read()).toContain("data: one\n\n");
  expect(sse.idle()).toBe(true);
  sse.put("two");
  expect(sse.idle()).toBe(false);
  await read();
  expect(sse.idle()).toBe(true);
  await reader.cancel();
});
