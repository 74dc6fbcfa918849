/**
 * Inspecting conversations in real hosts, on this thread and in worker threads: which reader gets
 * which frames, in which order, and that they hold no text of the room unless the reader may see
 * text.
 */
import fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import { createConversation } from "../../../src/actors/host/conversation-actor.ts";
import { createHostCore } from "../../../src/actors/host/conversation-host.ts";
import { settingsFor } from "../../../src/actors/host/conversation-settings.ts";
import { shownContext, shownEvent } from "../../../src/actors/host/projected-fields.ts";
import type { HostEntry } from "../../../src/actors/protocol/host-protocol.ts";
import { inspected } from "../../../src/actors/protocol/validate-inspection.ts";
import { hash52 } from "../../../src/domain/key.ts";
import { limits } from "../../../src/domain/limits.ts";
import type { InspectFrame, InspectReport } from "../../../src/domain/ports/index.ts";
import { newContext } from "../../../src/machines/conversation/context.ts";
import type { ConversationEvent } from "../../../src/machines/events/events.ts";
import { builtUrl } from "../../support/built/files.ts";
import { inTurn } from "../../support/rounds.ts";
import { defaults } from "../../support/runtime/conversation-rig.ts";
import {
  configOf,
  createWorld,
  groupKey,
  message,
  type World,
} from "../../support/runtime/supervised.ts";

const canary = "xylophone-canary";
const poisonedHost = builtUrl("test/poisoned-host");
const soon = (claim: () => void) => vi.waitFor(claim, { timeout: 60_000, interval: 20 });
const textOf = (frames: readonly InspectFrame[]) => JSON.stringify(frames);
const kinds = (frames: readonly InspectFrame[]) => frames.map(({ kind }) => kind);
const of = (frames: readonly InspectFrame[], reader: number) =>
  frames.filter(({ readers }) => readers.includes(reader));

/** A core whose frames are kept. */
function inspectedCore(live = 100) {
  const frames: InspectFrame[] = [];
  const core = createHostCore({
    create: createConversation,
    settingsFor,
    live,
    checkpointEvery: 64,
    evictedTail: 0,
    onInspect: (reported) => void frames.push(...reported),
  });
  let batches = 0;
  let seq = 0;
  const say = (room: string, text: string, fresh = false) => {
    seq += 1;
    batches += 1;
    const key = groupKey(room);
    const event = { ...message(room, String(seq), text), seq } as ConversationEvent;
    const activation = { record: null, recordSeq: 0, tail: [] };
    const entry: HostEntry = {
      conv: hash52(key),
      key,
      seq,
      cfg: 1,
      event,
      ...(fresh ? { activation } : {}),
    };
    return core.apply({
      id: batches,
      epoch: 1,
      forget: [],
      entries: [entry],
      configs: [{ version: 1, config: configOf() }],
    });
  };
  return { core, frames, say };
}

describe("a host", () => {
  test("tells nobody anything before somebody looks", () => {
    const { frames, say } = inspectedCore();
    say("a", "hello", true);
    expect(frames).toEqual([]);
  });

  test("tells a reader which conversations there are, then each event and the state after it", () => {
    const { core, frames, say } = inspectedCore();
    say("a", "hello", true);
    core.inspect({ id: 1, conv: null, withText: false });
    expect(frames).toMatchObject([{ kind: "actor", readers: [1], key: groupKey("a") }]);
    say("a", "and again");
    expect(kinds(frames)).toEqual(["actor", "event", "snapshot"]);
    expect(new Set(frames.map(({ actor }) => actor)).size).toBe(1);
    say("b", "elsewhere", true);
    expect(kinds(frames).slice(3)).toEqual(["actor", "event", "snapshot"]);
  });

  test("a reader of one room is told of no other, and of nothing once it has left", () => {
    const { core, frames, say } = inspectedCore();
    core.inspect({ id: 1, conv: hash52(groupKey("a")), withText: false });
    say("b", "elsewhere", true);
    expect(frames).toEqual([]);
    say("a", "here", true);
    expect(kinds(frames)).toEqual(["actor", "event", "snapshot"]);
    core.uninspect(1);
    say("a", "unseen");
    expect(frames).toHaveLength(3);
  });

  test("who comes late is told of the state there is, and shares what follows", () => {
    const { core, frames, say } = inspectedCore();
    core.inspect({ id: 1, conv: null, withText: false });
    say("a", "earshot?", true);
    core.inspect({ id: 2, conv: null, withText: false });
    const [late] = of(frames, 2);
    expect(late?.kind === "actor" && JSON.parse(late.snapshotJson)).toMatchObject({
      status: "active",
      value: { attention: { engaged: "gathering" }, guard: "clear" },
    });
    say("a", "hello?");
    expect(frames.at(-1)).toMatchObject({ kind: "snapshot", readers: [1, 2] });
  });

  test("a conversation that is put away is said to have stopped", () => {
    const { core, frames, say } = inspectedCore(1);
    core.inspect({ id: 1, conv: null, withText: false });
    const aside = message("a", "1", "hm", { mentions: [{ id: "zoe", isSelf: false }] });
    const key = groupKey("a");
    core.apply({
      id: 1,
      epoch: 1,
      forget: [],
      passivate: true,
      configs: [{ version: 1, config: configOf() }],
      entries: [
        {
          conv: hash52(key),
          key,
          seq: 1,
          cfg: 1,
          event: { ...aside, seq: 1 } as never,
          activation: { record: null, recordSeq: 0, tail: [] },
        },
      ],
    });
    const stopped = frames.filter((one) => one.kind === "snapshot").slice(1);
    expect(stopped).toHaveLength(1);
    expect(stopped[0]?.kind === "snapshot" && JSON.parse(stopped[0].snapshotJson).status).toBe(
      "stopped",
    );
    say("a", "back", true);
    expect(frames.filter(({ kind }) => kind === "actor")).toHaveLength(2);
  });

  test("who looks into all is shown so many and no more; who looks into one is shown that one", () => {
    const { core, frames, say } = inspectedCore(1_000);
    core.inspect({ id: 1, conv: null, withText: false });
    for (let n = 0; n < limits.inspectActorsMax + 5; n += 1) say(`room${n}`, "earshot?", true);
    expect(frames.filter(({ kind }) => kind === "actor")).toHaveLength(limits.inspectActorsMax);
    core.inspect({ id: 2, conv: hash52(groupKey("room66")), withText: false });
    expect(of(frames, 2)).toMatchObject([{ kind: "actor", key: groupKey("room66") }]);
  });
});

