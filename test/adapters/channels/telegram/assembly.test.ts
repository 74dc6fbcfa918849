/**
 * Albums and long pastes as one message: pure, then over the real Bot API wire, by polling and by
 * webhook, with a restart in the middle.
 */
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  type Assembly,
  assemble,
  emptyAssembly,
  nextRelease,
  readAssembly,
  storedAssembly,
} from "../../../../src/adapters/channels/telegram/assembly.ts";
import { telegramChannel } from "../../../../src/adapters/channels/telegram/channel.ts";
import { type Inbound, inboundSchema } from "../../../../src/domain/message.ts";
import type { ChannelDefinition, ChannelEvent } from "../../../../src/domain/ports/index.ts";
import { openChannel } from "../../../../src/testing/open-channel.ts";
import { sampleToken, startTelegramServer } from "../../../support/servers/telegram.ts";

let number = 100;
const say = (author: string, text: string, over: object = {}): Inbound =>
  inboundSchema.parse({
    channel: "telegram",
    chat: { id: "-5", kind: "group" },
    id: String(number++),
    author: { id: author },
    text,
    ...over,
  });
const picture = (author: string, groupId: string, text = ""): Inbound =>
  say(author, text, { groupId, attachments: [{ id: `f${number}`, kind: "image" }] });
const message = (inbound: Inbound): ChannelEvent => ({ type: "message", message: inbound });
const long = (letter: string, units = 4_096) => letter.repeat(units);

/** Gives the events in these polls, `ms` apart, with a restart after each; then waits for all. */
function run(polls: readonly (readonly ChannelEvent[])[], ms: number): readonly ChannelEvent[] {
  const ready: ChannelEvent[] = [];
  let assembly: Assembly = emptyAssembly;
  let now = 1_000;
  const step = (events: readonly ChannelEvent[]) => {
    const result = assemble(assembly, events, now);
    ready.push(...result.ready);
    const stored = storedAssembly(result.next);
    assembly = stored === "" ? emptyAssembly : readAssembly(stored);
  };
  for (const events of polls) {
    step(events);
    now += ms;
  }
  for (let at = nextRelease(assembly); at !== null; at = nextRelease(assembly)) {
    now = Math.max(now, at);
    step([]);
  }
  return ready;
}
const texts = (events: readonly ChannelEvent[]) =>
  events.map((event) => (event.type === "message" ? event.message.text : event.type));

