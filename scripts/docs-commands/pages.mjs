// What the pages with commands need before they can be followed, in the order in which they are run.
// `swap` replaces what a page cannot know, such as the id of a group; `codes` allows further exit codes
// of a line; `before` prepares the folder or the daemon.

import { once } from "node:events";
import { createServer } from "node:net";
import { cacheFolder } from "../restate/install.mjs";

const stop = "timeout --preserve-status -s INT 4";

/** `npm start` is running already; the rest of the README follows. */
export const readme = {
  path: "README.md",
  swap: [
    [/^git clone .*/u, "true"],
    [/^npm start$/u, "true"],
    [/^(TELEGRAM_BOT_TOKEN=\S+) npm start.*/u, "$1 earshot config check --offline"],
    [/^npx earshot chat .*/u, "echo hello | npx earshot chat"],
    [/^(curl -sN)(.*)/u, "$1 --max-time 2$2"],
  ],
  // 28: the time that it is given is over. 1: there are differences.
  codes: [
    [/^curl -sN/u, [28]],
    [/--against/u, [1]],
  ],
};

/** From a bot in no group to an answer in one; the model repeats what it is asked. */
export const tutorial = {
  path: "docs/tutorial.md",
  swap: [
    [/^npm start$/u, "true"],
    [
      /^earshot needs do \S+/u,
      "earshot needs do group:telegram:default:$GROUP && sleep 2 && " +
        `echo 'ann: @scout_bot hello' >>"$SAY" && until earshot find hello --outcome replied; do sleep 1; done`,
    ],
    [
      /^earshot (why|prompt) 2/u,
      `earshot $1 "$(earshot find hello --author ann --json | grep -o '"id":"[^"]*' | head -1 | cut -d'"' -f4)"`,
    ],
  ],
  finds: [
    [/echo .*chat/u, [/Who are you/u]],
    [/channels/u, [/live/u]],
    [/needs \|\|/u, [/needs do group:telegram:default:/u]],
    [/earshot why/u, [/engage/u]],
    [/earshot prompt/u, [/Your purpose: You keep the reading list/u]],
  ],
};

/** Copied out of the clone or not: what they expect holds, and a planted mistake is found. */
export const examples = [
  { path: "examples/add-earshot-to-a-bolt-app/README.md" },
  { path: "examples/add-earshot-to-a-discordjs-bot/README.md" },
  { path: "examples/add-earshot-to-a-grammy-bot/README.md" },
  {
    path: "examples/property-test-your-rules/README.md",
    codes: [[/mistake/u, [1]]],
    finds: [[/mistake/u, [/1 failed \| 4 passed/u, /m4 rex \(bot\)/u]]],
  },
  {
    path: "examples/score-your-rooms/README.md",
    codes: [[/mistake/u, [1]]],
    finds: [[/mistake/u, [/1 failed \| 1 passed/u, /precision is 0\.4\d\d, wanted 0\.9/u]]],
  },
  { path: "examples/write-a-channel/README.md" },
  { path: "examples/write-an-agent/README.md" },
];

/** In a project of a reader's own, beside the clone. */
export const testing = { path: "docs/testing.md" };

