/** Routes to the letter: which binding is found, what is said of it, and why not another. */
import { describe, expect, test } from "vitest";
import { type EarshotConfigInput, parseConfig } from "../../../src/domain/config/index.ts";
import { type InboundInput, inboundSchema } from "../../../src/domain/message.ts";
import { explainTiers } from "../../../src/machines/routing/explain-route.ts";
import {
  hasSharedPlaces,
  isSequential,
  resolveRoute,
  routingWarnings,
} from "../../../src/machines/routing/routing.ts";
import { isOver, latestHour, resetPolicy } from "../../../src/machines/routing/session-policy.ts";

type Binding = NonNullable<EarshotConfigInput["bindings"]>[number];
type Match = Binding["match"];
const list = Array.from({ length: 12 }, (_, n) => ({ id: `a${n}` }));
const config = (given: EarshotConfigInput = {}) => parseConfig({ agents: { list }, ...given });
const bound = (...matches: Match[]) =>
  config({ bindings: matches.map((match, n) => ({ match, agentId: `a${n + 1}` })) });
const said = (given: Partial<InboundInput> = {}) =>
  inboundSchema.parse({
    channel: "irc",
    chat: { id: "room", kind: "group" },
    id: "m1",
    author: { id: "ann" },
    text: "",
    ...given,
  });
const inDirect = (id: string, author = id) =>
  said({ chat: { id, kind: "direct" }, author: { id: author } });
/** Position and tier. */
const found = (of: ReturnType<typeof config>, message = said()) => {
  const [route] = resolveRoute(of, message);
  return [route?.bindingIndex, route?.tier];
};

describe("a binding is found", () => {
  test("by its account, guild, team and role, each with all that is asked", () => {
    const scope = { guildId: "G", teamId: "T", roles: ["mod", "cook"] };
    const here = said({ account: "work", scope });
    for (const [match, tier] of [
      [{ channel: "irc", accountId: "work" }, 7],
      [{ channel: "irc", guildId: "G" }, 5],
      [{ channel: "irc", teamId: "T" }, 6],
      [{ channel: "irc", guildId: "G", roles: ["cook"] }, 4],
      [{ channel: "irc", guildId: "G", roles: ["x", "mod"], teamId: "T", accountId: "work" }, 4],
      [{ channel: "irc", accountId: "*" }, 8],
      [{ channel: "irc" }, 8],
    ] as [Match, number][]) {
      expect(found(bound(match), here)).toEqual([0, tier]);
      expect(found(bound({ ...match, channel: "sms" }), here)).toEqual([null, 9]);
    }
    for (const match of [
      { channel: "irc", accountId: "home" },
      { channel: "irc", guildId: "H" },
      { channel: "irc", teamId: "U" },
      { channel: "irc", guildId: "G", roles: ["x"] },
      { channel: "irc", guildId: "G", teamId: "U" },
      { channel: "irc", guildId: "G", roles: ["cook"], accountId: "home" },
    ] as Match[])
      expect(found(bound(match), here)).toEqual([null, 9]);
    for (const match of [
      { channel: "irc", guildId: "G" },
      { channel: "irc", teamId: "T" },
      { channel: "irc", guildId: "G", roles: ["cook"] },
    ] as Match[])
      expect(found(bound(match), said())).toEqual([null, 9]);
    expect(
      found(
        bound({ channel: "irc", guildId: "G", roles: ["cook"] }),
        said({ scope: { guildId: "G" } }),
      ),
    ).toEqual([null, 9]);
    expect(found(bound({ channel: "irc", teamId: "T" }), said({ scope: { teamId: "T" } }))).toEqual(
      [0, 6],
    );
    expect(
      found(
        bound({ channel: "irc", guildId: "G", teamId: "T" }),
        said({ scope: { guildId: "G" } }),
      ),
    ).toEqual([null, 9]);
  });

  test("first of its tier, whatever each asks for besides", () => {
    const scope = { guildId: "G", roles: ["mod", "cook"] };
    const guild = { channel: "irc", guildId: "G" };
    const [cook, mod] = [
      { ...guild, roles: ["cook"] },
      { ...guild, roles: ["mod"] },
    ];
    expect(found(bound(cook, mod), said({ scope }))).toEqual([0, 4]);
    expect(found(bound(mod, cook), said({ scope }))).toEqual([0, 4]);
    const at = { ...guild, accountId: "default" };
    expect(found(bound(guild, at), said({ scope }))).toEqual([0, 5]);
    expect(found(bound(at, guild), said({ scope }))).toEqual([0, 5]);
    expect(found(bound(guild, guild), said({ scope }))).toEqual([0, 5]);
    const three = [{ ...guild, roles: ["x"] }, mod, cook];
    expect(found(bound(...three), said({ scope }))).toEqual([1, 4]);
  });

  test("by its peer: a chat, a person of a direct one, a kind, a thread, what that hangs below", () => {
    const peer = (kind: "direct" | "group" | "channel", id: string): Match => ({
      channel: "irc",
      peer: { kind, id },
    });
    expect(found(bound(peer("group", "room")))).toEqual([0, 1]);
    expect(found(bound(peer("channel", "room")))).toEqual([0, 1]);
    expect(found(bound(peer("direct", "room")))).toEqual([null, 9]);
    expect(found(bound(peer("group", "ann")))).toEqual([null, 9]);
    expect(found(bound(peer("direct", "ann")), inDirect("d1", "ann"))).toEqual([0, 1]);
    expect(found(bound(peer("direct", "d1")), inDirect("d1", "ann"))).toEqual([0, 1]);
    expect(found(bound(peer("direct", "bob")), inDirect("d1", "ann"))).toEqual([null, 9]);
    const both = bound(peer("direct", "ann"), peer("direct", "d1"));
    expect(found(both, inDirect("d1", "ann"))).toEqual([0, 1]);
    expect(found(bound(peer("direct", "*")), inDirect("d1"))).toEqual([0, 3]);
    expect(found(bound(peer("direct", "*")))).toEqual([null, 9]);
    expect(found(bound(peer("group", "*")))).toEqual([0, 3]);
    const threaded = said({ thread: { id: "t", kind: "thread" } });
    expect(found(bound(peer("group", "room")), threaded)).toEqual([0, 2]);
    expect(found(bound(peer("group", "room"), peer("group", "t")), threaded)).toEqual([1, 1]);
    expect(found(bound(peer("group", "room:thread:t")), threaded)).toEqual([0, 1]);
    const topic = said({ thread: { id: "t", kind: "topic" } });
    expect(found(bound(peer("group", "t"), peer("group", "room:topic:t")), topic)).toEqual([1, 1]);
    const nobody = { ...inDirect("d1"), author: undefined } as never;
    expect(found(bound(peer("direct", "d1")), nobody)).toEqual([0, 1]);
  });
});

