/**
 * What finding the agent of a message costs with ten bindings and with a hundred thousand, and what
 * a list of a hundred thousand read from the top would cost instead. Bindings of every tier but
 * the channel's; messages that match by room, by server and by workspace, and some that match none. Also how long a config of
 * that size takes to become one that can be asked.
 */
import { type EarshotConfig, parseConfig } from "../src/domain/config/index.ts";
import type { Inbound } from "../src/domain/message.ts";
import { resolveRoute } from "../src/machines/routing/routing.ts";
import { assertRatio, busyMix, messages, perSecond, report, round, short } from "./support.ts";

const few = 10;
const many = 100_000;

/** The n-th binding: six of ten name a room, the rest a server, a role, a workspace, an account. */
function binding(n: number) {
  const channel = "telegram";
  const id = `${Math.floor(n / 10)}`;
  const kinds = [
    { channel, guildId: `g${id}`, roles: ["mod", `r${id}`] },
    { channel, guildId: `g${id}` },
    { channel, teamId: `t${id}` },
    { channel, accountId: `a${id}` },
  ];
  const match = kinds[n % 10] ?? { channel, peer: { kind: "group" as const, id: `-100${n}` } };
  return { match, agentId: "main" };
}

const configOf = (count: number): EarshotConfig =>
  parseConfig({ bindings: Array.from({ length: count }, (_, n) => binding(n)) });

const next = messages(40, busyMix);
/** A known room, an unknown one, an unknown one of a known server, one of a known workspace. */
const heard: Inbound[] = Array.from({ length: 512 }, (_, n) => {
  const message = next(n, 0);
  if (n % 4 === 0) return message;
  const unknown: Inbound = { ...message, chat: { id: `-none${n}`, kind: "group" } };
  if (n % 4 === 1) return unknown;
  const of = `${n % 1_000}`;
  const scope = n % 4 === 2 ? { guildId: `g${of}`, roles: ["member"] } : { teamId: `t${of}` };
  return { ...unknown, scope };
});
const at = (n: number) => heard[n & 511] as Inbound;

/** The reference for the compiled maps: every tier reads the list from the top. */
function readFromTheTop({ bindings }: EarshotConfig, message: Inbound): number {
  const { chat, scope } = message;
  const tests: ((match: EarshotConfig["bindings"][number]["match"]) => boolean)[] = [
    ({ peer }) => peer !== undefined && peer.kind !== "direct" && peer.id === chat.id,
    ({ peer }) => peer !== undefined && peer.kind !== "direct" && peer.id === "*",
    ({ peer, guildId, roles }) =>
      peer === undefined &&
      guildId !== undefined &&
      guildId === scope?.guildId &&
      roles?.some((role) => scope.roles?.includes(role)) === true,
    ({ peer, guildId, roles }) =>
      peer === undefined &&
      roles === undefined &&
      guildId !== undefined &&
      guildId === scope?.guildId,
    ({ peer, guildId, teamId }) =>
      peer === undefined &&
      guildId === undefined &&
      teamId !== undefined &&
      teamId === scope?.teamId,
    ({ peer, guildId, teamId, accountId }) =>
      peer === undefined &&
      guildId === undefined &&
      teamId === undefined &&
      accountId === message.account,
  ];
  for (const test of tests) {
    const found = bindings.findIndex(
      ({ match }) => match.channel === message.channel && test(match),
    );
    if (found !== -1) return found;
  }
  return -1;
}

function timed<Result>(work: () => Result): readonly [Result, number] {
  const from = performance.now();
  const result = work();
  return [result, Math.round(performance.now() - from)];
}

const small = configOf(few);
const [large, parseMs] = timed(() => configOf(many));
const [, compileMs] = timed(() => resolveRoute(large, at(0)));
for (let n = 0; n < 100; n += 1)
  if ((resolveRoute(large, at(n))[0]?.bindingIndex ?? -1) !== readFromTheTop(large, at(n)))
    throw new Error(`message ${n} is routed otherwise than the list reads`);

const calls = short ? 100_000 : 500_000;
// In turn, so that other work on the machine meets both.
let [withFew, withMany] = [0, 0];
for (let turn = 0; turn < 5; turn += 1) {
  withFew = Math.max(
    withFew,
    perSecond((n) => resolveRoute(small, at(n)), calls / 5, 2),
  );
  withMany = Math.max(
    withMany,
    perSecond((n) => resolveRoute(large, at(n)), calls / 5, 2),
  );
}
const linear = perSecond((n) => readFromTheTop(large, at(n)), short ? 100 : 300, 1);

assertRatio("100,000 bindings over 10", withMany / withFew, 0.5);
assertRatio("maps over the list", withMany / linear, 20);

report({
  bench: "routing",
  unit: "routes/s, one core",
  figures: {
    "10 bindings": withFew,
    "100,000 bindings": withMany,
    "100,000 bindings, list from the top": linear,
    "100,000 bindings, parse ms": parseMs,
    "100,000 bindings, compile ms": compileMs,
  },
  ratios: {
    "100,000 over 10": round(withMany / withFew),
    "maps over the list": round(withMany / linear),
  },
});
