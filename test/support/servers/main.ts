/**
 * `npm run fake telegram [-- --port 8081]`: a test server by hand. Prints a config for it, takes
 * lines such as `ann: hello @scout_bot` from the keyboard, and prints what the bot does.
 * `npm run fake discord` and the other platforms: the same with fewer words (by-hand.ts).
 * `npm run fake model` is an OpenAI-compatible server that repeats what it is asked.
 */
import { createInterface } from "node:readline";
import { commandLine } from "../../../scripts/command-line.mjs";
import { platformsByHand, serveByHand, usageByHand } from "../every-channel/by-hand.ts";
import { startModelServer } from "./openai.ts";
import { sampleToken, startTelegramServer, type TelegramServer } from "./telegram.ts";
import type { Call } from "./telegram-world.ts";

const telegramUsage = `  ann: hello             Ann speaks in the group Kitchen (any name will do)
  ann>bot: hello         Ann writes to the bot alone
  ann^12: hello          Ann replies to message 12 of the group
  !429 3 | !500 | !reset | !hang | !html    the next send goes wrong
`;
const help = `Usage: npm run fake telegram|model [-- --port 8081]
       npm run fake ${platformsByHand.join("|")} [-- --daemon http://127.0.0.1:4747]

Starts a test server on this machine, prints a config of earshot for it, and reads lines from the keyboard.
irc needs inspircd and xmpp needs prosody; whatsapp posts to the daemon. Example: npm run fake discord

telegram:
${telegramUsage}
the others:
${usageByHand}
  --port N      where telegram or model listens [8081]
  --daemon URL  the daemon that whatsapp posts to [http://127.0.0.1:4747]
`;

const options = {
  port: { type: "string", default: "8081" },
  daemon: { type: "string", default: "http://127.0.0.1:4747" },
} as const;

interface Asked {
  readonly chosen: string;
  readonly port: number;
  readonly daemon: string;
}

async function serve(server: TelegramServer): Promise<void> {
  const { world } = server;
  const group = world.group("Kitchen", []);
  const people = new Map<string, ReturnType<typeof world.user>>();
  const person = (name: string) => {
    const key = name.toLowerCase();
    const known = people.get(key) ?? world.user(name);
    people.set(key, known);
    group.members.add(known.id);
    return known;
  };
  const account = { botToken: sampleToken, apiRoot: server.apiRoot };
  const telegram = {
    accounts: { default: account },
    groups: { [group.chat.id]: {} },
    dmPolicy: "open",
  };
  process.stdout.write(
    `A Telegram with a group Kitchen (${group.chat.id}) and the bot @${world.bot.username}.\n` +
      `earshot.json5: ${JSON.stringify({ channels: { telegram } })}\n\n` +
      telegramUsage,
  );
  let printed = 0;
  world.watch(() => {
    for (const call of world.calls.slice(printed)) show(call);
    printed = world.calls.length;
  });
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.startsWith("!")) {
      breakNext(server, line.slice(1));
      continue;
    }
    const said = /^(\w+)(>bot)?(?:\^(\d+))?:\s*(.+)$/.exec(line);
    if (said === null) {
      process.stdout.write(telegramUsage);
      continue;
    }
    const [, name = "", direct, parent, text = ""] = said;
    const by = person(name);
    const room = direct === undefined ? group : world.direct(by);
    const replyTo = parent === undefined ? undefined : room.messages.get(Number(parent));
    const { message_id } = world.say(room, by, text, replyTo === undefined ? {} : { replyTo });
    process.stdout.write(
      `  #${message_id} ${name} in ${direct === undefined ? "Kitchen" : "private"}\n`,
    );
  }
  await server.close();
}

function show({ method, payload }: Call): void {
  if (method === "getUpdates") return;
  process.stdout.write(`  bot: ${method} ${JSON.stringify(payload)}\n`);
}

function breakNext(server: TelegramServer, command: string): void {
  const [kind = "", argument = "1"] = command.split(" ");
  if (/^\d{3}$/.test(kind))
    server.faults.add("sendMessage", {
      kind: "refuse",
      status: Number(kind),
      ...(kind === "429" ? { retryAfter: Number(argument) } : {}),
    });
  else if (kind === "reset" || kind === "hang") server.faults.add("sendMessage", { kind });
  else if (kind === "html") server.faults.add("sendMessage", { kind, status: 502 });
  else process.stdout.write(telegramUsage);
}

await commandLine({
  name: "fake",
  help,
  docs: "docs/channels/telegram.md",
  options,
  allowPositionals: true,
  check: ({ port, daemon }, [chosen, ...more]): Asked => {
    const known = ["telegram", "model", ...platformsByHand];
    if (chosen === undefined || !known.includes(chosen) || more.length > 0)
      throw new Error(`name one of ${known.join(", ")}`);
    if (!/^\d+$/u.test(port) || Number(port) > 65_535)
      throw new Error(`--port is a port, from 0 to 65535, not ${port}`);
    if (!URL.canParse(daemon)) throw new Error(`--daemon is a URL, not ${daemon}`);
    return { chosen, port: Number(port), daemon };
  },
  run: async ({ chosen, port, daemon }) => {
    if (chosen === "telegram") await serve(await startTelegramServer(port));
    else if (chosen === "model") {
      const { baseUrl } = await startModelServer(port);
      process.stdout.write(`A model that repeats what it is asked: ${baseUrl}\n`);
    } else {
      const lines = createInterface({ input: process.stdin });
      const write = (text: string) => void process.stdout.write(text);
      await serveByHand(chosen, { lines, write, daemon });
    }
    return true;
  },
});