describe("a binding that can never match", () => {
  const irc = { channel: "irc" };
  const guild = { ...irc, guildId: "G" };
  const never = (...matches: Match[]) =>
    routingWarnings(bound(...matches)).map(({ at, wrong }) => [
      at,
      /bindings\[\d+\]/gu.exec(wrong)?.[0] ?? wrong,
    ]);
  const direct: Match = { ...irc, peer: { kind: "direct", id: "*" } };
  const group: Match = { ...irc, peer: { kind: "group", id: "*" } };

  test("is behind one of its own tier that asks for no more", () => {
    expect(never(irc, irc).map(([at]) => at)).toEqual(["bindings[1]"]);
    expect(never(guild, { ...guild, accountId: "work" })).toHaveLength(1);
    expect(never({ ...guild, accountId: "work" }, guild)).toEqual([]);
    expect(never({ ...guild, accountId: "work" }, { ...guild, accountId: "home" })).toEqual([]);
    expect(never({ ...guild, roles: ["a"] }, { ...guild, roles: ["a", "b"] })).toEqual([]);
    expect(never({ ...guild, roles: ["a", "b"] }, { ...guild, roles: ["a"] })).toHaveLength(1);
    const two = [
      { ...guild, roles: ["a"] },
      { ...guild, roles: ["b"] },
      { ...guild, roles: ["b", "a"] },
    ];
    expect(never(...two)).toHaveLength(1);
    expect(never({ ...irc, teamId: "T" }, { ...irc, teamId: "U" })).toEqual([]);
  });

  test("is behind two that take every kind of chat", () => {
    expect(never(direct, irc)).toEqual([]);
    expect(never(group, irc)).toEqual([]);
    expect(never(direct, group, irc)).toHaveLength(1);
    expect(never(direct, group, irc, irc)).toHaveLength(2);
    expect(never(direct, group, { ...irc, peer: { kind: "group", id: "room" } })).toEqual([]);
    expect(never(direct, { ...group, accountId: "work" }, irc)).toEqual([]);
    expect(
      never(direct, { ...group, accountId: "work" }, { ...irc, accountId: "work" }),
    ).toHaveLength(1);
  });
});

