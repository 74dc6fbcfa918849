/**
 * A11 to A17: who may speak. On a Telegram of real sockets where a platform's messages matter, each
 * attack beside a person that the same config admits.
 */
import { describe, expect, test } from "vitest";
import { seededRandom } from "../../src/actors/simulation/simulated-platforms.ts";
import { parseConfig } from "../../src/domain/config/index.ts";
import { limits } from "../../src/domain/limits.ts";
import { World } from "../support/runtime/world.ts";
import { openTelegramRooms, type TelegramRooms } from "../support/telegram/telegram-rooms.ts";

const quick = { messages: { inbound: { debounceMs: 20, debounceMaxMs: 100 } } };
/** People's ids are assigned when the rooms are opened: the first two are Ann and Bob. */
const ann = 7_001;
const bob = 7_002;
const listed = (who: number) => ({
  ...quick,
  access: { dmPolicy: "allowlist", allowFrom: [`telegram:${who}`] },
});
const direct = (rooms: TelegramRooms, who: { id: number }) =>
  rooms.server.world.direct(who as never);
/** What the bot has said to somebody. */
const reported = (rooms: TelegramRooms, who: { id: number }) =>
  rooms.server.world.answers(direct(rooms, who)).map(({ text }) => text ?? "");

test("A11 a stranger is denied without a word, and the log tells it once", async () => {
  const rooms = await openTelegramRooms({ workers: 0, config: listed(ann) });
  const eve = rooms.server.world.user("Eve");
  const room = direct(rooms, eve);
  const said = Array.from({ length: 20 }, (_, n) => rooms.server.world.say(room, eve, `hi ${n}`));
  await rooms.until(() => said.every((one) => rooms.decision(one) !== undefined), "decisions");
  for (const one of said)
    expect(rooms.decision(one)).toMatchObject({ decision: "denied", rule: "dm-policy" });
  expect(rooms.logs.filter((line) => line.includes("message.denied"))).toHaveLength(1);
  // The twin: who is listed is answered, and only they were.
  rooms.say("ann", "hello", {}, direct(rooms, rooms.people.ann));
  await rooms.until(() => reported(rooms, rooms.people.ann).length > 0, "the answer");
  expect(reported(rooms, eve)).toEqual([]);
  expect(rooms.prompts()).toHaveLength(1);
  expect(rooms.server.calls("sendChatAction").every(({ chat_id }) => chat_id !== eve.id)).toBe(
    true,
  );
});

test("A12 a name, a username or what looks like the owner's grants nothing", async () => {
  const config = {
    ...quick,
    access: { dmPolicy: "allowlist" },
    commands: { ownerAllowFrom: [`telegram:${ann}`] },
  };
  const rooms = await openTelegramRooms({ workers: 0, config });
  const { world } = rooms.server;
  const twins = [
    ...["Ann", "Аnn", "A\u200bnn", "\u202eAnn", `telegram:${ann}`, String(ann)].map((name) =>
      world.user(name, { username: "ann" }),
    ),
    world.user("Eve", { last_name: "Ann", username: String(ann) }),
  ];
  const said = twins.map((twin) => world.say(world.direct(twin), twin, "/config show"));
  const real = rooms.say("ann", "/config show", {}, direct(rooms, rooms.people.ann));
  await rooms.until(() => rooms.decision(real) !== undefined, "the decision");
  for (const one of said) expect(rooms.decision(one)).toMatchObject({ decision: "denied" });
  await rooms.until(() => reported(rooms, rooms.people.ann).length > 0, "the answer");
  expect(reported(rooms, rooms.people.ann)[0]).toContain("Sections:");
  for (const twin of twins) expect(reported(rooms, twin)).toEqual([]);
});

test("A13 an id is that very text on that very channel and account", async () => {
  const access = { dmPolicy: "allowlist", allowFrom: ["telegram:123", "telegram:-9"] };
  const world = await new World({ config: { access } }).start();
  const say = (id: string, chat = id) =>
    world.say("hi", { chat: { id: chat, kind: "direct" }, author: { id } });
  for (const id of ["0123", " 123", "123 ", "123\n", "-123", "1230", "telegram:123", "１２３", "9"])
    await say(id, "123");
  // A group's id belongs to no person, and a person in the access store is known on their account
  // alone.
  await world.say("hi", { chat: { id: "-9", kind: "group" }, author: { id: "9" } });
  const person = { channel: "telegram", account: "work", id: "5" };
  await world.runtime.access().allow({ ...person, scope: "direct" }, "telegram:1");
  await say("5");
  await world.pass(10);
  const decided = world.decisions().map(({ decision }) => decision);
  expect(decided.sort()).toEqual([...Array(10).fill("denied"), "observe"]);
  await say("123");
  await world.say("hi", {
    chat: { id: "5", kind: "direct" },
    author: { id: "5" },
    account: "work",
  });
  await world.pass(2_000);
  expect(
    world
      .decisions()
      .slice(-2)
      .map(({ decision }) => decision),
  ).toEqual(["engage", "engage"]);
  // A number is no id: it would have to be guessed how it was meant.
  expect(() => parseConfig({ access: { allowFrom: [123 as never] } })).toThrow("access.allowFrom");
});