describe("assembly", () => {
  test("an album is one message with all its files, at the id of the caption wherever it stands", () => {
    for (const at of [0, 1, 2]) {
      const parts = [0, 1, 2].map((index) => picture("ann", "g", index === at ? "look" : ""));
      const [event, ...more] = run([parts.map(message)], 0);
      expect(more).toEqual([]);
      expect(event).toMatchObject({ message: { id: parts[at]?.id, text: "look" } });
      const merged = event?.type === "message" ? event.message : null;
      expect(merged?.attachments).toEqual(parts.flatMap(({ attachments }) => attachments));
      expect(merged).not.toHaveProperty("groupId");
    }
  });

  test("several captions are lines of one text; mentions and code stay at their places", () => {
    const first = { ...picture("ann", "g", "a `b`"), verbatim: [[2, 5]] as [number, number][] };
    const second = {
      ...picture("ann", "g", "@scout `c`"),
      verbatim: [[7, 10]] as [number, number][],
      mentions: [{ id: "9", isSelf: true }],
    };
    const [event] = run([[message(first), message(second)]], 0);
    const merged = event?.type === "message" ? event.message : null;
    expect(merged).toMatchObject({ text: "a `b`\n@scout `c`", mentions: [{ id: "9" }] });
    expect(merged?.verbatim?.map(([from, to]) => merged.text.slice(from, to))).toEqual([
      "`b`",
      "`c`",
    ]);
  });

  test("a paste is one message: what was cut at the limit is joined, a shorter part ends a line", () => {
    const parts = [long("a"), long("b", 4_050), "the end"].map((text) => say("ann", text));
    const [event, ...more] = run(
      parts.map((part) => [message(part)]),
      1_000,
    );
    expect(more).toEqual([]);
    const merged = event?.type === "message" ? event.message : null;
    expect(merged?.id).toBe(parts[0]?.id);
    expect(merged?.text).toBe(`${long("a")}${long("b", 4_050)}\nthe end`);
  });

  test.each([
    ["a line of somebody else", () => say("bob", "hm")],
    ["a reply", () => say("ann", "no", { replyTo: { id: "7" } })],
    ["forwarded text", () => say("ann", "see", { forwarded: true })],
    ["a file", () => say("ann", "x", { attachments: [{ id: "f", kind: "file" }] })],
    ["a notice", () => say("ann", "[topic renamed: Soup]", { explicitOnly: true })],
    ["another topic", () => say("ann", "there", { thread: { id: "3", kind: "topic" } })],
  ])("a paste is not continued by %s", (_what, next) => {
    const ready = run([[message(say("ann", long("a"))), message(next())]], 0);
    expect(ready).toHaveLength(2);
    expect(texts(ready)[0]).toBe(long("a"));
  });

  test("text that no client cuts is not held", () => {
    const { ready, next } = assemble(emptyAssembly, [message(say("ann", long("a", 3_999)))], 0);
    expect(ready).toHaveLength(1);
    expect(nextRelease(next)).toBeNull();
  });

  test("what is said in the chat meanwhile waits behind it, and other chats do not", () => {
    const album = [picture("ann", "g", "look"), picture("ann", "g")];
    const between = say("bob", "nice");
    const elsewhere = say("cem", "hello", { chat: { id: "-6", kind: "group" } });
    const events = [album[0], between, elsewhere, album[1]].map((one) => message(one as Inbound));
    expect(texts(assemble(emptyAssembly, events, 0).ready)).toEqual(["hello"]);
    expect(texts(run([events], 0))).toEqual(["hello", "look", "nice"]);
  });

  test("an edit of a held part changes it", () => {
    const album = [picture("ann", "g", "lok"), picture("ann", "g")];
    const { channel, account, chat, thread, id = "" } = album[0] as Inbound;
    const edit = {
      type: "edit" as const,
      edit: { channel, account, chat, thread, id, text: "look" },
    };
    expect(texts(run([[...album.map(message), edit]], 0))).toEqual(["look"]);
  });

  test("a part that comes again, before or after the release, changes nothing", () => {
    const album = [picture("ann", "g", "look"), picture("ann", "g")].map(message);
    expect(run([[...album, ...album], album.slice(1)], 100)).toHaveLength(1);
    expect(run([album, album.slice(1), [], album.slice(1)], 600)).toHaveLength(1);
  });

  test("property: any order of an album's parts, and any split of the updates, gives the same messages", () => {
    const scenario = fc.record({
      sizes: fc.array(fc.integer({ min: 2, max: 10 }), { minLength: 1, maxLength: 3 }),
      captions: fc.array(fc.nat(9), { minLength: 3, maxLength: 3 }),
      order: fc.array(fc.nat(), { minLength: 30, maxLength: 30 }),
      cuts: fc.array(fc.boolean(), { minLength: 60, maxLength: 60 }),
      ms: fc.integer({ min: 0, max: 200 }),
    });
    fc.assert(
      fc.property(scenario, ({ sizes, captions, order, cuts, ms }) => {
        const expected: string[] = [];
        const events: ChannelEvent[] = [];
        for (const [index, size] of sizes.entries()) {
          const parts = Array.from({ length: size }, (_, part) =>
            picture("ann", `g${index}`, part === (captions[index] ?? 0) % size ? `c${index}` : ""),
          );
          const lead = parts[(captions[index] ?? 0) % size];
          expected.push(
            `${lead?.id} ${lead?.text} ${parts.flatMap(({ attachments }) => attachments.map(({ id }) => id))}`,
          );
          // The first place stays: it says where the album stands among the other messages.
          const shuffled = parts
            .map((part, at) => ({ part, rank: order[at + index * 10] ?? 0 }))
            .toSorted((a, b) => a.rank - b.rank)
            .map(({ part }) => part);
          const after = say("bob", `after ${index}`);
          expected.push(`${after.id} ${after.text} `);
          events.push(...shuffled.map(message), message(after));
        }
        const polls: ChannelEvent[][] = [[]];
        for (const [index, event] of events.entries()) {
          polls.at(-1)?.push(event);
          if (cuts[index] === true) polls.push([]);
        }
        const got = run(polls, ms).map((event) =>
          event.type === "message"
            ? `${event.message.id} ${event.message.text} ${event.message.attachments.map(({ id }) => id)}`
            : event.type,
        );
        expect(got).toEqual(expected);
      }),
    );
  });
});