describe("a route says", () => {
  test("what chose the agent", () => {
    const at = (of: ReturnType<typeof config>) => resolveRoute(of, said())[0]?.explanation;
    expect(at(config())).toBe("no binding matches, so the default agent a0 hears it");
    expect(at(bound({ channel: "irc" }))).toBe("bindings[0] matches by channel");
    expect(at(bound({ channel: "irc", peer: { kind: "group", id: "room" } }))).toBe(
      "bindings[0] matches by peer",
    );
    const shared = config({ broadcast: { room: ["a1", "a2"] } });
    expect(resolveRoute(shared, said())).toMatchObject([
      {
        agentId: "a1",
        tier: 0,
        bindingIndex: null,
        explanation: "the place is a broadcast group of 2 agents",
      },
      { agentId: "a2" },
    ]);
    expect(resolveRoute(shared, inDirect("x"))).toMatchObject([{ agentId: "a0", tier: 9 }]);
  });

  test("whether places are shared, and in which order their agents answer", () => {
    expect(hasSharedPlaces(config())).toBe(false);
    expect(hasSharedPlaces(config({ broadcast: { strategy: "sequential" } as never }))).toBe(false);
    expect(hasSharedPlaces(config({ broadcast: { room: ["a1"] } }))).toBe(true);
    expect(isSequential(config())).toBe(false);
    expect(isSequential(config({ broadcast: { strategy: "sequential" } as never }))).toBe(true);
    expect(isSequential(config({ broadcast: { strategy: "parallel" } as never }))).toBe(false);
  });

  test("whose session it is, by the person or by the chat", () => {
    const of = (
      dmScope: string,
      message: ReturnType<typeof said>,
      links: object = { p: ["irc:d1"] },
    ) =>
      resolveRoute(config({ session: { dmScope, identityLinks: links } as never }), message)[0]
        ?.sessionKey;
    expect(of("per-peer", inDirect("d1", "ann"))).toBe("agent:a0:direct:p");
    expect(of("per-peer", inDirect("d2", "ann"))).toBe("agent:a0:direct:d2");
    expect(of("per-channel-peer", inDirect("d2", "ann"))).toBe("agent:a0:irc:direct:d2");
    const nobody = { ...inDirect("d1"), author: undefined } as never;
    expect(of("per-peer", nobody)).toBe("agent:a0:direct:p");
    expect(of("per-peer", nobody, {})).toBe("agent:a0:direct:d1");
  });

  test("what is wrong with linked names", () => {
    const name = "n".repeat(70);
    const links = { [name]: ["irc:1"] };
    const given = { session: { dmScope: "per-peer" as const, identityLinks: links } };
    expect(routingWarnings(config(given))).toEqual([
      {
        at: "session.dmScope",
        wrong: `everyone with the id "${"n".repeat(64)}" on any channel shares the session of the linked person`,
        fix: 'set it to "per-channel-peer"',
      },
    ]);
    expect(routingWarnings(config({ session: { dmScope: "per-peer" } }))).toEqual([]);
  });
});

