/**
 * A session of several chats on the Room page: each chat has ids of its own, so an entry says of
 * which chat its message is, and the page shows it on that line.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RoomEntry, RoomFrame, RoomView } from "../../../src/daemon/api-types/room.ts";
import type { RoomTransition } from "../../../src/daemon/api-types/room-transitions.ts";
import { type Daemon, startDaemon } from "../../../src/daemon/daemon.ts";
import type { InboundInput } from "../../../src/domain/message.ts";
import { roomHref } from "../../../web/src/lib/route.ts";
import { builtPages } from "../../support/built/files.ts";
import { newFolder } from "../../support/daemon/folder.ts";
import { call, openFrames, say, writeRoomConfig } from "../../support/daemon/room-daemon.ts";
import { haveChromium } from "../../support/pages/chromium.ts";
import { createPagesRig, soon } from "../../support/pages/pages-daemon.ts";

const key = "agent:main:main";
const stateDir = newFolder();
let daemon: Daemon;
beforeAll(async () => {
  const runs = [{ steps: [{ text: "To Ann." }] }, { steps: [{ text: "To Bo." }] }];
  writeRoomConfig(stateDir, runs, { messages: { inbound: { debounceMs: 0 } } });
  const how = { stateDir, port: 0, workers: 0, env: {}, pagesDir: builtPages } as const;
  daemon = await startDaemon({ ...how, writeLog: () => undefined });
});
afterAll(() => daemon.stop({ drainMs: 0 }));

const place = (chat: string) =>
  ({
    channel: "webhook",
    account: "default",
    chat: { id: chat, kind: "direct" },
    thread: null,
  }) as const;
const nameOf = (chat: string) => JSON.stringify(["webhook", "default", chat]);

async function hear(chat: string, message: Partial<InboundInput>): Promise<void> {
  const author = { id: chat, name: chat === "ann" ? "Ann" : "Bo" };
  const body = { ...place(chat), author, ...message };
  expect((await call(daemon, "/api/inbound?wait=decision", body)).status).toBe(200);
}
const room = (rest: string) => call(daemon, `/api/rooms/${encodeURIComponent(key)}${rest}`);
async function entries(): Promise<readonly RoomEntry[]> {
  return ((await (await room("")).json()) as RoomView).history.entries;
}
const answers = async () => (await entries()).filter(({ kind }) => kind === "said").length;

describe("a session of several chats", () => {
  test("each entry that names a message says its chat, each transition too", async () => {
    await hear("ann", { id: "17", text: "Hello from Ann" });
    await expect.poll(answers, { timeout: 20_000 }).toBe(1);
    await hear("bo", { id: "17", text: "Hello from Bo" });
    await expect.poll(answers, { timeout: 20_000 }).toBe(2);
    const before = await entries();
    const about = before.flatMap((entry) => ("chat" in entry ? [[entry.kind, entry.chat]] : []));
    expect(about.sort()).toEqual([
      ["heard", nameOf("ann")],
      ["heard", nameOf("bo")],
      ["said", nameOf("ann")],
      ["said", nameOf("bo")],
    ]);
    const frames = await openFrames(daemon, before.at(-1)?.seq, key);
    const reaction = {
      ...place("ann"),
      id: "17",
      author: { id: "ann", name: "Ann", isBot: false, isSelf: false },
    };
    await daemon.runtime.ingest("webhook", "default", [
      { type: "edit", edit: { ...place("ann"), id: "17", text: "Ann says it again" } },
      { type: "delete", deletion: { ...place("bo"), id: "17" } },
      { type: "reaction", reaction: { ...reaction, added: ["👍"], removed: [] } },
    ]);
    const entriesIn = (all: readonly RoomFrame[]) =>
      all.flatMap((frame) => (frame.type === "more" ? frame.entries : []));
    await frames.until(() => entriesIn(frames.seen).length >= 3);
    await frames.close();
    expect(entriesIn(frames.seen)).toMatchObject([
      { kind: "edited", chat: nameOf("ann"), id: "17" },
      { kind: "deleted", chat: nameOf("bo"), id: "17" },
      { kind: "reacted", chat: nameOf("ann"), id: "17" },
    ]);
    const answer = await (await room("/transitions?after=0")).json();
    const { transitions } = answer as { readonly transitions: readonly RoomTransition[] };
    const chats = transitions.map(({ message, chat }) => `${message} ${chat}`);
    expect(new Set(chats)).toEqual(new Set([`17 ${nameOf("ann")}`, `17 ${nameOf("bo")}`]));
  });

  test("a room of one chat says nothing of chats", async () => {
    await say(daemon, "m1", "ann", "@bo lunch?", { mentions: ["bo"] });
    const answer = await call(daemon, "/api/rooms/agent%3Amain%3Awebhook%3Agroup%3Arelease");
    const { history } = (await answer.json()) as RoomView;
    expect(history.entries).toMatchObject([{ kind: "heard", id: "m1" }]);
    expect(history.entries[0]).not.toHaveProperty("chat");
  });
});

describe.skipIf(!haveChromium)("a session of several chats in the browser", () => {
  const rig = createPagesRig();

  test("the lines of two chats with one id each show what happened to them", async () => {
    const page = await rig.open(`${daemon.base}${roomHref(key)}#token=${daemon.token}`);
    const line = (name: string) => page.locator(".msg.person", { hasText: name });
    await soon(() => line("Ann").locator(".text").first().textContent()).toBe("Ann says it again");
    await soon(() => line("Bo").locator(".text").first().textContent()).toBe("Deleted in the room");
    expect(await line("Ann").locator("time").textContent()).toContain("edited");
    expect(await line("Bo").locator("time").textContent()).not.toContain("edited");
    await daemon.runtime.ingest("webhook", "default", [
      { type: "delete", deletion: { ...place("ann"), id: "17" } },
    ]);
    await soon(() => line("Ann").locator(".text").first().textContent()).toBe(
      "Deleted in the room",
    );
  });
});