test("A14 who was let in to direct chats is not heard in a group that lists others", async () => {
  const rooms = await openTelegramRooms({
    workers: 0,
    config: {
      ...quick,
      access: { dmPolicy: "pairing", groupAllowFrom: [`telegram:${bob}`] },
    },
  });
  const room = direct(rooms, rooms.people.ann);
  rooms.say("ann", "may I?", {}, room);
  await rooms.until(() => reported(rooms, rooms.people.ann).length > 0, "the code");
  const code = /\b[A-HJ-NP-Z2-9]{8}\b/.exec(reported(rooms, rooms.people.ann)[0] ?? "")?.[0] ?? "";
  const approved = await rooms.runtime.access().approve(code, "console");
  expect(approved).toMatchObject({ outcome: "approved", owner: true });
  rooms.say("ann", "thank you", {}, room);
  await rooms.until(() => reported(rooms, rooms.people.ann).length > 1, "the answer");
  // Not even as the owner: groups have lists of their own.
  const hers = rooms.say("ann", "@scout_bot and here?");
  const his = rooms.say("bob", "@scout_bot here I am");
  await rooms.answers(1);
  expect(rooms.decision(hers)).toMatchObject({ decision: "denied", rule: "group-policy" });
  expect(rooms.decision(his)).toMatchObject({ decision: "engage", rule: "mention" });
});

describe("A15 lists", () => {
  test("A15 an empty one means nobody, and everybody has to be spelled", async () => {
    const say = async (access: object) => {
      const world = await new World({ config: { access } }).start();
      await world.say("hi", { direct: true });
      await world.say("hi");
      await world.pass(2_000);
      return world
        .decisions()
        .map(({ decision }) => decision)
        .sort();
    };
    const empty = { allowFrom: [], groupAllowFrom: [], groups: {} };
    const lists = { dmPolicy: "allowlist", groupPolicy: "allowlist", ...empty };
    expect(await say(lists)).toEqual(["denied", "denied"]);
    expect(await say({ ...lists, dmPolicy: "open", groupPolicy: "open" })).toEqual([
      "engage",
      "observe",
    ]);
  });

  test("A15 a star or a key that nobody knows is an error that says so", () => {
    for (const access of [
      { allowFrom: ["*"] },
      { groupAllowFrom: ["*"] },
      { groups: { "*": {} } },
      { groups: { "telegram:1": { allowFrom: ["*"] } } },
    ])
      expect(() => parseConfig({ access } as never), JSON.stringify(access)).toThrow(
        /open|channel/,
      );
    for (const place of [{ allowFrom: ["*"] }, { accounts: { a: { groupAllowFrom: ["*"] } } }])
      expect(() => parseConfig({ channels: { telegram: place } } as never)).toThrow(/"open"/);
    expect(() => parseConfig({ commands: { ownerAllowFrom: ["*"] } })).toThrow();
    expect(() => parseConfig({ access: { alowFrom: ["telegram:1"] } } as never)).toThrow(
      "allowFrom",
    );
    expect(parseConfig({ access: { allowFrom: ["telegram:1"] } })).toBeTruthy();
  });
});

test("A16 edits, reactions, buttons, forwards, posts and bots pass the same gate", async () => {
  const rooms = await openTelegramRooms({
    workers: 0,
    config: { ...quick, access: { groupAllowFrom: [`telegram:${bob}`] } },
  });
  const { world } = rooms.server;
  const robot = world.user("Robot", { is_bot: true });
  const origin = { type: "user", sender_user: world.users.get(bob), date: 1 };
  const hers = [
    rooms.say("ann", "@scout_bot hi"),
    rooms.say("ann", "@scout_bot his words", { extra: { forward_origin: origin } }),
    rooms.say("ann", "@scout_bot as the group", { extra: { sender_chat: rooms.group.chat } }),
    world.say(rooms.group, robot, "@scout_bot beep"),
    world.say(world.channel("News"), robot, "@scout_bot news"),
  ];
  await rooms.until(() => hers.every((one) => rooms.decision(one) !== undefined), "decisions");
  for (const one of hers)
    expect(rooms.decision(one)).toMatchObject({ decision: "denied", rule: "group-policy" });
  const rows = await rooms.store.lastSeq();
  const user = world.users.get(ann);
  world.edit(rooms.group, hers[0] as never, "@scout_bot what I meant");
  world.post({
    callback_query: { id: "1", from: user, chat_instance: "x", data: "go", message: hers[0] },
  });
  world.post({
    message_reaction: {
      chat: rooms.group.chat,
      message_id: 100,
      user,
      date: 1,
      old_reaction: [],
      new_reaction: [{ type: "emoji", emoji: "👍" }],
    },
  });
  // Nobody at all behind it.
  const { from: _, ...nobody } = world.build(rooms.group, user as never, { text: "@scout_bot ?" });
  world.post({ message: nobody });
  const his = rooms.say("bob", "@scout_bot hello");
  world.edit(rooms.group, his, "@scout_bot hello there");
  await rooms.answers(1);
  expect(rooms.decision(nobody as never)).toMatchObject({ decision: "denied" });
  const edits = (await rooms.store.scan(rows, 100)).filter(({ body }) =>
    body.includes('"message.edited"'),
  );
  expect(edits.map(({ body }) => body.includes("hello there"))).toEqual([true]);
  expect(rooms.prompts().join()).not.toContain("what I meant");
  expect(world.answers(rooms.group)).toHaveLength(1);
});

