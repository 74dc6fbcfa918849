/**
 * The list of rooms through a real daemon: what its page receives, live and after a restart.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { RoomRow, RoomsFrame, RoomsPageAnswer } from "../../../src/daemon/api-types/rooms.ts";
import { type Daemon, startDaemon } from "../../../src/daemon/daemon.ts";

// A turn gathers for longer than the list waits with its news, also where the machine is busy.
const config = `{
  messages: { inbound: { debounceMs: 2000 } },
  agents: { list: [{ id: "main", name: "Scout", driver: { kind: "guide" } }] },
  channels: { webhook: {} },
}`;

let stateDir: string;
let daemon: Daemon;
const start = () => startDaemon({ stateDir, port: 0, workers: 0, logLevel: "fatal", env: {} });

beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), "earshot-rooms-"));
  await writeFile(join(stateDir, "earshot.json5"), config, { mode: 0o600 });
  daemon = await start();
});
afterEach(async () => {
  await daemon.stop({ drainMs: 0 });
  await rm(stateDir, { recursive: true, force: true });
});

const asking = () => ({ authorization: `Bearer ${daemon.token}` });
const get = async (path: string) => {
  const response = await fetch(`${daemon.base}${path}`, { headers: asking() });
  return { status: response.status, body: (await response.json()) as RoomsPageAnswer };
};

let count = 0;
async function say(chat: string, author: string, text: string, more: object = {}): Promise<void> {
  count += 1;
  const response = await fetch(`${daemon.base}/api/inbound?wait=decision`, {
    method: "POST",
    headers: { ...asking(), "content-type": "application/json" },
    body: JSON.stringify({
      channel: "webhook",
      chat: { id: chat, kind: "group", title: `#${chat}` },
      id: `m${count}`,
      author: { id: author.toLowerCase(), name: author },
      text,
      // Aimed at somebody else, so that it is overheard.
      mentions: [{ id: "zoe" }],
      ...more,
    }),
  });
  expect(response.status).toBe(200);
}

/** Reads frames until one is as wanted. */
async function* frames(query = ""): AsyncGenerator<RoomsFrame> {
  const stop = new AbortController();
  const headers = asking();
  const path = `${daemon.base}/api/rooms/live?${query}`;
  const { body } = await fetch(path, { headers, signal: stop.signal });
  let rest = "";
  const decoder = new TextDecoder();
  try {
    for await (const bytes of body as unknown as AsyncIterable<Uint8Array>) {
      const parts = (rest + decoder.decode(bytes, { stream: true })).split("\n\n");
      rest = parts.pop() ?? "";
      for (const part of parts)
        if (part.startsWith("data: ")) yield JSON.parse(part.slice(6)) as RoomsFrame;
    }
  } finally {
    stop.abort();
  }
}

async function until(
  stream: AsyncGenerator<RoomsFrame>,
  wanted: (row: RoomRow) => boolean,
): Promise<RoomRow> {
  for (;;) {
    const { value, done } = await stream.next();
    if (done === true) throw new Error("the stream ended");
    const found = "rows" in value ? value.rows.find(wanted) : undefined;
    if (found !== undefined) return found;
  }
}

const mention = { mentions: [{ id: "self", isSelf: true }] };

test("a row tells who was there, what was decided and how the room stands", async () => {
  await say("garden", "Ann", "the beans are up");
  await say("garden", "Bo", "so are mine");
  await say("garden", "Pip", "beep", { author: { id: "pip", name: "Pip", isBot: true } });
  const { body } = await get("/api/rooms");
  expect(body.counts).toEqual({ live: 1, asleep: 0 });
  expect(body.rooms).toHaveLength(1);
  expect(body.rooms[0]).toMatchObject({
    key: "agent:main:webhook:group:garden",
    channel: "webhook",
    title: "#garden",
    place: "group:garden",
    state: "observing",
    humans: 2,
    bots: 1,
    guard: "clear",
    recent: "ooo",
    queued: 0,
    credits: [],
    last: { decision: "observe", author: "Pip", text: "beep" },
    faces: [
      { name: "Bo", bot: false },
      { name: "Ann", bot: false },
      { name: "Pip", bot: true },
    ],
  });
});

