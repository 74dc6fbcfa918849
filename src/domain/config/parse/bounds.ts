/**
 * Bounds of config values
 * =======================
 * Lower bounds must not exceed upper bounds, at the top of the file and at every level that
 * overrides it. Lowering only an upper bound is allowed: a lower bound that it leaves behind is
 * reduced at runtime. A longer window set for a channel, an account or a conversation raises the
 * age at which a batch is closed there, as `resolveSettings` does.
 */
import { messages as messagesSection } from "../conversation/messages.ts";
import type { Overrides } from "../conversation/overrides.ts";
import { stream as streamSection } from "../conversation/stream.ts";
import { turn as turnSection } from "../conversation/turn.ts";
import type { EarshotConfig } from "../daemon/schema.ts";
import { overlay } from "./overlay.ts";
import { type ConfigProblem, wrong } from "./problems.ts";

type Problems = Iterable<ConfigProblem>;
type Path = readonly PropertyKey[];
type Bounded = Pick<EarshotConfig, "stream" | "messages" | "turn">;
/** What a level sets itself. */
type Own = Pick<Overrides, "stream" | "messages" | "turn">;

const defaults: Bounded = {
  stream: streamSection.whole.parse({}),
  messages: messagesSection.whole.parse({}),
  turn: turnSection.whole.parse({}),
};

/** The top of the file without what it leaves at its default. */
function ownOf({ stream, messages, turn }: EarshotConfig): Own {
  const { debounceMs } = messages.inbound;
  const inbound = { ...messages.inbound };
  if (debounceMs === defaults.messages.inbound.debounceMs)
    Reflect.deleteProperty(inbound, "debounceMs");
  return {
    messages: { ...messages, inbound },
    stream:
      stream.minChars === defaults.stream.minChars ? { humanDelay: stream.humanDelay } : stream,
    turn: turn.idleMs === defaults.turn.idleMs ? {} : { idleMs: turn.idleMs },
  };
}

function* streamProblems(path: Path, own: Own, { stream }: Bounded): Problems {
  if (own.stream?.minChars !== undefined && stream.minChars > stream.maxChars)
    yield wrong(
      [...path, "stream", "minChars"],
      `must be at most stream.maxChars (${stream.maxChars})`,
    );
  const { humanDelay } = own.stream ?? {};
  if (typeof humanDelay === "object" && humanDelay.minMs > humanDelay.maxMs)
    yield wrong(
      [...path, "stream", "humanDelay", "minMs"],
      `must be at most maxMs (${humanDelay.maxMs})`,
    );
}

function* windowProblems(path: Path, own: Own, { turn }: Bounded): Problems {
  const { debounceMs, debounceMaxMs, byChannel = {} } = own.messages?.inbound ?? {};
  const at = [...path, "messages", "inbound"];
  if (debounceMs !== undefined && debounceMaxMs !== undefined && debounceMs > debounceMaxMs)
    yield wrong([...at, "debounceMs"], `must be at most debounceMaxMs (${debounceMaxMs})`);
  const windows: [Path, number | undefined][] = [
    [[...at, "debounceMaxMs"], debounceMaxMs],
    [[...at, "debounceMs"], debounceMaxMs === undefined ? debounceMs : undefined],
    ...Object.entries(byChannel).map(([id, ms]): [Path, number] => [[...at, "byChannel", id], ms]),
  ];
  for (const [place, ms] of windows)
    if (ms !== undefined && ms >= turn.replyAgeMsMax)
      yield wrong(place, `must be less than turn.replyAgeMsMax (${turn.replyAgeMsMax})`);
}

function* turnProblems(path: Path, own: Own, { turn, messages }: Bounded): Problems {
  if (own.turn?.idleMs !== undefined && turn.idleMs > turn.maxMs)
    yield wrong([...path, "turn", "idleMs"], `must be at most turn.maxMs (${turn.maxMs})`);
  const { debounceMaxMs } = messages.inbound;
  const isOwn = own.messages?.inbound?.debounceMaxMs !== undefined;
  if (own.turn?.replyAgeMsMax !== undefined && !isOwn && debounceMaxMs >= turn.replyAgeMsMax)
    yield wrong(
      [...path, "turn", "replyAgeMsMax"],
      `must be more than messages.inbound.debounceMaxMs (${debounceMaxMs})`,
    );
}

function* problemsAt(path: Path, own: Own, all: Bounded): Problems {
  yield* streamProblems(path, own, all);
  yield* windowProblems(path, own, all);
  yield* turnProblems(path, own, all);
}

/** With what a level says over what holds without it. */
const withLevel = (base: Bounded, { stream, messages, turn }: Own): Bounded =>
  overlay(base, { stream, messages, turn });

function* groupProblems(
  path: Path,
  groups: EarshotConfig["channels"][string]["groups"],
  above: Bounded,
): Problems {
  for (const [id, group] of Object.entries(groups ?? {})) {
    const inGroup = withLevel(above, group);
    yield* problemsAt([...path, "groups", id], group, inGroup);
    for (const [name, topic] of Object.entries(group.topics ?? {}))
      yield* problemsAt([...path, "groups", id, "topics", name], topic, withLevel(inGroup, topic));
  }
}

/** Bounds at the top, and at each agent, channel, account, group, topic and conversation. */
export function* boundProblems(config: EarshotConfig): Problems {
  const { stream, messages, turn } = config;
  const top: Bounded = { stream, messages, turn };
  yield* problemsAt([], ownOf(config), top);
  for (const [index, agent] of config.agents.list.entries())
    yield* problemsAt(["agents", "list", index], agent, withLevel(top, agent));
  for (const [id, channel] of Object.entries(config.channels)) {
    const level = channel as Overrides;
    const inChannel = withLevel(top, level);
    yield* problemsAt(["channels", id], level, inChannel);
    yield* groupProblems(["channels", id], channel.groups, inChannel);
    for (const [name, account] of Object.entries(channel.accounts ?? {})) {
      const own = account as Overrides;
      const inAccount = withLevel(inChannel, own);
      yield* problemsAt(["channels", id, "accounts", name], own, inAccount);
      yield* groupProblems(["channels", id, "accounts", name], account.groups, inAccount);
    }
  }
  for (const [key, entry] of Object.entries(config.conversations))
    yield* problemsAt(["conversations", key], entry, withLevel(top, entry));
}