describe("A17 codes", () => {
  const pairing = { access: { dmPolicy: "pairing" } };
  const start = async () => {
    const random = seededRandom(3);
    return new World({ config: pairing, random: () => random.next() }).start();
  };
  const dm = (world: World, id: string, text: string, account = "default") =>
    world.say(text, { chat: { id, kind: "direct" }, author: { id }, account });

  test("A17 of a thousand guesses five are looked at; the right one elsewhere is good, once", async () => {
    const world = await start();
    const accessStore = world.runtime.access();
    const issue = async () =>
      (await accessStore.issue({ role: "owner", ttlMs: limits.claimMsMax, by: "console" }))?.code ??
      "";
    const code = await issue();
    const letters = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
    const guess = (n: number) => `claim-AAA${letters[n % 32]}${letters[(n >> 5) % 32]}A-BBBBBB`;
    for (let n = 0; n < 1_000; n += 1) await dm(world, `x${n % 40}`, guess(n));
    await dm(world, "7", code);
    const decided = world.decisions();
    expect(decided).toHaveLength(1_001);
    expect(decided.every(({ decision, rule }) => decision === "denied" && rule === "claim")).toBe(
      true,
    );
    expect(accessStore.list().guesses).toMatchObject([{ count: limits.codeGuessesMax }]);
    expect(accessStore.list().grants).toEqual([]);
    for (const [id, decision] of [
      ["7", "claim"],
      ["8", "denied"],
    ] as const) {
      await dm(world, id, code, "work");
      expect(world.decisions().at(-1)).toMatchObject({ decision });
    }
    await world.pass(limits.codeLockMs);
    await dm(world, "7", await issue());
    expect(world.decisions().at(-1)).toMatchObject({ decision: "claim" });
    await world.pass(10);
    // What was said to all of them: nothing but the two confirmations.
    expect(world.sent).toHaveLength(2);
  });

  test("A17 a thousand guesses at a pairing on the console let nobody in; the lock ends", async () => {
    const world = await start();
    await dm(world, "7", "hi");
    const accessStore = world.runtime.access();
    const [waiting] = accessStore.list().pairings;
    const outcomes = [];
    for (let n = 0; n < 1_000; n += 1)
      outcomes.push(
        (await accessStore.approve(`AAAA${1_000 + n}`.replace(/[01]/g, "B"), "console")).outcome,
      );
    expect(outcomes.filter((one) => one === "unknown")).toHaveLength(limits.codeGuessesMax);
    expect((await accessStore.approve(waiting?.code ?? "", "console")).outcome).toBe("locked");
    await world.pass(limits.codeLockMs);
    expect((await accessStore.approve(waiting?.code ?? "", "console")).outcome).toBe("approved");
    expect((await accessStore.approve(waiting?.code ?? "", "console")).outcome).toBe("unknown");
  });

  test("A17 a code is too old after its time", async () => {
    const world = await start();
    const accessStore = world.runtime.access();
    const issued = await accessStore.issue({ role: "member", ttlMs: 60_000, by: "console" });
    await dm(world, "7", "hi");
    const [waiting] = accessStore.list().pairings;
    await world.pass(limits.pairingMsMax);
    await dm(world, "8", issued?.code ?? "");
    expect(world.decisions().at(-1)).toMatchObject({ decision: "denied", rule: "claim" });
    expect((await accessStore.approve(waiting?.code ?? "", "console")).outcome).toBe("unknown");
    expect(accessStore.list()).toMatchObject({ pairings: [], claims: [], grants: [] });
  });

  test("A17 a flood of strangers on one account keeps nobody waiting on another", async () => {
    const world = await start();
    for (let n = 0; n < 500; n += 1) await dm(world, `x${n}`, "hi");
    await dm(world, "7", "hi", "work");
    await world.pass(60_000);
    const count = (account: string) =>
      world.sends().filter((line) => line.account === account).length;
    expect([count("default"), count("work")]).toEqual([limits.pairingsPendingMax, 1]);
    expect(world.runtime.access().list().pairings).toHaveLength(limits.pairingsPendingMax + 1);
  });
});
