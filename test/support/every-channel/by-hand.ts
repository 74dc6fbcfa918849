/**
 * `npm run fake <platform>`: a platform with two rooms by hand. Prints a config for it, takes lines such as
 * `1: hello` from the keyboard, and prints what the bot says there.
 */
import type { StormPlatform } from "./platform.ts";

const rooms = 2;
const lookMs = 200;

/** Loaded when chosen: some of them are large. IRC and XMPP are real servers, which must be installed. */
const starts: Readonly<Record<string, () => Promise<StormPlatform>>> = {
  discord: async () => (await import("./discord.ts")).discordPlatform(rooms),
  imessage: async () => (await import("./imessage.ts")).imessagePlatform(rooms),
  irc: async () => (await import("./irc.ts")).ircPlatform(rooms),
  matrix: async () => (await import("./matrix.ts")).matrixPlatform(rooms),
  signal: async () => (await import("./signal.ts")).signalPlatform(rooms),
  slack: async () => (await import("./slack.ts")).slackPlatform(rooms),
  whatsapp: async () => (await import("./whatsapp.ts")).whatsappPlatform(rooms),
  xmpp: async () => (await import("./xmpp.ts")).xmppPlatform(rooms),
};
export const platformsByHand: readonly string[] = Object.keys(starts);

export const usageByHand = `  0: hello               Ann mentions the bot in room 0, and in room 1 with 1: hello
  !                      something goes wrong on the wire
  !calm                  nothing more goes wrong
`;

export interface HandOptions {
  readonly lines: AsyncIterable<string>;
  write(text: string): void;
  /** Of the daemon, for a platform that posts to it. */
  readonly daemon: string;
}

/** Serves until the lines end. */
export async function serveByHand(
  name: string,
  { lines, write, daemon }: HandOptions,
): Promise<void> {
  const platform = await starts[name]?.();
  if (platform === undefined) throw new Error(`there is no ${name}`);
  platform.reach?.(daemon);
  const config = {
    access: { groupPolicy: "open", dmPolicy: "open" },
    channels: { [platform.id]: platform.section },
  };
  write(`earshot.json5: ${JSON.stringify(config)}\n\n${usageByHand}`);
  const shown: string[] = [];
  const look = setInterval(() => {
    for (const [index, { room, text }] of platform.answers().entries())
      if (shown[index] !== text) {
        shown[index] = text;
        write(`  bot in room ${room}: ${text}\n`);
      }
  }, lookMs);
  try {
    for await (const line of lines) {
      const [, room, text = ""] = /^([01]):\s*(.+)$/.exec(line) ?? [];
      if (line === "!calm") platform.calm();
      else if (line === "!") platform.trouble((below) => Math.floor(Math.random() * below));
      else if (room === undefined) write(usageByHand);
      else await platform.say(Number(room), text);
    }
  } finally {
    clearInterval(look);
    await platform.close();
  }
}
