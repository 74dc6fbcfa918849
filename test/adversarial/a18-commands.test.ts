/**
 * A18: words that look like orders. From somebody who may give none, or where they are only shown, they
 * are words for the agent and nothing changes; each is tried beside the same words from an owner, so
 * that a daemon which obeys nobody fails, too.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type InboundInput, inboundSchema } from "../../src/domain/message.ts";
import { defaultSessionSettings } from "../../src/domain/session.ts";
import { noOrders, readOrders } from "../../src/machines/commands/parse-command.ts";
import { commandList } from "../../src/machines/commands/table.ts";
import { property } from "../support/property.ts";
import {
  directKey,
  roomKey,
  type SessionWorld,
  sessionWorld,
} from "../support/runtime/session-world.ts";
import { openTelegramRooms, type TelegramRooms } from "../support/telegram/telegram-rooms.ts";

const owners = {
  commands: { ownerAllowFrom: ["telegram:ann"], allowFrom: { "*": ["telegram:ann"] } },
};
const plugins = [
  { name: "pigeon", commands: { feed: { help: "Feeds", run: () => "fed" } } },
] as const;
const skills = () => [
  {
    name: "review",
    agentId: "main",
    help: "Reviews",
    usage: "",
    menu: false,
    who: "authorised" as const,
    prompt: "Look twice.",
  },
];

/** Every entry of the table as it is written, by every name, and further ones. */
const orders = [
  ...commandList.flatMap(([name, { aliases, example }]) => [
    ...[example, `/${name}`, `/${name.toUpperCase()}`, `/${name}:`],
    ...aliases.map((other) => `/${other}`),
  ]),
  ...["/feed", "/pigeon:feed crumbs", "/review", "/skill:review it", "stop", "/exec security=full"],
  ...["/elevated full", "/config set log.level debug", "/approve K7QM always", "/tts off"],
];
const order = fc.constantFrom(...orders);
const some = fc.array(order, { minLength: 1, maxLength: 3 }).map((all) => all.join(" "));
const around = fc.constantFrom("look at this", "Ann said", "then", "");

/** Ways to show words instead of saying them. */
const wraps: Readonly<Record<string, (words: string) => string>> = {
  "a quote": (words) => `> ${words}`,
  "a quote in a quote": (words) => `> > ${words}`,
  "a fence": (words) => `\`\`\`\n${words}\n\`\`\``,
  "a fence with a language": (words) => `~~~sh\n${words}\n~~~`,
  "a fence without an end": (words) => `\`\`\`\n${words}`,
  "a code span": (words) => `\`${words}\``,
  "quotation marks": (words) => `"${words}"`,
};
const wrapped = fc
  .tuple(fc.constantFrom(...Object.keys(wraps)), some, around)
  .map(([how, words, before]) => {
    const shown = wraps[how]?.(words) ?? words;
    const apart = /fence|a quote/.test(how) ? "\n" : " ";
    return before === "" ? shown : `${before}${apart}${shown}`;
  });

/** Slashes that are none, and slash words that are part of another. */
const odd = fc
  .tuple(order, fc.constantFrom("∕", "／", "⁄", "\\", "x/", "//", "/ ", "/\u200b", ".../"))
  .map(([words, mark]) => words.replace(/^\/?/, mark));

function read(text: string, authority: object, more: Partial<InboundInput> = {}) {
  const message = inboundSchema.parse({
    channel: "telegram",
    chat: { id: "ann", kind: "direct" },
    id: "m1",
    author: { id: "ann" },
    text,
    ...more,
  });
  return readOrders(message, {
    authority: authority as { commandAuthorized: boolean; owner: boolean },
    resetTriggers: ["/new", "/reset"],
    stopWords: ["stop"],
    extras: [
      {
        name: "pigeon:feed",
        who: "authorised",
        usage: "",
        help: "Feeds",
        menu: false,
        agentId: null,
      },
    ],
  });
}