describe("words", () => {
  test("are in no frame of who has not asked for them, and in those of who has", () => {
    const { core, frames, say } = inspectedCore();
    core.inspect({ id: 1, conv: null, withText: false });
    core.inspect({ id: 2, conv: null, withText: true });
    say("a", `earshot, ${canary}?`, true);
    say("a", `once more: ${canary}`);
    expect(textOf(of(frames, 1))).not.toContain(canary);
    expect(textOf(of(frames, 2))).toContain(canary);
    expect(of(frames, 1).length).toBe(of(frames, 2).length);
  });

  /** Every string of a value that is no name of a field and stands where people's words stand. */
  const places = fc.constantFrom("text", "name", "title", "reply", "file", "caption");
  const poisoned = (where: string): ConversationEvent =>
    message("a", "1", where === "text" ? canary : "hi", {
      author: { id: "ann", name: where === "name" ? canary : "Ann", isBot: false, isSelf: false },
      chat: { id: "a", kind: "group", title: where === "title" ? canary : "A" },
      replyTo: { id: "0", text: where === "reply" ? canary : "x" },
      attachments: [
        {
          id: where === "file" ? canary : "f",
          kind: "file",
          name: where === "caption" ? canary : "n",
        },
      ],
    });

  test("of every place of a message stay out, whatever place it is", () => {
    fc.assert(
      fc.property(places, (where) => {
        expect(JSON.stringify(shownEvent(poisoned(where), false))).not.toContain(canary);
      }),
    );
    // Twin: they are there for who asks, but for the platform's handle of a file.
    for (const where of ["text", "name", "title", "reply", "caption"])
      expect(JSON.stringify(shownEvent(poisoned(where), true))).toContain(canary);
  });

  const spoken: readonly ConversationEvent[] = [
    {
      type: "agent.text",
      at: 1,
      turnId: "t",
      index: 0,
      from: 0,
      to: 1,
      text: canary,
      mentions: [],
    },
    { type: "agent.tool", at: 1, turnId: "t", name: canary, input: { query: { deep: canary } } },
    { type: "agent.failed", at: 1, turnId: "t", code: "error", message: canary },
    { type: "run.aborted", at: 1, by: canary },
    { type: "command.applied", at: 1, command: "model", args: [canary] },
    {
      type: "command.applied",
      at: 1,
      command: "x",
      args: [],
      more: [{ command: "y", args: [canary] }],
    },
  ];
  test.each(spoken.map((event) => [event.type, event] as const))(
    "of %s are seen by who asks for them alone",
    (_, event) => {
      expect(JSON.stringify(shownEvent(event, false))).not.toContain(canary);
      expect(JSON.stringify(shownEvent(event, true))).toContain(canary);
    },
  );

  test("a field that nobody has decided about is not shown, words or not", () => {
    const grown = { type: "skip", at: 1, turnId: "t", whisper: canary } as ConversationEvent;
    expect(shownEvent(grown, true)).toEqual({ type: "skip", at: 1, turnId: "t" });
    const context = { ...newContext(defaults), whisper: canary };
    expect(JSON.stringify(shownContext(context, [], true))).not.toContain(canary);
  });

  test("of any context are kept back wherever they stand, and what is shown stays small", () => {
    const words = fc.constant(canary);
    const gist = fc.record({ seq: fc.nat(), id: fc.constant("m"), gist: words });
    const contexts = fc.record({
      participants: fc.array(
        fc.record({ id: fc.constant("p"), name: words, isBot: fc.boolean(), lastSeenAt: fc.nat() }),
        { maxLength: 50 },
      ),
      droppedWhileBusy: fc.array(words, { maxLength: 200 }),
      inbox: fc.array(fc.record({ messages: fc.array(gist, { maxLength: 3 }) }), { maxLength: 60 }),
      effects: fc.array(
        fc.constantFrom(
          { type: "block", turnId: "t", index: 0, text: canary },
          { type: "transcript", turnId: "t", role: "assistant", text: canary },
          { type: "outcome", turnId: "t", outcome: "failed", reason: canary },
          { type: "react", message: "m", emoji: canary },
          { type: "turn.run", participants: [canary], droppedWhileBusy: [canary] },
          { type: "command", calls: [{ command: "model", args: [canary] }] },
        ),
        { minLength: 1, maxLength: 5 },
      ),
    });
    fc.assert(
      fc.property(contexts, ({ effects, ...part }) => {
        type Shown = Parameters<typeof shownContext>;
        const context = { ...newContext(defaults), ...part } as unknown as Shown[0];
        const shown = (words: boolean) =>
          JSON.stringify(shownContext(context, effects as unknown as Shown[1], words));
        expect(shown(false)).not.toContain(canary);
        expect(shown(true)).toContain(canary);
        expect(shown(true).length).toBeLessThan(65_536);
      }),
    );
  });
});

