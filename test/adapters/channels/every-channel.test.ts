/**
 * One daemon with every channel at once, its platforms failing, its agent answering: each reply is in
 * the room of its line, none is lost, and what is said twice was in doubt. A short one here; with
 * EARSHOT_STORM=full three minutes over a thousand rooms, as `.ci/run` does it.
 */
import { expect, inject, onTestFinished, test } from "vitest";
import { accountFolder } from "../../../src/daemon/state/account-folder.ts";
import { newFolder } from "../../support/daemon/folder.ts";
import { discordPlatform } from "../../support/every-channel/discord.ts";
import { imessagePlatform } from "../../support/every-channel/imessage.ts";
import { ircPlatform } from "../../support/every-channel/irc.ts";
import { matrixPlatform } from "../../support/every-channel/matrix.ts";
import type { StormPlatform } from "../../support/every-channel/platform.ts";
import { signalPlatform } from "../../support/every-channel/signal.ts";
import { slackPlatform } from "../../support/every-channel/slack.ts";
import { storm } from "../../support/every-channel/storm.ts";
import { telegramPlatform } from "../../support/every-channel/telegram.ts";
import { whatsappPlatform } from "../../support/every-channel/whatsapp.ts";
import { linkedPlatform } from "../../support/every-channel/whatsapp-linked.ts";
import { xmppPlatform } from "../../support/every-channel/xmpp.ts";
import { missingPackages } from "../../support/irc/ircd.ts";
import { rounds } from "../../support/rounds.ts";
import { missingProsody } from "../../support/xmpp/prosody.ts";

const isFull = process.env.EARSHOT_STORM === "full";
/** Rooms in `npm test`, in the full rounds, and in the long storm. */
const roomsOf = (few: number, more: number, many: number) => (isFull ? many : rounds(few, more));

test("every reply is in the room of its line, none is lost, none is doubled unless in doubt", async () => {
  const seed = inject("propertySeed") ?? Date.now() % 1_000_000;
  const opened: StormPlatform[] = [];
  onTestFinished(async () => {
    for (const platform of opened) await platform.close();
  });
  opened.push(await telegramPlatform(roomsOf(8, 20, 250)));
  opened.push(await slackPlatform(roomsOf(4, 10, 150)));
  opened.push(await discordPlatform(roomsOf(4, 10, 150)));
  opened.push(await whatsappPlatform(roomsOf(4, 10, 150)));
  const stateDir = newFolder();
  const keys = accountFolder(stateDir, "whatsapp-linked", "default");
  opened.push(await linkedPlatform(roomsOf(3, 5, 40), keys));
  opened.push(await signalPlatform(roomsOf(4, 10, 120)));
  opened.push(await imessagePlatform(roomsOf(4, 10, 50)));
  opened.push(await matrixPlatform(roomsOf(4, 10, 50)));
  if (missingProsody === "") opened.push(await xmppPlatform(roomsOf(3, 5, 40)));
  if (missingPackages("inspircd") === "") opened.push(await ircPlatform(roomsOf(3, 5, 40)));
  const report = await storm({
    stateDir,
    platforms: opened,
    workers: 1,
    seed,
    // And until each room has its line.
    forMs: isFull ? 180_000 : rounds(1_500, 3_500),
    perSecond: 30,
    faultsPerSecond: isFull ? 2 : 3,
    patienceMs: isFull ? 120_000 : 60_000,
  });
  const { said, answered, rooms, doubts, lost, astray, doubled } = report;
  if (isFull)
    process.stdout.write(`storm: ${JSON.stringify({ seed, said, answered, rooms, doubts })}\n`);
  expect({ seed, lost, astray, doubled }).toEqual({ seed, lost: [], astray: [], doubled: [] });
  expect(rooms).toBe(opened.reduce((sum, platform) => sum + platform.rooms, 0));
});
