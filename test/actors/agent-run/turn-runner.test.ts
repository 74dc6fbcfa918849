/**
 * The turn runner: one end per turn whatever the agent does, text that is sent in blocks, tools
 * that act on their own conversation only. Time is simulated; agents are small programs.
 */

import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { createTurnRunner, type TurnRunner } from "../../../src/actors/agent-run/turn-runner.ts";
import { createConversation } from "../../../src/actors/host/conversation-actor.ts";
import { settingsFor } from "../../../src/actors/host/conversation-settings.ts";
import type { TurnDelta, TurnReport } from "../../../src/actors/protocol/host-protocol.ts";
import { SimulatedClock } from "../../../src/actors/simulation/simulated-clock.ts";
import { eventLoop } from "../../../src/actors/util/scheduling.ts";
import { parseConfig } from "../../../src/domain/config/index.ts";
import { limits } from "../../../src/domain/limits.ts";
import type { AgentDriver, AgentPort, AgentTurn } from "../../../src/domain/ports/index.ts";
import { plainTurnSettings } from "../../../src/domain/session.ts";
import type { ConversationEvent } from "../../../src/machines/events/events.ts";

import { message } from "../../support/runtime/supervised.ts";

type Body = (turn: AgentTurn, options: { signal: AbortSignal }) => AsyncIterable<unknown>;

let clock: SimulatedClock;
let reports: TurnReport[];
let deltas: TurnDelta[];
let runner: TurnRunner;
let agent: AgentPort;
let opened: number;
let logged: string[];

beforeEach(() => {
  clock = new SimulatedClock(1_000);
  reports = [];
  deltas = [];
  opened = 0;
  logged = [];
  const driver: AgentDriver = {
    kind: "test",
    configSchema: z.unknown(),
    open: () => {
      opened += 1;
      return agent;
    },
  };
  runner = createTurnRunner({
    clock,
    scheduler: eventLoop,
    log: (_level, event) => void logged.push(event),
    drivers: new Map([["test", driver]]),
    onReports: (more) => void reports.push(...more),
    onDelta: (delta) => void deltas.push(delta),
    onDraft: () => undefined,
    ask: async () => "",
  });
});

const says = (body: Body): void => {
  agent = {
    capabilities: { steer: false, tools: true, images: false },
    run: body as AgentPort["run"],
  };
};

/** Lets everything that needs no time happen. */
const still = async (): Promise<void> => {
  let seen = -1;
  while (seen !== runner.activity) {
    seen = runner.activity;
    for (let n = 0; n < 5; n += 1) await new Promise(setImmediate);
  }
};

interface Order {
  readonly config?: unknown;
  readonly chatKind?: "direct" | "group";
  readonly textLimit?: number;
  readonly watched?: boolean;
  readonly turnId?: string;
  readonly kind?: string;
  readonly driver?: unknown;
}

const order = (given: Order = {}): void => {
  const { config = {}, chatKind = "group", textLimit = 4_096, turnId = "T1" } = given;
  const direct = chatKind === "direct";
  const key = direct ? "agent:main:main" : "agent:main:webhook:group:g";
  runner.run({
    order: {
      conv: 7,
      key,
      cfg: 1,
      turnId,
      turn: 1,
      attempt: 1,
      agentId: "main",
      system: "",
      prompt: "hi",
      messagesText: "hi",
      transcript: [],
      room: {
        chatKind,
        because: [],
        heardQuietly: 0,
        humans: 1,
        guardActive: false,
        creditWindowMs: 0,
      },
      textLimit,
      chatKind,
      edits: false,
      images: [],
      session: plainTurnSettings,
      thinking: "off",
      model: null,
      watched: given.watched ?? false,
      replyTo: "1",
    },
    agent: {
      agentId: "main",
      agentName: "earshot",
      kind: given.kind ?? "test",
      config: given.driver ?? {},
    },
    settings: settingsFor(parseConfig(config), key, 1),
  });
};

const events = (): ConversationEvent[] => reports.map(({ event }) => event);
const types = (): string[] => events().map(({ type }) => type);
const texts = (): string[] =>
  events().flatMap((event) => (event.type === "agent.text" ? [event.text] : []));
const ends = (): ConversationEvent[] =>
  events().filter(({ type }) => type === "agent.ended" || type === "agent.failed");
const failure = (): string | undefined => {
  const [end] = ends();
  return end?.type === "agent.failed" ? end.code : undefined;
};
const run = async (given: Order = {}): Promise<void> => {
  order(given);
  await still();
};
const text = (words: string) => ({ type: "text", text: words });