describe("what a host may tell", () => {
  const good = { kind: "event", readers: [1], actor: "x:4", eventJson: '{"type":"skip"}' };
  test("is taken in its form", () => {
    expect(inspected([good])).toEqual([good]);
  });
  test.each([
    ["no list", good],
    ["JSON that ends early", [{ ...good, eventJson: '{"type":' }]],
    ["JSON that goes on", [{ ...good, eventJson: '{},"sessionId":"x:9"' }]],
    ["no reader", [{ ...good, readers: [] }]],
    ["another actor's name", [{ ...good, actor: 'x:4","type":"other' }]],
    ["more fields", [{ ...good, also: 1 }]],
    ["too much of it", [{ ...good, eventJson: `"${"x".repeat(limits.inspectUnitsMax)}"` }]],
  ])("is refused: %s", (_, given) => {
    expect(inspected(given)).toBeNull();
  });
});

test("a step that throws is told, without the words of the error", async () => {
  const reported: InspectFrame[] = [];
  const world = createWorld({
    workers: 1,
    hostEntry: poisonedHost,
    onInspect: ({ frames }) => void reported.push(...frames),
  });
  try {
    await world.supervisor.start();
    world.supervisor.inspections.begin({ id: 7, conv: null, withText: false });
    world.send(groupKey("a"), message("a", "1", "hello"));
    world.send(groupKey("a"), message("a", "2", "!throw"));
    await world.settled();
    await soon(() => {
      const states = reported.flatMap((one) =>
        one.kind === "snapshot" ? [JSON.parse(one.snapshotJson)] : [],
      );
      expect(states.find(({ status }) => status === "error")).toMatchObject({
        error: "(6 characters, not shown)",
      });
    });
    expect(textOf(reported)).not.toContain("poison");
  } finally {
    await world.supervisor.stop();
  }
});

describe("through the supervisor", () => {
  let world: World | null = null;
  const reports: InspectReport[] = [];
  const frames = () => reports.flatMap((report) => report.frames);
  afterEach(async () => {
    await world?.supervisor.stop();
    world = null;
    reports.length = 0;
  });
  const start = async (workers: number): Promise<World> => {
    world = createWorld({
      workers,
      onInspect: (report) => void reports.push(report),
      ...(workers > 0 ? { hostEntry: poisonedHost } : {}),
    });
    await world.supervisor.start();
    return world;
  };

  test.each(inTurn([0, 1, 2], 2))(
    "a reader is told of every conversation, by whichever host it lives on (%i workers)",
    async (workers) => {
      const { supervisor, send } = await start(workers);
      supervisor.inspections.begin({ id: 7, conv: null, withText: false });
      for (let n = 1; n <= 8; n += 1)
        send(groupKey(`room${n}`), message(`room${n}`, `${n}`, canary));
      await supervisor.settled();
      await soon(() => {
        expect(frames().filter(({ kind }) => kind === "actor")).toHaveLength(8);
        expect(frames().filter(({ kind }) => kind === "snapshot").length).toBeGreaterThanOrEqual(8);
      });
      expect(new Set(reports.map(({ host }) => host)).size).toBe(Math.max(1, workers));
      expect(textOf(frames())).not.toContain(canary);
    },
  );

  test.each(inTurn([0, 1, 2], 1))(
    "a host that was started again goes on telling (%i workers)",
    async (workers) => {
      const { supervisor, send } = await start(workers);
      supervisor.inspections.begin({ id: 7, conv: null, withText: true });
      send(groupKey("a"), message("a", "1", canary));
      await supervisor.settled();
      await supervisor.crash();
      send(groupKey("a"), message("a", "2", "again"));
      await supervisor.settled();
      await soon(() => {
        const actors = reports.filter((one) => one.frames.some(({ kind }) => kind === "actor"));
        expect(new Set(actors.map(({ epoch }) => epoch)).size).toBe(2);
      });
      expect(textOf(frames())).toContain(canary);
    },
  );
});
