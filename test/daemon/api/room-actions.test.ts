/**
 * `POST /api/rooms/:key/actions` on a real daemon: each action is in the journal with who did it, in
 * the transcript and in the agent's session, and survives a restart; what cannot be done is refused
 * with the reason.
 */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { RoomEntry, RoomView } from "../../../src/daemon/api-types/room.ts";
import { builtPages } from "../../support/built/files.ts";
import {
  aside,
  createLiveDaemon,
  group,
  type LiveDaemon,
  person,
  toScout,
} from "../../support/daemon/live-daemon.ts";
import { call } from "../../support/daemon/room-daemon.ts";
import { earshot } from "../../support/runtime/commands.ts";

const key = "agent:main:webhook:group:#shed";
const begun = "I begin with the roof. And then";
const runs = [
  { steps: [{ text: begun }, { waitMs: 600_000 }, { text: "Then the door." }] },
  { steps: [{ text: "A new start." }] },
];

let daemon: LiveDaemon;
beforeAll(async () => {
  daemon = await createLiveDaemon({
    pagesDir: builtPages,
    config: {
      agents: { list: [{ id: "main", name: "Scout", driver: { kind: "scripted", runs } }] },
      messages: { inbound: { debounceMs: 0 } },
      turn: { idleMs: 600_000 },
    },
  });
  await daemon.start();
});
afterAll(() => daemon.close());

const path = `/api/rooms/${encodeURIComponent(key)}`;
async function act(body: object): Promise<{ status: number; answer: Record<string, unknown> }> {
  const answer = await call(daemon, `${path}/actions`, body);
  return { status: answer.status, answer: (await answer.json()) as Record<string, unknown> };
}
const refusal = ({ answer }: Awaited<ReturnType<typeof act>>) =>
  (answer.error as { message: string } | undefined)?.message;
const view = async () => (await (await call(daemon, path)).json()) as RoomView;
const until = (holds: (view: RoomView) => boolean) =>
  vi.waitFor(async () => {
    const now = await view();
    if (!holds(now)) throw new Error(JSON.stringify(now.state.attention));
    return now;
  }, 20_000);
const hasKind = (kind: RoomEntry["kind"]) => (entry: RoomEntry) => entry.kind === kind;
const acted = ({ history }: RoomView) =>
  history.entries.flatMap((entry) =>
    entry.kind === "acted" ? [`${entry.by} ${entry.does} ${entry.level ?? ""}`.trim()] : [],
  );
/** Starts to watch the room's turns; the result resolves when the agent has said something. */
async function heardAgent(): Promise<() => Promise<void>> {
  const stop = new AbortController();
  const { body } = await fetch(
    `${daemon.base}/api/events?deltas=1&key=${encodeURIComponent(key)}`,
    { headers: { authorization: `Bearer ${daemon.token}` }, signal: stop.signal },
  );
  return async () => {
    let seen = "";
    for await (const part of body as unknown as AsyncIterable<Uint8Array>) {
      seen += new TextDecoder().decode(part);
      if (seen.includes('"event":"delta"')) break;
    }
    stop.abort();
  };
}
const ann = { chat: group("#shed"), author: person("Ann") };

test("a room that nobody has written in is refused, and so are other forms", async () => {
  const unknown = await act({ does: "stop" });
  expect([unknown.status, refusal(unknown)]).toEqual([
    404,
    "Cannot act on that room: there are no messages in it yet",
  ]);
  for (const body of [{ does: "dance" }, { does: "say", text: " " }, { does: "stop", more: 1 }])
    expect((await act(body)).status).toBe(400);
});

test("a stop ends the turn, and what was partly said is in the transcript", async () => {
  await daemon.say({ ...ann, text: "It rains in.", ...aside });
  const early = await act({ does: "stop" });
  expect([early.status, refusal(early)]).toEqual([409, "Cannot stop: no turn runs in this room"]);
  const noSession = await act({ does: "new" });
  expect([noSession.status, refusal(noSession)?.slice(0, 26)]).toEqual([
    409,
    "Cannot start a new session",
  ]);
  const heard = await heardAgent();
  await daemon.say({ ...ann, text: "@Scout mend it", ...toScout });
  await heard();
  expect((await act({ does: "stop" })).status).toBe(200);
  const { history } = await until(({ state }) => state.attention === "observing");
  expect(history.entries.filter(hasKind("acted"))).toMatchObject([
    { does: "stop", by: "operator" },
  ]);
  expect(history.entries.filter(hasKind("ended"))).toMatchObject([
    { outcome: "cancelled", unsent: begun },
  ]);
});