const photo = (id: string, group: string, caption?: string) => ({
  extra: {
    text: undefined,
    photo: [{ file_id: id, file_unique_id: id, width: 1, height: 1 }],
    media_group_id: group,
    ...(caption === undefined ? {} : { caption }),
  },
});

describe("over the wire", () => {
  async function start() {
    const server = await startTelegramServer();
    onTestFinished(() => server.close());
    const ann = server.world.user("Ann");
    const group = server.world.group("Kitchen", [ann]);
    const cursors = new Map<string, string>();
    const open = (more: object = { pollSeconds: 20 }) => {
      const config = { botToken: sampleToken, apiRoot: server.apiRoot, ...more };
      const channel = openChannel(telegramChannel as ChannelDefinition, config, cursors);
      onTestFinished(() => channel.stop());
      return channel;
    };
    const part = (id: string, caption?: string) =>
      server.world.say(group, ann, "", photo(id, "g1", caption));
    return { server, world: server.world, ann, group, cursors, open, part };
  }

  test("parts of an album that come in several polls are one message", async () => {
    const { world, ann, group, open, part } = await start();
    const channel = open();
    await channel.live();
    part("p1");
    const captioned = part("p2", "look");
    part("p3");
    const after = world.say(group, ann, "well?");
    await channel.message(String(after.message_id));
    const [album, ...more] = channel.messages();
    expect(album).toMatchObject({ id: String(captioned.message_id), text: "look" });
    expect(album?.attachments.map(({ id }) => id)).toEqual(["p1", "p2", "p3"]);
    expect(more.map(({ text }) => text)).toEqual(["well?"]);
  });

  test("a stop between the parts loses none: they are in the cursor", async () => {
    const { server, world, cursors, open, part } = await start();
    const first = open();
    await first.live();
    part("p1");
    await server.until(() => world.queue.length === 0, "confirmed");
    await first.stop();
    expect(first.messages()).toEqual([]);
    expect([...cursors.values()][0]).toContain('"p1"');
    const captioned = part("p2", "look");
    const album = await open().message(String(captioned.message_id));
    expect(album.attachments.map(({ id }) => id)).toEqual(["p1", "p2"]);
  });

  test("a part that stays alone arrives although nothing else is said", async () => {
    const { open, part } = await start();
    const channel = open();
    await channel.live();
    const alone = part("p1", "look");
    expect(await channel.message(String(alone.message_id))).toMatchObject({ groupId: "g1" });
  });

  test("posted parts are answered when they are stored, and one message after a restart, too", async () => {
    const { cursors, open, world, ann, group } = await start();
    const secret = "a-secret_Token-of-ours";
    const webhook = { url: "http://127.0.0.1:9/hooks/telegram/default", secret };
    const post = async (channel: ReturnType<typeof open>, id: number, body: object) => {
      const update = Buffer.from(JSON.stringify({ update_id: id, message: body }));
      await channel.hook?.receive(update, {} as never);
    };
    const content = (id: string, caption?: string) =>
      world.build(group, ann, photo(id, "g1", caption).extra);
    const first = open({ webhook });
    await first.live();
    const parts = [content("p1"), content("p2", "look")] as const;
    await post(first, 1, parts[0]);
    await first.stop();
    expect(first.messages()).toEqual([]);
    expect([...cursors.values()][0]).toContain('"p1"');
    const second = open({ webhook });
    await second.live();
    await post(second, 2, parts[1]);
    const album = await second.message(String(parts[1].message_id));
    // Which of both it is depends on how long the restart took; no part is lost or doubled.
    const files = second.messages().flatMap(({ attachments }) => attachments.map(({ id }) => id));
    expect(files).toEqual(["p1", "p2"]);
    expect(album.text).toBe("look");
    await post(second, 1, parts[0]);
    await post(second, 2, parts[1]);
    const files2 = second.messages().flatMap(({ attachments }) => attachments.map(({ id }) => id));
    expect(files2).toEqual(["p1", "p2"]);
  });
});
