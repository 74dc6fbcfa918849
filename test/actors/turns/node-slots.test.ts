/**
 * Turn slots that several runtimes of a node share: together they never have more than the node may, each gets its own,
 * and what one gives back another one gets.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { createNodeSlots } from "../../../src/actors/turns/node-slots.ts";

const request = (conv: number, agentId = "main") => ({ conv, key: `k${conv}`, agentId });

test("a limit counts over all runtimes, and who waits elsewhere gets what is given back", () => {
  const granted: string[] = [];
  const node = createNodeSlots({ slots: () => 10, agentSlots: () => 2 });
  const [one, two] = ["one", "two"].map((name) =>
    node.join(({ conv }) => granted.push(`${name} ${conv}`)),
  ) as [ReturnType<typeof node.join>, ReturnType<typeof node.join>];
  one.request(request(1));
  two.request(request(2));
  two.request(request(3));
  expect(two.takeFree(request(4))).toBe(false);
  expect(granted).toEqual(["one 1", "two 2"]);
  expect([one.running(), one.waiting(), two.running(), two.waiting()]).toEqual([1, 0, 1, 1]);
  one.release(1);
  expect(granted).toEqual(["one 1", "two 2", "two 3"]);
  two.leave();
  expect(one.takeFree(request(5))).toBe(true);
});

test("a runtime that ends gives back its own, and not what the conversation has again", () => {
  const granted: string[] = [];
  const node = createNodeSlots({ slots: () => 1, agentSlots: () => 9 });
  const before = node.join(() => granted.push("before"));
  before.request(request(1));
  const after = node.join(() => granted.push("after"));
  after.request(request(1));
  expect(granted).toEqual(["before"]);
  before.leave();
  expect(granted).toEqual(["before", "after"]);
  before.release(1);
  expect([before.running(), after.running()]).toEqual([0, 1]);
});

test("a parked runtime gets nothing more, and holds nobody up", () => {
  const granted: string[] = [];
  const node = createNodeSlots({ slots: () => 1, agentSlots: () => 9 });
  const parked = node.join(() => granted.push("parked"));
  const other = node.join(({ conv }) => granted.push(`other ${conv}`));
  other.request(request(1));
  parked.request(request(2));
  other.request(request(3));
  parked.park();
  parked.request(request(4));
  other.release(1);
  expect(granted).toEqual(["other 1", "other 3"]);
  expect(parked.waiting()).toBe(2);
});

test("never more than the node may, and everybody is served in the end", () => {
  const step = fc.record({
    runtime: fc.nat(3),
    conv: fc.nat(5),
    agent: fc.nat(2),
    does: fc.constantFrom("request", "release", "occupy", "takeFree"),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const slots = 4;
      const ofAgent = 2;
      /** What runs, by runtime and conversation; those that were there before count above the limit. */
      const runs = new Map<string, { agent: string; forced: boolean }>();
      const asked = new Set<string>();
      const node = createNodeSlots({ slots: () => slots, agentSlots: () => ofAgent });
      const check = () => {
        const free = [...runs.values()].filter(({ forced }) => !forced);
        if (runs.size === free.length) expect(runs.size).toBeLessThanOrEqual(slots);
      };
      const joined = [0, 1, 2, 3].map((runtime) =>
        node.join(({ conv, agentId }) => {
          runs.set(`${runtime} ${conv}`, { agent: agentId, forced: false });
          const same = [...runs.values()].filter(({ agent }) => agent === agentId);
          if (same.every(({ forced }) => !forced)) expect(same.length).toBeLessThanOrEqual(ofAgent);
          check();
        }),
      );
      for (const { runtime, conv, agent, does } of steps) {
        const own = joined[runtime] as (typeof joined)[number];
        const name = `${runtime} ${conv}`;
        const wanted = request(conv, `a${agent}`);
        if (does === "release") {
          runs.delete(name);
          asked.delete(name);
          own.release(conv);
        } else if (does === "occupy") {
          if (!asked.has(name)) runs.set(name, { agent: wanted.agentId, forced: true });
          else if (!runs.has(name)) continue;
          asked.add(name);
          own.occupy(wanted);
        } else if (does === "request") {
          asked.add(name);
          own.request(wanted);
        } else if (!asked.has(name) && own.takeFree(wanted)) {
          asked.add(name);
          runs.set(name, { agent: wanted.agentId, forced: false });
          check();
        }
        const running = joined.reduce((sum, one) => sum + one.running(), 0);
        expect(running).toBe(runs.size);
        expect(joined.reduce((sum, one) => sum + one.waiting(), 0)).toBe(asked.size - runs.size);
      }
      // Everybody who waits is served as the others end.
      const served = new Set(runs.keys());
      for (let left = asked.size; left > 0; left -= 1) {
        const [name = ""] = runs.keys();
        const [runtime = "", conv = ""] = name.split(" ");
        runs.delete(name);
        joined[Number(runtime)]?.release(Number(conv));
        for (const one of runs.keys()) served.add(one);
      }
      expect(served).toEqual(asked);
    }),
  );
});
