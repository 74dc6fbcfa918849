/**
 * What happens in one run of the campaign, as a list: what people say, what agents do, which calls
 * of the store and of the platforms fail, when the process is killed. Everything else follows from
 * it, so a shorter list is a smaller run of the same kind.
 */
import { seededRandom } from "../../../src/actors/simulation/simulated-platforms.ts";
import type { ScriptedRun } from "../../../src/domain/scenario/script.ts";

/** A chat of the campaign. `feed`: how its platform hands messages over. */
export interface Chat {
  readonly channel: "telegram" | "slack";
  readonly id: string;
  readonly kind: "direct" | "group";
}
export const chats: readonly Chat[] = [
  { channel: "telegram", id: "ann", kind: "direct" },
  { channel: "telegram", id: "hall", kind: "group" },
  { channel: "slack", id: "bob", kind: "direct" },
  { channel: "slack", id: "yard", kind: "group" },
];

/** What a platform does with a call: takes it, and says so or not. */
export const fates = [
  /** It did not get it, and says so. */
  "down",
  "limited",
  "refused",
  /** It did not get it, and no answer comes. */
  "hang",
  /** It took it, and no answer comes, or one that says nothing. */
  "mute",
  "odd",
  /** It took it, and answers after this time. */
  "late",
  /** It took it, and answers with ids that are wrong. */
  "liar",
] as const;
export type Fate = (typeof fates)[number];

/** Reads of the store that may fail; a commit has more ways to fail. */
export const reads = [
  ...(["conversation", "tail", "events", "unapplied", "transcript", "session"] as const),
  ...(["sessionOf", "runs", "deadlines", "outboxOpen", "outboxRow", "meta", "config"] as const),
] as const;

export type Happening =
  | {
      readonly does: "say";
      /** Its id on the platform, which counts the messages of each chat by itself. */
      readonly id: string;
      readonly chat: number;
      readonly text: string;
      readonly author: string;
      /** In a group: it names the agent. */
      readonly calls: boolean;
      /** Deliveries that are lost, and copies that come although it was acknowledged. */
      readonly lost: number;
      readonly copies: readonly number[];
      readonly lateMs: number;
    }
  /** A message of the chat is edited, or deleted. */
  | { readonly does: "edit" | "delete"; readonly chat: number; readonly id: string }
  /** The polled platform hands over once more what was acknowledged. */
  | { readonly does: "hand over again"; readonly count: number }
  | { readonly does: "agent"; readonly run: ScriptedRun }
  | {
      readonly does: "platform";
      readonly channel: Chat["channel"];
      readonly fate: Fate;
      readonly calls: number;
      readonly ms: number;
    }
  | {
      readonly does: "disk";
      readonly call: "commit" | "sync" | (typeof reads)[number];
      /**
       * `tear`: rows are written, then the commit fails and is taken back. `unanswered`: it is made, and
       * then fails.
       */
      readonly how: "fail" | "tear" | "full" | "unanswered";
      readonly skip: number;
      readonly calls: number;
    }
  /** The account has no connection for a while. */
  | { readonly does: "disconnect"; readonly channel: Chat["channel"]; readonly forMs: number }
  /** A record of an older epoch arrives, as of a second writer. */
  | { readonly does: "stale record" }
  /** By hand, on the conversation of a chat. */
  | { readonly does: "abort" | "reset" | "disengage"; readonly chat: number }
  | { readonly does: "slow disk"; readonly ms: number; readonly forMs: number }
  /** The process dies at the n-th call of a port from here on, and those after it at theirs. */
  | {
      readonly does: "kill";
      readonly calls: number;
      readonly downMs: number;
      readonly next: readonly number[];
    }
  /** At the n-th call of a port from here on. */
  | { readonly does: "lose host"; readonly calls: number }
  | { readonly does: "passivate"; readonly calls: number }
  | { readonly does: "step clock"; readonly ms: number }
  | { readonly does: "config"; readonly config: number };

/** What happens, and when: ms since the start. */
export type Step = Happening & { readonly at: number };

export interface Plan {
  readonly seed: number;
  readonly steps: readonly Step[];
}

/** From here on nothing fails any more. */
export const calmAt = 150_000;
const busyMs = 120_000;