describe("the tiers as they were tried", () => {
  const explain = (of: ReturnType<typeof config>, message = said()) =>
    explainTiers(of, message, resolveRoute(of, message));
  const fact = (tier: number, of: ReturnType<typeof config>, message = said()) =>
    explain(of, message)[tier - 1]?.fact;

  test("of a broadcast group none was reached, and none below the one that matched", () => {
    const shared = explain(config({ broadcast: { room: ["a1"] } }));
    expect(new Set(shared.map(({ outcome, fact }) => `${outcome}: ${fact}`))).toEqual(
      new Set(["not-reached: a broadcast group"]),
    );
    expect(shared.map(({ tier }) => tier)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    const [seventh, eighth, ninth] = explain(bound({ channel: "irc" })).slice(6);
    expect(seventh).toMatchObject({ outcome: "passed", fact: "no binding is of this kind" });
    expect(eighth).toEqual({
      tier: 8,
      name: "channel",
      outcome: "matched",
      fact: "bindings[0] matches by channel",
    });
    expect(ninth).toEqual({ tier: 9, name: "default agent", outcome: "not-reached", fact: "" });
    expect(explainTiers(config(), said(), []).at(-1)).toMatchObject({
      outcome: "matched",
      fact: "",
    });
  });

  test("say what was found instead", () => {
    const peer = (id: string, kind: "direct" | "group" = "group") => ({
      channel: "irc",
      peer: { kind, id },
    });
    expect(fact(2, bound(peer("x")))).toBe("it is in no thread");
    const threaded = said({ thread: { id: "t", kind: "thread" } });
    expect(fact(2, bound(peer("x")), threaded)).toBe("1 binding of this kind, none for this peer");
    expect(fact(1, bound(peer("x"), peer("y")))).toBe(
      "2 bindings of this kind, none for this peer",
    );
    const sms = { channel: "sms", peer: { kind: "group" as const, id: "room" } };
    expect(fact(1, bound(sms))).toBe('1 binding of this kind, none for "irc"');
    const long = said({ channel: "c".repeat(70) });
    expect(fact(1, bound(sms), long)).toBe(`1 binding of this kind, none for "${"c".repeat(64)}"`);
    expect(fact(3, bound(peer("*", "direct")))).toBe("1 binding of this kind, none for this peer");
    const kind = (kind: "direct" | "group") => ({ ...peer("*", kind), accountId: "work" });
    expect(fact(3, bound(kind("group")))).toBe(
      'bindings[0] wants account "work", this is "default"',
    );
    expect(fact(3, bound(kind("direct")), inDirect("x"))).toMatch(/^bindings\[0\] wants account/u);
  });

  test("name the first field that does not hold, and how many more were near", () => {
    const guild = { channel: "irc", guildId: "G" };
    const scoped = said({ scope: { guildId: "H", teamId: "S", roles: [] } });
    expect(fact(5, bound(guild), scoped)).toBe('bindings[0] wants guild "G", this has "H"');
    expect(fact(5, bound(guild, { ...guild, guildId: "I" }, { ...guild, guildId: "J" }))).toBe(
      'bindings[0] wants guild "G", this has none, and 2 more',
    );
    expect(fact(6, bound({ channel: "irc", teamId: "T" }), scoped)).toBe(
      'bindings[0] wants team "T", this has "S"',
    );
    expect(fact(6, bound({ channel: "irc", teamId: "T" }))).toBe(
      'bindings[0] wants team "T", this has none',
    );
    const here = said({ account: "work", scope: { guildId: "G" } });
    expect(fact(5, bound({ ...guild, accountId: "work", teamId: "T" }), here)).toBe(
      'bindings[0] wants team "T", this has none',
    );
    const roles = Array.from({ length: 9 }, (_, n) => `r${n}`);
    expect(fact(4, bound({ ...guild, roles }), here)).toBe(
      `bindings[0] wants a role of ${roles
        .slice(0, 8)
        .map((one) => `"${one}"`)
        .join(", ")}`,
    );
  });
});

describe("the end of a session", () => {
  const utc = () => 0;
  const hour = 3_600_000;

  test("by a quiet time or by the hour is at that very moment", () => {
    const idle = { mode: "idle" as const, atHour: 4, idleMinutes: 1 };
    expect([isOver(idle, 0, 59_999, utc), isOver(idle, 0, 60_000, utc)]).toEqual([false, true]);
    const daily = { ...idle, mode: "daily" as const };
    const at = 4 * hour;
    expect([isOver(daily, at - 1, at, utc), isOver(daily, at, at, utc)]).toEqual([true, false]);
    expect(isOver(daily, at - 1, at - 1, utc)).toBe(false);
  });

  test("where the clock jumps over the hour is at the jump", () => {
    // From 3 h to 4 h of the first day the offset grows by an hour, a moment after three.
    const jump = 3 * hour;
    const offset = (at: number) => (at >= jump ? hour : 0);
    expect(latestHour(jump + 2 * hour, 3, offset)).toBe(jump);
    const half = (at: number) => (at >= jump - 12_345 ? hour : 0);
    expect(latestHour(jump + 2 * hour, 3, half)).toBe(jump - 12_345);
  });

  test("is said for threads, rooms and direct chats", () => {
    const { session } = config({
      session: {
        reset: {
          mode: "none",
          byType: { thread: { atHour: 1 }, group: { atHour: 2 }, direct: { atHour: 3 } },
        },
      },
    });
    const of = (key: string) => resetPolicy(session.reset, key).atHour;
    expect(of("agent:main:irc:channel:c")).toBe(2);
    expect(of("agent:main:irc:group:c")).toBe(2);
    expect(of("agent:main:irc:channel:c:thread:t")).toBe(1);
    expect(of("agent:main:irc:direct:c")).toBe(3);
    expect(of("agent:main:main")).toBe(3);
  });
});
