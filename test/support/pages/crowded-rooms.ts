/**
 * A daemon on which every page has something to show
 * ==================================================
 * A room of people and bots where the agent has answered and is writing again, a room whose guard
 * has tripped, one that is denied, and trouble for the Health page: a doubtful send, a dead one, an
 * event in quarantine, a channel that refuses its token.
 */
import { beforeAll, vi } from "vitest";
import type { RoomView } from "../../../src/daemon/api-types/room.ts";
import { roomHref } from "../../../web/src/lib/route.ts";
import { aside, group, type LiveDaemon, person, toScout } from "../daemon/live-daemon.ts";
import { leavePoison } from "../runtime/quarantined.ts";
import { writeUnsettledSends } from "../runtime/unsettled-sends.ts";
import { sampleToken, startTelegramServer } from "../servers/telegram.ts";
import type { PagesRig } from "./pages-daemon.ts";

export const gardenKey = "agent:main:webhook:group:#garden";
/** The path of the page of the room that was talked in most. */
export const gardenPath = roomHref(gardenKey);
export const answer = "The beans want water, and the peas a fence.";
/** What it writes for as long as it is looked at. */
export const writing = "Let me look at";

const scripted = {
  kind: "scripted",
  runs: [
    { steps: [{ text: answer }] },
    { steps: [{ text: `${writing} ` }, { waitMs: 600_000 }, { text: "the peas." }] },
  ],
};

/** It, and one on which nothing has happened: once in a `describe`, for its tests. */
export function twoDaemons(rig: PagesRig): Readonly<Record<"crowded" | "calm", LiveDaemon>> {
  const daemons: Partial<Record<"crowded" | "calm", LiveDaemon>> = {};
  beforeAll(async () => {
    const calm = await rig.daemon();
    [daemons.crowded] = await Promise.all([crowdedDaemon(rig), calm.start()]);
    daemons.calm = calm;
  });
  return daemons as Readonly<Record<"crowded" | "calm", LiveDaemon>>;
}

/** Starts it and plays what happened. */
export async function crowdedDaemon(rig: PagesRig): Promise<LiveDaemon> {
  const telegram = await startTelegramServer();
  rig.closing(() => telegram.close());
  telegram.faults.add("getMe", { kind: "refuse", status: 401 }, 100);
  const account = { botToken: sampleToken, apiRoot: telegram.apiRoot, pollSeconds: 5 };
  const daemon = await rig.daemon({
    agents: { list: [{ id: "main", name: "Scout", driver: scripted }] },
    channels: { webhook: {}, telegram: { accounts: { home: account } } },
    loopGuard: { maxConsecutive: 2 },
    messages: { inbound: { debounceMs: 0 } },
    // It is still writing when the last page is looked at.
    turn: { idleMs: 600_000 },
  });
  await writeUnsettledSends(daemon.stateDir, "in-doubt", ["T1:0"]);
  await writeUnsettledSends(daemon.stateDir, "dead", ["T2:0"]);
  await leavePoison(daemon.stateDir, "agent:main:webhook:group:cellar");
  await daemon.start();
  await talk(daemon);
  return daemon;
}

async function talk({ say, ask }: LiveDaemon): Promise<void> {
  const garden = group("#garden");
  const pip = { ...person("Pip"), isBot: true };
  const [ann, bo] = [person("Ann"), person("Bo Lee")];
  const until = (holds: (state: RoomView["state"]) => boolean) =>
    vi.waitFor(async () => {
      const { state } = (await ask(`/rooms/${encodeURIComponent(gardenKey)}`)) as RoomView;
      if (!holds(state)) throw new Error(`it is not so: ${JSON.stringify(state)}`);
    }, 20_000);
  await say(
    { chat: garden, author: ann, text: "The beans are up.", ...aside },
    { chat: garden, author: pip, text: "Watered at six.", ...aside },
    { chat: garden, author: bo, text: "@Scout what do they need?", ...toScout },
  );
  // The credit is there before the turn has ended, and the next turn is meant below.
  await until(({ credits, turn }) => credits.length === 1 && turn === null);
  const replyTo = { id: "m1", authorId: "ann", authorName: "Ann", text: "The beans are up." };
  await say({ chat: garden, author: bo, text: "@Scout and the peas?", replyTo, ...toScout });
  await until(({ turn }) => turn !== null);
  const bots = group("#bots");
  await say({ chat: bots, author: ann, text: "hello", ...aside });
  for (const text of ["one", "two", "three", "four"])
    await say({ chat: bots, author: pip, text, ...toScout });
  await say({ chat: { id: "ann", kind: "direct" }, author: ann, text: "may I?" });
}