/** The plan of a seed. */
export function planOf(seed: number): Plan {
  const chance = seededRandom(seed ^ 0x5eed_ca11);
  const draw = new Drawing(() => chance.next());
  const steps: Step[] = [];
  const moments: number[] = [];
  const put = (count: number, make: () => Happening) => {
    for (let n = 0; n < count; n += 1) {
      const made = make();
      const at = draw.moment(made.does === "say" ? [] : moments);
      if (made.does === "say") moments.push(at);
      steps.push({ at, ...made });
    }
  };
  const said = chats.map(() => 0);
  put(6 + draw.below(20), () => {
    const chat = draw.below(chats.length);
    said[chat] = (said[chat] ?? 0) + 1;
    return say(draw, chat, String(said[chat]));
  });
  if (draw.maybe(0.3))
    put(1 + draw.below(4), () => {
      const chat = draw.below(chats.length);
      const id = String(1 + draw.below((said[chat] ?? 0) + 1));
      return { does: draw.one(["edit", "delete"]), chat, id };
    });
  put(2 + draw.below(18), () => ({ does: "agent", run: agentRun(draw) }));
  // Each run has only some kinds of faults, so that their combinations differ.
  if (draw.maybe(0.7)) put(1 + draw.below(4), () => platform(draw));
  if (draw.maybe(0.6)) put(1 + draw.below(4), () => disk(draw));
  if (draw.maybe(0.4))
    put(1 + draw.below(2), () => ({
      does: "slow disk",
      ms: 1 + draw.below(draw.maybe(0.7) ? 400 : 2_000),
      forMs: 1_000 + draw.below(30_000),
    }));
  if (draw.maybe(0.6))
    put(1 + draw.below(4), () => ({
      does: "kill",
      calls: calls(draw),
      downMs: draw.one([0, 10, 1_000, 20_000]),
      next: draw.maybe(0.3)
        ? Array.from({ length: 1 + draw.below(3) }, () => 1 + draw.below(80))
        : [],
    }));
  if (draw.maybe(0.4)) put(1 + draw.below(3), () => ({ does: "lose host", calls: calls(draw) }));
  if (draw.maybe(0.4)) put(1 + draw.below(3), () => ({ does: "passivate", calls: calls(draw) }));
  if (draw.maybe(0.4)) put(1 + draw.below(3), () => ({ does: "step clock", ms: clockStep(draw) }));
  if (draw.maybe(0.3))
    put(1 + draw.below(2), () => ({ does: "hand over again", count: 1 + draw.below(6) }));
  if (draw.maybe(0.3))
    put(1 + draw.below(3), () => ({
      does: "disconnect",
      channel: draw.one(["telegram", "slack"]),
      forMs: draw.one([10, 3_000, 40_000]),
    }));
  if (draw.maybe(0.3)) put(1 + draw.below(3), () => ({ does: "stale record" }));
  if (draw.maybe(0.3))
    put(1 + draw.below(3), () => ({
      does: draw.one(["abort", "reset", "disengage"]),
      chat: draw.below(chats.length),
    }));
  if (draw.maybe(0.5))
    put(1 + draw.below(3), () => ({ does: "config", config: draw.below(configs.length) }));
  if (draw.maybe(0.3))
    put(1 + draw.below(2), () => ({
      does: "disk",
      call: "commit",
      how: "unanswered",
      skip: draw.below(draw.maybe(0.5) ? 3 : 30),
      calls: 1 + draw.below(3),
    }));
  steps.sort((a, b) => a.at - b.at);
  return { seed, steps };
}

/** Half of them within one message's path. */
const calls = (draw: Drawing): number => 1 + draw.below(draw.maybe(0.5) ? 30 : 400);

/** Draws from a source of chance. */
class Drawing {
  readonly #next: () => number;
  #moment = 0;

  constructor(next: () => number) {
    this.#next = next;
  }
  below(count: number): number {
    return Math.floor(this.#next() * count);
  }
  maybe(share: number): boolean {
    return this.#next() < share;
  }
  one<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }
  /**
   * Most of them soon after the one before, or after a message that was said: what meets is what
   * breaks.
   */
  moment(said: readonly number[]): number {
    const soon = this.#moment + this.below(this.maybe(0.5) ? 40 : 3_000);
    const after = said.length > 0 && this.maybe(0.5);
    if (after) this.#moment = this.one(said) + this.below(this.maybe(0.5) ? 700 : 6_000);
    else this.#moment = this.maybe(0.6) && soon < busyMs ? soon : this.below(busyMs);
    return this.#moment;
  }
}