describe("a turn", () => {
  test("reports its start, its first words, its text, its use and its one end, in order", async () => {
    says(async function* () {
      yield text("Hello ");
      yield text("there.");
      yield { type: "usage", inputTokens: 3, outputTokens: 2 };
      yield { type: "usage", inputTokens: 1, outputTokens: 1 };
    });
    await run();
    expect(types()).toEqual([
      "agent.started",
      "agent.spoke",
      "agent.text",
      "agent.usage",
      "agent.ended",
    ]);
    expect(texts()).toEqual(["Hello there."]);
    expect(events()[3]).toMatchObject({ inputTokens: 4, outputTokens: 3 });
    expect(events()[4]).toMatchObject({ silent: false });
    expect(reports.map(({ n }) => n)).toEqual([0, 1, 2, 3, 4]);
  });

  test("reports reasoning in tags as reasoning, before the first words of its answer", async () => {
    says(async function* () {
      yield text("<thi");
      yield text("nk>They want tea.</thi");
      yield text("nk>\n\nTea.");
    });
    await run();
    const spoke = events().flatMap((event) => (event.type === "agent.spoke" ? [event.what] : []));
    expect(spoke).toEqual(["reasoning", "text"]);
    expect(texts()).toEqual(["Tea."]);
    expect(JSON.stringify(events())).not.toContain("want");
  });

  test("that never ends is ended by the idle time-out", async () => {
    says((_, { signal }) => hang(signal));
    await run({ config: { turn: { idleMs: 5_000, maxMs: 60_000 } } });
    clock.advanceTo(5_999);
    await still();
    expect(ends()).toEqual([]);
    clock.advanceTo(6_000);
    await still();
    expect(failure()).toBe("idle-timeout");
  });

  test("that keeps talking is ended by the total time-out, not by the idle one", async () => {
    says(async function* (_, { signal }) {
      while (!signal.aborted) {
        yield text("and ");
        await new Promise<void>((resolve) => void clock.setTimer(clock.now() + 900, resolve));
      }
    });
    await run({ config: { turn: { idleMs: 1_000, maxMs: 10_000 } } });
    for (let at = 1_100; at <= 12_000; at += 100) {
      clock.advanceTo(at);
      await still();
    }
    expect(failure()).toBe("total-timeout");
  });

  test("that ignores its abort is left behind after a second, and what it says then is dropped", async () => {
    let released: () => void = () => undefined;
    says(async function* () {
      yield text("one");
      await new Promise<void>((resolve) => {
        released = resolve;
      });
      yield text("two");
    });
    await run({ chatKind: "direct" });
    runner.abort("T1", "/stop");
    await still();
    expect(ends()).toEqual([]);
    clock.advanceTo(1_000 + limits.abortMsMax);
    await still();
    expect(failure()).toBe("aborted");
    const before = reports.length;
    released();
    await still();
    expect(reports).toHaveLength(before);
    expect(texts()).toEqual([]);
    expect(runner.running).toBe(0);
  });

  test("that honours its abort ends at once, and only once", async () => {
    says((_, { signal }) => hang(signal));
    await run();
    runner.abort("T1", "/stop");
    runner.abort("T1", "/stop");
    await still();
    expect(failure()).toBe("aborted");
    expect(ends()).toHaveLength(1);
  });

  const broken: readonly (readonly [string, () => unknown])[] = [
    [
      "throws",
      () => {
        throw new Error("boom");
      },
    ],
    ["sends something that is no event", () => ({ type: "text", text: 7 })],
    ["sends null", () => null],
    ["says that it failed", () => ({ type: "error", message: "boom" })],
  ];
  test.each(broken)("that %s fails once, and its half answer is not sent", async (_name, make) => {
    says(async function* () {
      yield text("half an ans");
      yield make();
      yield text("wer");
    });
    await run();
    clock.advanceTo(3_000);
    await still();
    expect(failure()).toBe("error");
    expect(ends()).toHaveLength(1);
    expect(texts()).toEqual([]);
  });

  test("that sends an event of a kind nobody knows goes on as if it had not", async () => {
    says(async function* () {
      yield text("whole ");
      yield { type: "role", role: "system", turnId: "forged", __proto__: null };
      yield text("answer");
      yield { type: "end" };
    });
    await run();
    expect(texts()).toEqual(["whole answer"]);
    expect(ends().map(({ type }) => type)).toEqual(["agent.ended"]);
  });

  test("whose agent throws while it is called fails", async () => {
    says(() => {
      throw new Error("boom");
    });
    await run();
    expect(failure()).toBe("error");
  });

  test("that streams 100 MB is stopped at the limit", async () => {
    let sent = 0;
    says(async function* () {
      const chunk = "x".repeat(65_536);
      for (; sent < 1_600; sent += 1) yield text(chunk);
    });
    await run({ config: { stream: { groupMaxChars: 0 } } });
    expect(failure()).toBe("too-long");
    expect(sent).toBeLessThanOrEqual(limits.agentBytesMax / 65_536 + 1);
  });

  test("that is longer than its group allows ends early, with a note, and has not failed", async () => {
    let sent = 0;
    says(async function* () {
      for (; sent < 1_000; sent += 1) yield text("A line of the answer.\n");
    });
    await run();
    expect(sent).toBeLessThan(600);
    expect(texts().join("").length).toBeLessThan(12_100);
    expect(texts().at(-1)).toMatch(/Say "continue" for the rest\.\]$/);
    expect(ends()).toMatchObject([{ type: "agent.ended", silent: false }]);
  });

  test("whose stream is always ready lets others run", async () => {
    says(async function* () {
      for (;;) yield text("");
    });
    order();
    await new Promise(setImmediate);
    runner.abort("T1", "enough");
    await still();
    expect(failure()).toBe("aborted");
  });

  test("of an agent without a driver fails, and the next turn tries again", async () => {
    await run({ kind: "nobody" });
    expect(failure()).toBe("error");
    // What was never opened is not closed either.
    expect(logged).toEqual(["agent.failed"]);
    says(async function* () {
      yield text("here");
    });
    await run({ turnId: "T2" });
    expect(texts()).toEqual(["here"]);
  });

  test("that is lost with its host reports nothing more", async () => {
    says((_, { signal }) => hang(signal));
    await run();
    const before = reports.length;
    runner.lose("T1");
    await still();
    expect(reports).toHaveLength(before);
    expect(runner.running).toBe(0);
  });
});