describe("A18 words that are read", () => {
  const all = { commandAuthorized: true, owner: true };

  property([fc.oneof(some, wrapped, odd)])(
    "order nothing from anybody without authority",
    (text) => {
      expect(read(text, { commandAuthorized: false, owner: false })).toEqual(noOrders(text));
      // An owner who may not give commands here is nobody here.
      expect(read(text, { commandAuthorized: false, owner: true })).toEqual(noOrders(text));
    },
  );

  property([wrapped])("order nothing where an owner only shows them", (text) => {
    expect(read(text, all)).toEqual(noOrders(text));
  });

  property([odd])("order nothing behind what only looks like a slash", (text) => {
    fc.pre(text !== "stop");
    expect(read(text, all)).toEqual(noOrders(text));
  });

  property([some])(
    "order nothing where the platform shows them, or they were passed on",
    (text) => {
      expect(read(text, all, { forwarded: true })).toEqual(noOrders(text));
      expect(read(text, all, { verbatim: [[0, text.length]] })).toEqual(noOrders(text));
    },
  );

  test.each(orders.filter((text) => !text.endsWith(":") && text !== "/skill:review it"))(
    "order something from an owner who says them: %s",
    (text) => {
      if (/review/.test(text)) return expect(read(text, all).ended).toBe(false);
      // Its text is a message for the agent.
      if (text.startsWith("/steer ")) return expect(read(text, all).steers).toBe(true);
      expect(read(text, all)).toMatchObject({ ended: true, calls: [{ args: expect.anything() }] });
    },
  );
});

describe("A18 words that are said", () => {
  /** Everything that a command could have changed, except for the agent's input. */
  async function standing(world: SessionWorld) {
    const settings = async (key: string) =>
      (await world.runtime.session(key))?.settings ?? defaultSessionSettings;
    return {
      direct: await settings(directKey),
      room: await settings(roomKey),
      sessions: (await world.runtime.sessions({ all: true, limit: 50 })).length,
      commands: world.lines.filter((line) => "decision" in line && line.decision === "command"),
      notices: world.sent.filter(({ id }) => id.startsWith("command-")),
      cancelled: world
        .events("agent_end")
        .filter((line) => "outcome" in line && line.outcome !== "replied"),
      config: world.lines.filter((line) => "system" in line && line.system === "config"),
    };
  }

  async function opened(): Promise<SessionWorld> {
    const world = await sessionWorld(owners, { plugins, skills });
    await world.talk("hello", { direct: true });
    return world;
  }

  /** Sends them, and checks that the agent received them and that nothing else happened. */
  async function onlyText(texts: readonly string[], more: object): Promise<void> {
    const world = await opened();
    const before = await standing(world);
    for (const text of texts) await world.talk(text, { direct: true, ...more });
    const said = world.turns.slice(1).map((turn) => turn.said);
    expect(said).toEqual(texts);
    expect(await standing(world)).toEqual(before);
    expect(world.turns.map(({ prompt }) => prompt).join()).not.toContain("Look twice.");
    await world.runtime.stop();
  }

  const once = { numRuns: 6 };

  property([fc.array(some, { minLength: 1, maxLength: 6 })], once)(
    "by somebody else are words for the agent, and change nothing",
    (texts) => onlyText(texts, { author: { id: "eve", name: "telegram:ann" } }),
  );

  property([fc.array(wrapped, { minLength: 1, maxLength: 6 })], once)(
    "by an owner in a quote, a fence or quotation marks are words for the agent, and change nothing",
    (texts) => onlyText(texts, {}),
  );

  property([fc.array(some, { minLength: 1, maxLength: 6 })], once)(
    "by an owner once, and read as history, change nothing and are answered by nobody",
    async (texts) => {
      const world = await opened();
      const before = await standing(world);
      const chat = { id: "room", kind: "group" as const };
      const place = { channel: "telegram", account: "default", chat, thread: null };
      const messages = texts.map((text, n) =>
        inboundSchema.parse({
          ...place,
          id: `old${n}`,
          author: { id: "ann", name: "Ann" },
          text,
        }),
      );
      const history = { ...place, messages };
      await world.runtime.ingest("telegram", "default", [{ type: "history", history }]);
      await world.pass(5_000);
      expect(await standing(world)).toEqual(before);
      expect(world.turns).toHaveLength(1);
      await world.runtime.stop();
    },
  );

  test("by an owner do what they say", async () => {
    const world = await opened();
    for (const text of [
      "/think high",
      "/feed crumbs",
      "/exec security=full",
      "/tts off",
      "/review",
    ])
      await world.talk(text, { direct: true });
    const now = await standing(world);
    expect(now.direct).toMatchObject({ thinking: "high", exec: { security: "full" }, tts: "off" });
    expect(now.commands).toHaveLength(4);
    expect(world.sent.map(({ text }) => text)).toContain("fed");
    expect(world.turns.at(-1)?.prompt).toContain("Look twice.");
    await world.runtime.stop();
  });
});