test("a text is sent as the agent's, once, and remembered as its own line", async () => {
  const order = { does: "say", text: "We close at six.", id: "close" };
  const first = await act(order);
  expect(first).toMatchObject({ status: 200, answer: { does: "say", messages: [/^text-.*:0$/] } });
  expect(await act(order)).toEqual(first);
  const other = await act({ ...order, text: "We close at seven." });
  expect([other.status, refusal(other)?.slice(0, 15)]).toEqual([409, "Cannot say that"]);
  const { history } = await until(({ history }) => history.entries.some(hasKind("said")));
  expect(history.entries.filter(hasKind("said"))).toMatchObject([
    { text: "We close at six.", status: "sent" },
  ]);
  const session = await call(daemon, `/api/sessions/${encodeURIComponent(key)}`);
  const { lines } = (await session.json()) as { lines: { role: string; text: string }[] };
  expect(lines.at(-1)).toMatchObject({ role: "assistant", text: "We close at six." });
});

test("activation, disengage and a new session apply, say who did them, and survive a restart", async () => {
  expect((await act({ does: "activation", level: "always" })).status).toBe(200);
  await until(({ state }) => state.activation === "always");
  expect((await act({ does: "activation", level: null })).status).toBe(200);
  await until(({ state }) => state.activation === "ladder");
  expect((await act({ does: "activation", level: "mention" })).status).toBe(200);
  expect((await act({ does: "activation", level: "sometimes" })).status).toBe(400);
  await daemon.say({ ...ann, text: "@Scout once more", ...toScout });
  await until(({ state }) => state.credits.length === 1);
  expect((await act({ does: "disengage" })).status).toBe(200);
  await until(({ state }) => state.credits.length === 0);
  expect((await act({ does: "new" })).status).toBe(200);
  const before = await until(
    ({ history: { entries } }) =>
      entries.some(hasKind("session")) &&
      entries.some((entry) => entry.kind === "said" && entry.text === "A new start."),
  );
  expect(before.history.entries.filter(hasKind("session"))).toMatchObject([
    { why: "operator", by: "operator" },
  ]);
  expect(acted(before)).toEqual([
    "operator stop",
    "operator say",
    "operator activation always",
    "operator activation",
    "operator activation mention",
    "operator disengage",
  ]);
  await daemon.stop();
  await daemon.start();
  const after = await until(({ state }) => state.activation === "mention");
  expect(after.history.entries).toEqual(before.history.entries);
});

test("at a terminal: stop and disengage, and exit code 1 where there is nothing to stop", async () => {
  const cli = (...args: string[]) => earshot(args, { EARSHOT_STATE_DIR: daemon.stateDir });
  expect(await cli("stop", key)).toEqual({
    out: "",
    err: "earshot: Cannot stop: no turn runs in this room\n",
    code: 1,
  });
  const done = "Disengaged: the agent only listens here until it is spoken to again.";
  expect(await cli("disengage", key)).toEqual({ out: `${done}\n`, err: "", code: 0 });
  const { code, out } = await cli("disengage", key, "--json");
  expect([code, JSON.parse(out)]).toEqual([0, { does: "disengage", done, messages: [] }]);
  const unknown = await cli("stop", "agent:main:webhook:group:#nowhere");
  expect(unknown).toMatchObject({ code: 1, err: expect.stringContaining("no such room") });
  expect(await cli("stop", "#shed")).toMatchObject({
    code: 2,
    err: expect.stringContaining("which starts with `agent:`"),
  });
  expect((await cli("stop")).code).toBe(2);
  await daemon.say({ ...ann, text: "@Scout once more", ...toScout });
  await until(({ state }) => state.attention === "engaged.running");
  await vi.waitFor(async () => expect(await cli("stop", key)).toMatchObject({ code: 0 }));
  await until(({ state }) => state.attention === "observing");
});