test("turns of one agent share one opened driver", async () => {
  says(async function* () {
    yield text("x");
  });
  await run();
  await run({ turnId: "T2" });
  expect(opened).toBe(1);
});

describe("words", () => {
  const long = "A sentence that goes on. ".repeat(100);

  test("leave as blocks in a direct chat, with offsets that cover the text once", async () => {
    says(async function* () {
      for (const word of long.split(/(?<= )/)) yield text(word);
    });
    await run({ chatKind: "direct" });
    expect(texts().length).toBeGreaterThan(1);
    expect(texts().every((block) => block.length <= 1_200)).toBe(true);
    const spans = events().flatMap((event) =>
      event.type === "agent.text" ? [[event.index, event.from, event.to]] : [],
    );
    spans.forEach(([index, from], place) => {
      expect(index).toBe(place);
      expect(from).toBeGreaterThanOrEqual(spans[place - 1]?.[2] ?? 0);
    });
  });

  test("leave as one text in a group, cut only by the platform's limit", async () => {
    says(async function* () {
      yield text(long);
    });
    await run();
    expect(texts()).toEqual([long]);
    reports = [];
    await run({ turnId: "T2", textLimit: 1_000 });
    expect(texts().length).toBeGreaterThanOrEqual(3);
    expect(texts().every((block) => block.length <= 1_000)).toBe(true);
  });

  test("that are only the silent token leave nothing, however they arrive", async () => {
    says(async function* () {
      for (const unit of "NO_REPLY") yield text(unit);
    });
    await run({ chatKind: "direct", watched: true });
    expect(types()).toEqual(["agent.started", "agent.ended"]);
    expect(events().at(-1)).toMatchObject({ silent: true });
    expect(deltas).toEqual([]);
  });

  test("in several messages keep their order, and a silent one among them is left out", async () => {
    says(async function* () {
      yield text("Let me look.");
      yield { type: "message-end" };
      yield text("NO_REPLY");
      yield { type: "message-end" };
      yield text("Found it.");
    });
    await run();
    expect(texts()).toEqual(["Let me look.\n\nFound it."]);
  });

  test("are shown to whoever watches, not more often than ten times a second", async () => {
    const pause = () =>
      new Promise<void>((resolve) => void clock.setTimer(clock.now() + 100, resolve));
    says(async function* () {
      yield text("one ");
      yield text("two ");
      await pause();
      yield text("three ");
      await pause();
    });
    await run({ watched: true });
    clock.advanceTo(1_100);
    await still();
    expect(deltas.map((delta) => delta.text)).toEqual(["one two", "one two three"]);
  });

  test("of an answer that is there at once are shown by its messages alone", async () => {
    says(async function* () {
      yield text("all ");
      yield text("of it");
    });
    await run({ watched: true });
    await still();
    expect(texts()).toEqual(["all of it"]);
    expect(deltas).toEqual([]);
  });

  test("name the people they mention in platform syntax", async () => {
    says(async function* () {
      yield text("<@U1> and [Bo](tg://user?id=42) and <@!U1> but not @ann");
    });
    await run();
    expect(events()[2]).toMatchObject({ mentions: ["U1", "42"] });
  });
});

