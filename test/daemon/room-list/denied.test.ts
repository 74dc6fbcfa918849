/**
 * What was turned away at the door was heard by no conversation, so it is on no room's page; but it
 * is shown where people look: in the strip of its place, in the stream that `earshot inspect`
 * follows, and by `earshot why`.
 */
import { expect, test } from "vitest";
import type { Why } from "../../../src/actors/protocol/why.ts";
import type { RoomHistory } from "../../../src/daemon/api-types/room.ts";
import type { RoomRow } from "../../../src/daemon/api-types/rooms.ts";
import {
  hookSecret,
  kitchen,
  messageBody,
  openHookDaemon,
  signed,
} from "../../support/daemon/hook-daemon.ts";

test("a message that is denied is told, explained and counted where it was said, and heard by nobody", async () => {
  const channels = {
    webhook: {
      groups: { room: { allowFrom: ["ann"] } },
      accounts: { kitchen: { hook: { secret: hookSecret } } },
    },
  };
  const door = await openHookDaemon({ channels });
  const frames: string[] = [];
  const stream = await door.api("/api/events?decision=denied");
  const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
  const read = async () => {
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read())
      frames.push(part.value);
  };
  const reading = read().catch(() => undefined);
  const say = async (id: string, author: string) => {
    const body = messageBody(id, "good evening", { author: { id: author } });
    expect((await door.post(kitchen, body, signed(body))).status).toBeLessThan(300);
  };
  await say("m1", "ann");
  await say("m2", "eve");
  await say("m3", "ann");

  const room = async () => {
    const { rooms } = (await (await door.api("/api/rooms")).json()) as {
      readonly rooms: readonly Pick<RoomRow, "key" | "recent">[];
    };
    return rooms[0];
  };
  await expect.poll(async () => (await room())?.recent, { timeout: 60_000 }).toMatch(/^.d.$/u);
  await expect.poll(() => frames.join(""), { timeout: 60_000 }).toContain('"m2"');
  expect(frames.join("")).toMatch(/"decision":"denied","rule":"group-policy"/u);
  const [why] = (await door.daemon.runtime.why("m2")) as readonly Why[];
  expect(why?.recorded).toMatchObject({ decision: "denied", rule: "group-policy" });
  expect(why?.admission).toMatch(/^the sender/u);

  const path = `/api/rooms/${encodeURIComponent((await room())?.key ?? "")}/history`;
  const history = (await (await door.api(path)).json()) as RoomHistory;
  const heard = history.entries.flatMap((entry) => (entry.kind === "heard" ? entry.id : []));
  expect(heard).toEqual(["m1", "m3"]);
  await reader?.cancel();
  await reading;
});