/** On the daemon of `npm start`, with embedded defaults. */
export const onDefaults = [
  {
    path: "docs/api.md",
    before: ({ write }) => write("hat.png", Buffer.from(smallPicture, "base64")),
  },
  { path: "docs/guide/sessions.md" },
  // 1: there are differences.
  {
    path: "docs/guide/scenarios.md",
    before: ({ write }) => write("new.json5", '{ engagement: { activation: "mention" } }'),
    codes: [[/--against/u, [0, 1]]],
  },
  // 1: nobody has said that.
  { path: "docs/guide/search.md", codes: [[/^earshot find/u, [0, 1]]] },
  {
    path: "docs/operate/inspect.md",
    swap: [[/^earshot inspect/u, `${stop} earshot inspect`]],
    codes: [[/inspect/u, [0, 130]]],
  },
  {
    path: "docs/quality.md",
    before: ({ copy }) => {
      copy("examples/score-your-rooms/rooms.jsonl", "cafe.jsonl");
      copy("examples/score-your-rooms/rooms.jsonl", "rooms.jsonl");
    },
    // Of the journal of this run there are only a few lines, so the rooms of the café are measured.
    swap: [
      [/^earshot eval rooms\.jsonl\.gz/u, "gzip -k rooms.jsonl && earshot eval rooms.jsonl.gz"],
      [/> rooms\.jsonl/u, "> labelled.jsonl"],
      [/ --config earshot\.json5/u, ""],
    ],
    // 1: nobody has labelled a message; no config reaches what is wanted.
    codes: [[/^earshot (record|tune)/u, [0, 1]]],
  },
  {
    path: "docs/agents/recipes.md",
    before: ({ write, blockOf }) => write("scout.py", blockOf("docs/agents/recipes.md", "python")),
  },
  { path: "docs/operate/security.md" },
  {
    path: "docs/operate/operating.md",
    // A service of its own would change the machine's users and services.
    swap: [
      [/^(?:useradd|systemctl) .*/u, "true"],
      [/^runuser .*/u, "earshot status"],
    ],
  },
  // Until it is ready; from the cache of this machine, as 81 MB are too much for each run.
  {
    path: "docs/scaling.md",
    swap: [
      // Its nodes and their config are on no machine of a reader yet; test/engines/restate/migrate.test.ts runs it.
      [/^earshot migrate.*/u, "true"],
      [
        /^npm run restate.*/u,
        `timeout 120 npm run --silent restate -- --json --ingress-port 0 --admin-port 0 --cache "${cacheFolder()}" >ready & ` +
          "for n in $(seq 240); do grep -q pid ready && break; sleep 0.5; done; cat ready; kill $!; wait $!",
      ],
    ],
    // 143: SIGTERM has ended it.
    codes: [[/^npm run restate/u, [143]]],
  },
  {
    path: "bench/README.md",
    swap: [[/--against/u, "--short --rounds=1 --against"]],
    finds: [[/--against/u, [/theirs/u]]],
  },
  {
    path: "docs/operate/observe.md",
    // scripts/smoke-otel.mjs runs the lines of the traces and looks at what arrives. The log is that
    // of a second daemon, in a folder of its own.
    swap: [
      [/^npm install @opentelemetry.*/u, "true"],
      [/^NODE_OPTIONS=.*/u, "true"],
      [/^earshot start/u, `EARSHOT_STATE_DIR="$(mktemp -d)" ${stop} earshot start --port 0`],
    ],
    codes: [[/^earshot start/u, [0, 130]]],
  },
];

/** On a daemon with a Telegram of two accounts and a web shop. */
export const onChannels = [
  {
    path: "docs/reference/config.md",
    swap: [[/^earshot init/u, "earshot init --yes --config first.json5"]],
  },
  {
    path: "docs/guide/access.md",
    before: async ({ say, printed }) => {
      say("zoe>bot: hello");
      await printed(["pair", "list", "--json"], /"code"/u);
    },
    swap: [
      [
        /approve \w+/u,
        'approve $(earshot pair list --json | grep -o \'"code":"[^"]*\' | cut -d\'"\' -f4)',
      ],
      [
        /telegram:123/u,
        `telegram:$(earshot pair list --json | grep -o '"id":"[0-9]*' | head -1 | cut -d'"' -f4)`,
      ],
      [
        /revoke <label>/u,
        'revoke $(earshot claim list --json | grep -o \'"label":"[^"]*\' | head -1 | cut -d\'"\' -f4)',
      ],
    ],
  },
  {
    path: "docs/guide/proactive.md",
    swap: [
      [/make report/u, "echo all green"],
      [/ -1001234567890 /u, " $GROUP "],
      [/telegram:work 4242 --reply-to 77/u, "telegram:work $GROUP --reply-to 1"],
      [/ 4242 /u, " $GROUP "],
    ],
  },
  { path: "docs/channels/webhook.md" },
  {
    // Libera Chat is an ngircd on this machine; the config is that of nobody else.
    path: "docs/channels/README.md",
    before: async ({ write, run }) => {
      const port = await freePort();
      const lines = ["[Global]", "Name = irc.test", "Listen = 127.0.0.1", `Ports = ${port}`];
      write(
        "ngircd.conf",
        [...lines, "[Options]", "DNS = no", "Ident = no", "PAM = no", ""].join("\n"),
      );
      write("irc-port", String(port));
      const ircd = run("/usr/sbin/ngircd", ["-n", "-f", "ngircd.conf"]);
      await ircd.until(/listening/iu);
    },
    swap: [
      [
        /^IRC_HOST=\S+/u,
        'EARSHOT_STATE_DIR="$(mktemp -d)" IRC_HOST=127.0.0.1 IRC_PORT=$(cat irc-port) IRC_TLS=false',
      ],
    ],
    finds: [[/add irc/u, [/Connected as scout/u, /#coffee/u, /wrote /u]]],
  },
  {
    path: "docs/guide/turns.md",
    before: async ({ say, printed }) => {
      for (const n of [1, 2]) {
        say("!400");
        say(`ann: @scout_bot will this arrive? ${n}`);
        const dead = new RegExp(`("state":"dead"[^]*?){${n}}`, "u");
        await printed(["outbox", "list", "--state", "dead", "--json"], dead);
      }
    },
    swap: [
      [
        / <id>/u,
        ' "$(earshot outbox list --state dead --json | grep -o \'"id":"[^"]*\' | head -1 | cut -d\'"\' -f4)"',
      ],
    ],
  },
];

/** A port of this machine that nobody listens on. */
async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

const smallPicture =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
