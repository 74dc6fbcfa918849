/** One emitter: in the order of its listeners, at no cost without any, and past one that throws. */
import { expect, test } from "vitest";
import { createRuntimeEvents } from "../../../src/actors/protocol/runtime-events.ts";

const line = { t: 1, system: "store", working: true } as const;

test("every listener hears an event, in the order they were added", () => {
  const heard: string[] = [];
  const { emit, add } = createRuntimeEvents(() => undefined, { line: () => heard.push("first") });
  add({ line: () => heard.push("second"), changed: (conv) => heard.push(`room ${conv}`) });
  emit.line?.(line);
  emit.changed?.(7);
  expect(heard).toEqual(["first", "second", "room 7"]);
});

test("an event that nobody listens to has no caller, before and after", () => {
  const { emit, add } = createRuntimeEvents(() => undefined);
  expect(emit.line).toBeUndefined();
  const off = add({ line: () => undefined });
  expect(emit.line).toBeDefined();
  expect(emit.decided).toBeUndefined();
  off();
  expect(emit.line).toBeUndefined();
});

test("a listener that throws is taken off and logged, and the others hear on", () => {
  const logged: string[] = [];
  const heard: number[] = [];
  const bad = () => {
    heard.push(0);
    throw new Error("full");
  };
  const first = { changed: bad, line: bad };
  const log = (_level: string, event: string) => void logged.push(event);
  const { emit } = createRuntimeEvents(log, first, { changed: (conv) => heard.push(conv) });
  emit.changed?.(1);
  emit.changed?.(2);
  emit.line?.(line);
  expect(heard).toEqual([0, 1, 2]);
  expect(logged).toEqual(["events.listener-failed"]);
});

test("one that is taken off while an event is told misses nothing that others hear", () => {
  const heard: string[] = [];
  const events = createRuntimeEvents(() => undefined);
  const off = events.add({
    line: () => {
      heard.push("once");
      off();
    },
  });
  events.add({ line: () => heard.push("always") });
  events.emit.line?.(line);
  events.emit.line?.(line);
  expect(heard).toEqual(["once", "always", "always"]);
});