function say(draw: Drawing, chat: number, id: string): Happening {
  const pushed = chats[chat]?.channel === "slack";
  return {
    does: "say",
    id,
    chat,
    text: draw.maybe(0.08) ? draw.one(["/stop", "/new", "/status"]) : "hello",
    author: chats[chat]?.kind === "direct" ? (chats[chat]?.id ?? "") : draw.one(["ann", "bob"]),
    calls: draw.maybe(0.7),
    lost: pushed && draw.maybe(0.15) ? 1 + draw.below(2) : 0,
    copies:
      pushed && draw.maybe(0.3)
        ? Array.from({ length: 1 + draw.below(2) }, () => draw.below(draw.maybe(0.5) ? 5 : 60_000))
        : [],
    lateMs: draw.maybe(0.3) ? draw.below(2_000) : draw.below(5),
  };
}

function agentRun(draw: Drawing): ScriptedRun {
  const afterMs = draw.maybe(0.5) ? draw.below(6_000) : 0;
  const text = { text: "yes" };
  switch (draw.below(9)) {
    case 8: {
      const part = [text, { messageEnd: true as const }, { waitMs: draw.below(800) }];
      return { afterMs, steps: [...part, ...part, ...part, ...part] };
    }
    case 7: {
      const part = [{ text: "a part of it. " }, { waitMs: draw.below(2_000) }];
      return { afterMs, steps: [...part, ...part, { steer: true }, ...part] };
    }
    case 0:
      return { afterMs, steps: [text, { messageEnd: true }, { waitMs: draw.below(3_000) }, text] };
    case 1:
      return { afterMs, steps: [{ error: "no" }] };
    case 2:
      return { afterMs, steps: [text, { messageEnd: true }, { error: "no more" }] };
    case 3:
      return { afterMs, steps: [{ text: "NO_REPLY" }] };
    case 4:
      return { afterMs, steps: [{ hang: true }] };
    case 5:
      return { afterMs, steps: [{ text: "a long answer. ".repeat(draw.below(900)) }] };
    default:
      return { afterMs, steps: [text] };
  }
}

const platform = (draw: Drawing): Happening => ({
  does: "platform",
  channel: draw.one(["telegram", "slack"]),
  fate: draw.one(fates),
  calls: 1 + draw.below(draw.maybe(0.7) ? 2 : 20),
  ms: draw.one([10, 2_000, 15_000, 25_000]),
});

function disk(draw: Drawing): Happening {
  const call = draw.maybe(0.7) ? draw.one(["commit", "commit", "sync"] as const) : draw.one(reads);
  const how = call === "commit" ? draw.one(["fail", "tear", "full"] as const) : "fail";
  return {
    does: "disk",
    call,
    how,
    skip: draw.below(draw.maybe(0.5) ? 3 : 30),
    // A disk stays full for a while.
    calls: how === "full" ? 3 + draw.below(12) : 1 + draw.below(draw.maybe(0.6) ? 1 : 12),
  };
}

const clockStep = (draw: Drawing): number =>
  draw.one([-3_600_000, -5_000, -100, 100, 5_000, 3_600_000, 172_800_000]);

/** Configs that a run changes between. */
export const configs: readonly Record<string, unknown>[] = [
  {},
  { messages: { queue: { mode: "followup" } } },
  { messages: { inbound: { debounceMs: 0 }, queue: { mode: "queue", cap: 2, drop: "old" } } },
  { messages: { queue: { mode: "interrupt" } }, turn: { maxConcurrentTurns: 1 } },
  { turn: { onInDoubt: "hold", maxMs: 20_000, idleMs: 5_000 } },
  { messages: { queue: { mode: "steer" } }, turn: { maxConcurrentTurns: 2 } },
  { stream: { mode: "draft" } },
  { stream: { mode: "block", minChars: 50, maxChars: 200, coalesceIdleMs: 100 } },
];
