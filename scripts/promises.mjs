// The promises of the README, word for word, and the tests that show each. The README's table is made of
// it by `node scripts/schema.mjs`; `npm run prove` runs the tests.

/** @type {readonly { id: string, promise: string, limits: string, tests: readonly string[] }[]} */
export const promises = [
  {
    id: "P1",
    promise:
      "An inbound event earshot has acknowledged to the platform is never lost, across `kill -9` of the process at any instant.",
    limits: "disk intact; synced before the acknowledgement; power loss: only as reliable as fsync",
    tests: [
      "test/crash/kill.test.ts",
      "test/crash/kill-workers.test.ts",
      "test/actors/journal/recovery.test.ts",
      "test/actors/journal/power.test.ts",
    ],
  },
  {
    id: "P2",
    promise:
      "An inbound event is *applied* to its conversation exactly once, whatever the platform redelivers within the retention (default 48 h).",
    limits: "after the retention a redelivery is a new message",
    tests: ["test/actors/ingress/ingress.test.ts", "test/actors/journal/recovery.test.ts"],
  },
  {
    id: "P3",
    promise:
      "Messages of one conversation are applied in admitted order, by one writer; a second writer's commit is refused.",
    limits: "order across conversations is not promised",
    tests: [
      "test/actors/supervisor/mailbox.test.ts",
      "test/actors/supervisor/supervisor.test.ts",
      "test/adapters/stores/contract.test.ts",
    ],
  },
  {
    id: "P4",
    promise:
      "Every engaged batch ends in exactly one recorded outcome: replied, partly, undelivered, silent, failed, cancelled, expired. Nothing hangs forever.",
    limits: "the agent may have run more than once for it (same turn id)",
    tests: [
      "test/machines/conversation/invariants.test.ts",
      "test/machines/conversation/reachability.test.ts",
      "test/actors/agent-run/turn-runner.test.ts",
    ],
  },
  {
    id: "P5",
    promise:
      "Each reply part is sent at least once and at most once, except parts whose send outcome is unknown; these are marked in-doubt, counted, and re-sent once or held by `onInDoubt`.",
    limits:
      "without a key of the platform that makes a repeat harmless (Discord's nonce, Matrix's transaction id), an unknown outcome stays unknown",
    tests: ["test/actors/outbox/outbox.test.ts", "test/crash/kill.test.ts"],
  },
  {
    id: "P6",
    promise:
      "Parts of one reply arrive in order; no part is sent after its `replyAgeMsMax` (default 15 min): it expires, visibly.",
    limits: "",
    tests: ["test/actors/outbox/outbox.test.ts"],
  },
  {
    id: "P7",
    promise:
      "A crash, `process.exit`, unhandled throw, out-of-memory or endless loop in one conversation stops no conversation on another host; conversations on its host resume from the journal.",
    limits:
      "other conversations on the same host pause; a turn that killed its host is tried again in a thread of its own",
    tests: ["test/adversarial/faults/hosts.test.ts", "test/adversarial/faults/turns.test.ts"],
  },
  {
    id: "P8",
    promise:
      "A message that kills its host three times is quarantined; the rest of that conversation, and all others, continue; the operator is notified and can retry it.",
    limits: "",
    tests: ["test/adversarial/faults/hosts.test.ts", "test/actors/journal/quarantine.test.ts"],
  },
  {
    id: "P9",
    promise:
      "A restart storm ends: more restarts than `intensity` in `period` mark the host broken; never a hot loop.",
    limits: "",
    tests: ["test/adversarial/faults/hosts.test.ts"],
  },
  {
    id: "P10",
    promise:
      "When the store fails, earshot stops acknowledging (503, no offset), keeps running, reports it, and resumes by itself; nothing acknowledged is lost.",
    limits: "",
    tests: [
      "test/actors/journal/journal.test.ts",
      "test/actors/ingress/ingress.test.ts",
      "test/crash/store-faults.test.ts",
      "test/daemon/api/inbound.test.ts",
    ],
  },
  {
    id: "P11",
    promise:
      "A durable deadline fires once, not before its time, also if it fell due while earshot was down.",
    limits:
      "never early; how late depends on the load of the machine, and on its clock if that is set back by a day or more while earshot is down",
    tests: [
      "test/actors/turns/turn-slots.test.ts",
      "test/actors/journal/recovery.test.ts",
      "test/regressions/clock-set-back-before-a-restart.test.ts",
    ],
  },
  {
    id: "P12",
    promise:
      "A slow or failing platform delays only its own channel; a 429 is waited out as requested; a 401 halts the channel with one clear error, not a loop.",
    limits: "a session that channels share (direct chats, by default) answers in sequence",
    tests: [
      "test/sim/slow-platform.test.ts",
      "test/actors/channels/connections.test.ts",
      "test/adapters/channels/telegram/gateway.test.ts",
    ],
  },
  {
    id: "P13",
    promise:
      "Memory follows the configured limits, not the number of messages: queues, buffers and streams have a cap in `src/domain/limits.ts` or the config; at the cap the documented policy (refuse, drop oldest, summarise) applies and is counted.",
    limits:
      "conversations with a pending answer stay in memory in addition to the cap, about 8 kB each",
    tests: [
      "test/adversarial/storm.test.ts",
      "test/actors/ingress/backpressure.test.ts",
      "test/tidy.test.ts",
    ],
  },
  {
    id: "P14",
    promise:
      "SIGTERM: stop intake, finish or park turns, drain the outbox, commit, exit 0; a second signal exits at once, which P1 to P6 cover.",
    limits: "a turn that needs more than 10 s continues at the next start",
    tests: ["test/daemon/process.test.ts"],
  },
  {
    id: "P15",
    promise: "Same seed, same commit: the same simulated history, byte for byte.",
    limits: "simulation only",
    tests: ["test/sim/rooms.test.ts", "test/sim/campaign/campaign.test.ts"],
  },
];

const begin = "<!-- promises: made by `node scripts/schema.mjs` -->\n";
const end = "<!-- end of promises -->";

/** The README with its table of promises made again. */
export function withPromises(readme) {
  const from = readme.indexOf(begin) + begin.length;
  const to = readme.indexOf(end, from);
  const rows = promises.map(
    ({ id, promise, limits, tests }) =>
      `| ${id} | ${promise} | ${limits === "" ? "" : `${limits} `}| ${tests.map((test) => `\`${test}\``).join(", ")} |`,
  );
  const head = ["| | promise | limits of it | shown by |", "|---|---|---|---|"];
  return `${readme.slice(0, from)}${[...head, ...rows].join("\n")}\n${readme.slice(to)}`;
}