test("a room keeps the title it was told last, also over a restart", async () => {
  const plain = { chat: { id: "garden", kind: "group" } };
  const titled = (title: string) => ({ chat: { ...plain.chat, title } });
  const title = async () => (await get("/api/rooms")).body.rooms[0]?.title;
  await say("garden", "Ann", "the beans are up", plain);
  expect(await title()).toBe("garden");
  await say("garden", "Bo", "so are mine", titled("Green thumbs"));
  await say("garden", "Ann", "good", plain);
  expect(await title()).toBe("Green thumbs");
  for (let n = 0; n < 10; n += 1) await say("garden", "Ann", "and good again", plain);
  const key = encodeURIComponent("agent:main:webhook:group:garden");
  expect((await get(`/api/rooms/${key}`)).body).toMatchObject({ title: "Green thumbs" });
  await say("garden", "Ann", "we have a new name", titled("Beans"));
  await say("garden", "Ann", "do we", plain);
  expect(await title()).toBe("Beans");
  await daemon.stop({ drainMs: 0 });
  daemon = await start();
  await say("garden", "Bo", "still", plain);
  expect(await title()).toBe("Beans");
});

test("the stream follows a turn from gathering to its credit", async () => {
  const stream = frames();
  // It is read from the first word on: the turn may be over soon.
  await stream.next();
  await say("garden", "Ann", "hm");
  await say("garden", "Bo", "Scout, are you there?", mention);
  const engaged = await until(stream, ({ state }) => state !== "observing" && state !== "asleep");
  expect(engaged.recent).toBe("oe");
  const answered = await until(
    stream,
    ({ state, credits }) => state === "observing" && credits.length === 1,
  );
  expect(answered.credits[0]).toBeGreaterThan(Date.now());
  expect(answered.last).toMatchObject({ decision: "engage", rule: "mention", author: "Bo" });
  for await (const frame of stream) {
    if (frame.type !== "now" || frame.pulse.firstWordsMsP50 === null) continue;
    expect(frame.counts).toEqual({ live: 1, asleep: 0 });
    expect(frame.pulse.engagedPercent).toBe(50);
    break;
  }
  await stream.return(undefined);
});

test("an edit shows its words, and a deletion that it was one", async () => {
  await say("garden", "Ann", "the beens are up");
  const place = {
    channel: "webhook",
    account: "default",
    chat: { id: "garden", kind: "group" },
  } as const;
  const id = `m${count}`;
  const text = "the beans are up";
  const edit = { ...place, thread: null, id, text } as const;
  await daemon.runtime.ingest("webhook", "default", [{ type: "edit", edit: edit }]);
  const stream = frames();
  const edited = await until(stream, ({ last }) => last?.text === text);
  expect(edited.last?.author).toBe("Ann");
  const deletion = { ...place, thread: null, id } as const;
  await daemon.runtime.ingest("webhook", "default", [{ type: "delete", deletion }]);
  const deleted = await until(stream, ({ last }) => last?.text === null);
  expect(deleted.recent).toBe("o");
  await stream.return(undefined);
  await daemon.stop({ drainMs: 0 });
  daemon = await start();
  expect((await get("/api/rooms")).body.rooms[0]?.last?.text).toBeNull();
});

test("a room that is put away is told to be asleep", async () => {
  await say("garden", "Ann", "good night");
  const stream = frames();
  await until(stream, ({ state }) => state === "observing");
  await daemon.runtime.passivateAll();
  const asleep = await until(stream, ({ state }) => state === "asleep");
  expect(asleep.title).toBe("#garden");
  await stream.return(undefined);
});

test("after a restart rooms are there before anyone speaks, asleep, with what was said", async () => {
  await say("garden", "Ann", "before the night");
  await say("shed", "Bo", "good night");
  await daemon.stop({ drainMs: 0 });
  daemon = await start();
  const { body } = await get("/api/rooms");
  expect(body.counts).toEqual({ live: 0, asleep: 2 });
  expect(body.rooms.map(({ title, state, recent }) => [title, state, recent])).toEqual([
    ["#shed", "asleep", "o"],
    ["#garden", "asleep", "o"],
  ]);
  await say("garden", "Ann", "good morning");
  const again = await get("/api/rooms");
  expect(again.body.rooms[0]).toMatchObject({ title: "#garden", state: "observing", recent: "oo" });
  expect(again.body.counts).toEqual({ live: 1, asleep: 1 });
});