describe("tools", () => {
  const calling = (calls: readonly (readonly [string, unknown])[], reported: string[] = []): void =>
    says(async function* (turn) {
      for (const [name, input] of calls) reported.push(await turn.callTool(name, input));
      yield text("after");
    });

  test("skip_response makes the turn silent whatever follows", async () => {
    const reported: string[] = [];
    calling(
      [
        ["skip_response", {}],
        ["channel_reply", { text: "no" }],
      ],
      reported,
    );
    await run();
    expect(types()).toEqual(["agent.started", "skip", "agent.tool-failed", "agent.ended"]);
    expect(reported[1]).toMatch(/^Refused/);
    expect(events().at(-1)).toMatchObject({ silent: true });
  });

  test("channel_reply sends at once, before the answer, each text once", async () => {
    calling([["channel_reply", { text: "now" }]]);
    await run();
    expect(texts()).toEqual(["now", "after"]);
  });

  test("channel_disengage becomes an event of the conversation", async () => {
    calling([["channel_disengage", {}]]);
    await run();
    expect(types().slice(0, 2)).toEqual(["agent.started", "disengage"]);
  });

  test("channel_react reaches the message that is answered, and no other turn's", async () => {
    calling([["channel_react", { emoji: "👍" }]]);
    await run();
    const [, reaction] = events();
    expect(reaction).toMatchObject({ type: "agent.tool", name: "channel_react" });
    const key = "agent:main:webhook:group:g";
    const settings = settingsFor(parseConfig({}), key, 1);
    const room = createConversation({ key, settings });
    const { at: said } = message("g", "1", "earshot?");
    room.step({ ...message("g", "1", "earshot?"), seq: 1 } as ConversationEvent);
    room.step({ type: "deadline.due", at: said + 5_000, id: "flush" });
    room.step({ type: "lane.granted", at: said + 5_001, turnId: "T1" });
    const late = room.step({ ...reaction, turnId: "T0" } as ConversationEvent);
    expect(late).toEqual([]);
    // It takes the place of our own mark on that message.
    expect(room.step(reaction as ConversationEvent)).toMatchObject([
      { type: "unreact", message: "1" },
      { type: "react", message: "1", emoji: "👍" },
    ]);
  });

  test("a destination is no argument: an unknown field is refused", async () => {
    const reported: string[] = [];
    calling([["channel_send", { text: "psst", chat: "other" }]], reported);
    await run();
    expect(reported[0]).toMatch(/^Refused/);
    expect(texts()).toEqual(["after"]);
  });

  test("an agent that goes on asking for refused tools is stopped", async () => {
    calling(Array.from({ length: 400 }, () => ["launch_missiles", {}] as const));
    await run();
    expect(failure()).toBe("error");
  });

  test("a call after the end does nothing", async () => {
    let late: AgentTurn | null = null;
    says(async function* (turn) {
      late = turn;
      yield text("done");
    });
    await run();
    const before = reports.length;
    const reported = await (late as AgentTurn | null)?.callTool("channel_reply", { text: "more" });
    await still();
    expect(reported).toMatch(/ended/);
    expect(reports).toHaveLength(before);
  });
});

function hang(signal: AbortSignal): AsyncIterable<unknown> {
  return {
    [Symbol.asyncIterator]: () => ({
      next: () =>
        new Promise((_, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        }),
    }),
  };
}

test("a turn that comes after the runner was closed is not begun and leaves no timer behind", async () => {
  says(async function* () {
    yield { type: "text", text: "too late" };
  });
  runner.close();
  order();
  await still();
  expect(reports).toEqual([]);
  expect(runner.running).toBe(0);
  expect(clock.nextDue()).toBeNull();
});

test("why a tool failed is one line of limited length; a secret is taken out before it is cut", async () => {
  const apiKey = "sk-a-key-of-some-length";
  says(async function* () {
    yield { type: "tool-start", name: "look", input: {} };
    const error = `no\nentry ${"x".repeat(280)}${apiKey}`;
    yield { type: "tool-end", name: "look", ok: false, error };
    yield { type: "error", message: `${"x".repeat(290)}${apiKey}` };
  });
  await run({ driver: { apiKey } });
  expect(types()).toContain("agent.tool-failed");
  const said = events().flatMap((event) =>
    event.type === "agent.tool-failed" || event.type === "agent.failed" ? event.message : [],
  );
  expect(said[0]).toMatch(/^no entry x+\[reda/u);
  for (const message of said) {
    expect(message.length).toBeLessThanOrEqual(301);
    expect(message).not.toContain("sk-");
  }
  expect(said).toHaveLength(2);
});