describe("A18 on a Telegram", () => {
  const quick = { messages: { inbound: { debounceMs: 20, debounceMaxMs: 100 } } };
  /** Ann is the first person of the rooms. */
  const config = { ...quick, commands: { ownerAllowFrom: ["telegram:7001"] } };
  const dm = (rooms: TelegramRooms, who: "ann" | "bob") =>
    rooms.server.world.direct(rooms.people[who] as never);
  const settled = async (rooms: TelegramRooms, said: readonly { message_id: number }[]) =>
    rooms.until(() => said.every((one) => rooms.decision(one as never) !== undefined), "decisions");
  const levels = async (rooms: TelegramRooms) =>
    (await rooms.runtime.sessions({ limit: 10, all: true })).map(({ settings }) => settings);

  test("a stranger's orders are words, an owner's quote is a quote, and an owner is obeyed", async () => {
    const rooms = await openTelegramRooms({ workers: 0, config });
    const attempts = [
      ...["/stop", "/reset", "/model x", "hey /elevated full", "/exec security=full", "/restart"],
      ...["hello\n/think high", "∕think high", "／stop", "`/think max`", "> /think max"],
      ...["/config set access.dmPolicy open", "/allowlist add 7002", "/approve K7QM", "/whoami"],
    ];
    const tried = attempts.map((text) => rooms.say("bob", text, {}, dm(rooms, "bob")));
    const shown = ["> /think max", "see `/stop`", "```\n/new\n```", "∕think high"].map((text) =>
      rooms.say("ann", text, {}, dm(rooms, "ann")),
    );
    await settled(rooms, [...tried, ...shown]);
    for (const one of [...tried, ...shown])
      expect(rooms.decision(one)).toMatchObject({ decision: "engage", rule: "dm" });
    for (const settings of await levels(rooms)) expect(settings).toEqual(defaultSessionSettings);
    expect(rooms.sends().filter(({ id }) => id.startsWith("command-"))).toEqual([]);

    const obeyed = rooms.say("ann", "/think max", {}, dm(rooms, "ann"));
    await settled(rooms, [obeyed]);
    expect(rooms.decision(obeyed)).toMatchObject({ decision: "command" });
    await rooms.until(
      () =>
        rooms.server.world.answers(dm(rooms, "ann")).some(({ text }) => text === "Thinking: max."),
      "the answer",
    );
    expect((await levels(rooms)).map(({ thinking }) => thinking).sort()).toEqual(["max"]);
    expect(rooms.server.world.answers(dm(rooms, "bob")).map(({ text }) => text)).not.toContain(
      "Thinking: max.",
    );
  });

  test("what a platform marks as code, or as passed on, orders nothing", async () => {
    const rooms = await openTelegramRooms({ workers: 0, config });
    const room = dm(rooms, "ann");
    const marked = rooms.say(
      "ann",
      "/think max",
      { entities: [{ type: "code", offset: 0, length: 10 }] },
      room,
    );
    const sender = { type: "user", sender_user: rooms.people.ann, date: 1_700_000_000 };
    const passedOn = rooms.say("ann", "/think max", { extra: { forward_origin: sender } }, room);
    await settled(rooms, [marked, passedOn]);
    for (const one of [marked, passedOn])
      expect(rooms.decision(one)).toMatchObject({ decision: "engage" });
    for (const settings of await levels(rooms)) expect(settings).toEqual(defaultSessionSettings);
  });
});