test("a page ends where it was asked to, and a search finds rooms by name, person and rule", async () => {
  for (const chat of ["one", "two", "three"]) await say(chat, "Ann", "hello");
  await say("three", "Kit", "hello too");
  const first = await get("/api/rooms?limit=2");
  expect(first.body.rooms.map(({ title }) => title)).toEqual(["#three", "#two"]);
  const second = await get(`/api/rooms?limit=2&from=${first.body.next}`);
  expect(second.body.rooms.map(({ title }) => title)).toEqual(["#one"]);
  expect(second.body.next).toBeNull();
  const titles = async (query: string) =>
    (await get(`/api/rooms?${query}`)).body.rooms.map(({ title }) => title);
  expect(await titles("find=KIT")).toEqual(["#three"]);
  expect(await titles("find=two%20observe")).toEqual(["#two"]);
  expect(await titles("state=running")).toEqual([]);
  expect((await get("/api/rooms?state=loud")).status).toBe(400);
  expect((await get("/api/rooms?limit=-1")).status).toBe(400);
});

test("hostile names and words reach a row as one harmless line", async () => {
  await say("garden", "A\u202enn\u0007", `first\n\u001b[2Jsecond ${"x".repeat(400)}`);
  const { body } = await get("/api/rooms");
  expect(body.rooms[0]?.last?.author).toBe("Ann");
  expect(body.rooms[0]?.last?.text).toMatch(/^first \[2Jsecond x+…$/);
  expect(body.rooms[0]?.last?.text?.length).toBeLessThanOrEqual(160);
});

/** Frames of a stream with this query, and the name it goes by. */
async function looking(query: string) {
  const stream = frames(query);
  const { value } = await stream.next();
  if (value?.type !== "open") throw new Error("the stream did not begin with its name");
  const look = async (body: object) => {
    const response = await fetch(`${daemon.base}/api/rooms/live/${value.view}`, {
      method: "POST",
      headers: { ...asking(), "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return response.status;
  };
  const titles = async () => {
    for (;;) {
      const { value: frame, done } = await stream.next();
      if (done === true) throw new Error("the stream ended");
      if (frame.type === "window")
        return { ...frame, titles: frame.rows.map(({ title }) => title) };
    }
  };
  return { stream, look, titles };
}

test("a page is told the rows it looks at, and others once it looks elsewhere", async () => {
  for (const chat of ["one", "two", "three", "four"]) await say(chat, "Ann", "hello");
  const { stream, look, titles } = await looking("limit=2&follow=0");
  expect(await titles()).toMatchObject({ titles: ["#four", "#three"], total: 4, from: 0 });
  expect(await look({ limit: 2, from: 1, follow: false })).toBe(200);
  // The one that it had is not sent again.
  const next = await titles();
  expect(next).toMatchObject({ titles: ["#two"], total: 4, from: 1, fresh: 0 });
  expect(next.keys.map((key) => key.split(":").at(-1))).toEqual(["three", "two"]);
  expect(await look({ limit: 2, find: "ONE" })).toBe(200);
  expect(await titles()).toMatchObject({ titles: ["#one"], total: 1, from: 0 });
  await stream.return(undefined);
});

test("a page that comes back to a room is told where it stands", async () => {
  for (const chat of ["one", "two", "three", "four"]) await say(chat, "Ann", "hello");
  const at = encodeURIComponent("agent:main:webhook:group:one");
  const { stream, titles } = await looking(`limit=2&at=${at}`);
  expect(await titles()).toMatchObject({ at: 3, from: 2, titles: ["#two", "#one"] });
  await stream.return(undefined);
});

test("who looks where nothing can be is refused, with a reason", async () => {
  const { stream, look } = await looking("");
  for (const query of ["limit=0", "limit=201", "from=-1", "from=x", "filter=loud", "follow=yes"])
    expect((await get(`/api/rooms/live?${query}`)).status).toBe(400);
  for (const body of [{ limit: 0 }, { limit: 201 }, { from: -1 }, { filter: "loud" }, { more: 1 }])
    expect(await look(body)).toBe(400);
  expect(await look({})).toBe(200);
  const elsewhere = await fetch(`${daemon.base}/api/rooms/live/nobody`, {
    method: "POST",
    headers: { ...asking(), "content-type": "application/json" },
    body: "{}",
  });
  expect(elsewhere.status).toBe(404);
  await stream.return(undefined);
});

test("without the token nothing is told", async () => {
  for (const path of ["/api/rooms", "/api/rooms/live"])
    expect((await fetch(`${daemon.base}${path}`)).status).toBe(401);
});
