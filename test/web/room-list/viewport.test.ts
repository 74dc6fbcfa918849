/** Where the Rooms page looks: said with the stream, and by one question at a time after that. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { RoomsLook } from "../../../src/daemon/api-types/rooms.ts";
import { rowsAround, Viewport } from "../../../web/src/room-list/viewport.ts";
import { property } from "../../support/property.ts";

const first: RoomsLook = {
  filter: "all",
  find: "",
  from: 0,
  limit: 48,
  follow: true,
  sort: false,
  at: "",
};

/** A looker whose questions are answered when the test says so. */
function looked(given: Partial<RoomsLook> = {}) {
  const asked: { view: string; look: RoomsLook; answer: () => void }[] = [];
  const looker = new Viewport({
    first: { ...first, ...given },
    send: (view, look) => new Promise((answer) => asked.push({ view, look, answer })),
  });
  const answered = async () => {
    asked.at(-1)?.answer();
    await new Promise(setImmediate);
  };
  return { looker, asked, answered };
}
const queryOf = (path: string) => Object.fromEntries(new URL(path, "http://x").searchParams);

describe("where the page looks", () => {
  test("is said with the stream, and nothing is asked while that is all", () => {
    const { looker, asked } = looked({ at: "agent:main:webhook:group:a&b" });
    expect(queryOf(looker.path())).toEqual({
      filter: "all",
      find: "",
      from: "0",
      limit: "48",
      follow: "1",
      sort: "0",
      at: "agent:main:webhook:group:a&b",
    });
    looker.opened("v1");
    looker.look({ from: 0 });
    expect(asked).toEqual([]);
    // A room to begin with is one to begin with: not again on the next connection.
    expect(queryOf(looker.path()).at).toBe("");
  });

  test("is asked one at a time, and of what was wanted meanwhile only the newest", async () => {
    const { looker, asked, answered } = looked();
    looker.path();
    looker.opened("v1");
    for (let from = 24; from <= 240; from += 24) looker.look({ from });
    expect(asked.map(({ look }) => look.from)).toEqual([24]);
    await answered();
    expect(asked.map(({ look }) => look.from)).toEqual([24, 240]);
    await answered();
    expect(asked).toHaveLength(2);
    expect(asked.every(({ view }) => view === "v1")).toBe(true);
  });

  test("is sent to a stream that opened with something older", async () => {
    const { looker, asked } = looked();
    looker.path();
    looker.look({ find: "kit" });
    expect(asked).toEqual([]);
    looker.opened("v1");
    expect(asked.map(({ look }) => look.find)).toEqual(["kit"]);
  });

  test("is not asked of a stream that is lost, but said with the next one", async () => {
    const { looker, asked, answered } = looked();
    looker.path();
    looker.opened("v1");
    looker.look({ filter: "engaged" });
    looker.look({ find: "kit" });
    expect(queryOf(looker.path())).toMatchObject({ filter: "engaged", find: "kit" });
    await answered();
    looker.opened("v2");
    expect(asked).toHaveLength(1);
  });

  test("is where the daemon found a room, until the page looks elsewhere", async () => {
    const { looker, asked } = looked({ at: "agent:main:webhook:group:far" });
    looker.path();
    looker.opened("v1");
    looker.placed(380);
    expect(asked).toEqual([]);
    looker.look({ follow: false });
    expect(asked.map(({ look }) => [look.from, look.follow])).toEqual([[380, false]]);
    expect(queryOf(looker.path()).from).toBe("380");
  });

  test("is ordered once for each time that was wanted", async () => {
    const { looker, asked, answered } = looked();
    looker.path();
    looker.opened("v1");
    looker.look({ sort: true });
    looker.look({ from: 24 });
    await answered();
    await answered();
    looker.look({ sort: true });
    expect(asked.map(({ look }) => look.sort)).toEqual([true, false, true]);
  });
});

property([
  fc.integer({ min: 0, max: 10_000 }),
  fc.integer({ min: 1, max: 120 }),
  fc.integer({ min: 0, max: 23 }),
])("rows around a window hold it, and a short scroll asks for no others", (first, count, by) => {
  const { from, limit } = rowsAround(first, first + count, 200);
  expect(from).toBeLessThanOrEqual(first);
  expect(from + limit).toBeGreaterThanOrEqual(first + count);
  expect(limit).toBeLessThanOrEqual(200);
  // What is on the screen after it was there before.
  expect(from + limit).toBeGreaterThanOrEqual(first + count + by);
});
