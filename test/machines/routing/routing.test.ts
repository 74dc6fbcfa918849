/** Routing: the tiers of bindings, sessions by scope, and that nothing said can choose a route. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sessionFolderOf } from "../../../src/daemon/state/transcript-dir.ts";
import { type EarshotConfigInput, parseConfig } from "../../../src/domain/config/index.ts";
import { agentAliases } from "../../../src/domain/config/resolve/agent.ts";
import { findingText } from "../../../src/domain/config-finding.ts";
import { fold } from "../../../src/domain/fold-text.ts";
import { type Inbound, type InboundInput, inboundSchema } from "../../../src/domain/message.ts";
import { aliasIn } from "../../../src/machines/engagement/ladder-input.ts";
import { explainTiers } from "../../../src/machines/routing/explain-route.ts";
import { decideIntake } from "../../../src/machines/routing/intake.ts";
import {
  resolveRoute,
  routingWarnings as routingFindings,
} from "../../../src/machines/routing/routing.ts";
import { anyCharacter, property } from "../../support/property.ts";
import { rounds } from "../../support/rounds.ts";

type Binding = NonNullable<EarshotConfigInput["bindings"]>[number];
const routingWarnings = (config: Parameters<typeof routingFindings>[0]) =>
  routingFindings(config).map(findingText);

const agents = { list: Array.from({ length: 12 }, (_, n) => ({ id: `a${n}` })) };
const config = (given: EarshotConfigInput = {}) => parseConfig({ agents, ...given });
const message = (given: Partial<InboundInput> = {}): Inbound =>
  inboundSchema.parse({
    channel: "telegram",
    chat: { id: "-1", kind: "group" },
    id: "m1",
    author: { id: "u1" },
    text: "hi",
    ...given,
  });
const bind = (match: Binding["match"], n: number): Binding => ({ match, agentId: `a${n}` });
const chosen = (bindings: readonly Binding[], given: Partial<InboundInput>) => {
  const [route] = resolveRoute(config({ bindings: [...bindings] }), message(given));
  return [route?.agentId, route?.tier, route?.bindingIndex];
};

describe("bindings", () => {
  const where: Partial<InboundInput> = {
    channel: "discord",
    account: "work",
    chat: { id: "C1", kind: "channel" },
    thread: { id: "T1", kind: "thread" },
    scope: { guildId: "G", teamId: "S", roles: ["mod", "member"] },
  };
  const ladder: readonly Binding[] = [
    bind({ channel: "discord", accountId: "*" }, 8),
    bind({ channel: "discord", accountId: "work" }, 7),
    bind({ channel: "discord", teamId: "S" }, 6),
    bind({ channel: "discord", guildId: "G" }, 5),
    bind({ channel: "discord", guildId: "G", roles: ["mod"] }, 4),
    bind({ channel: "discord", peer: { kind: "group", id: "*" } }, 3),
    bind({ channel: "discord", peer: { kind: "channel", id: "C1" } }, 2),
    bind({ channel: "discord", peer: { kind: "group", id: "T1" } }, 1),
  ];

  test("each tier wins over all below it, whatever their order in the file", () => {
    for (let kept = ladder.length; kept > 0; kept -= 1) {
      const [agent, tier, index] = chosen(ladder.slice(0, kept), where);
      const expected = 9 - kept;
      expect([agent, tier, index]).toEqual([`a${expected}`, expected, kept - 1]);
    }
    expect(chosen([], where)).toEqual(["a0", 9, null]);
  });

  test("without a thread the chat itself is the exact peer", () => {
    expect(chosen(ladder, { ...where, thread: null })).toEqual(["a2", 1, 6]);
  });

  test("all given fields must hold", () => {
    const exact = bind(
      {
        channel: "discord",
        accountId: "work",
        guildId: "G",
        teamId: "S",
        roles: ["mod"],
        peer: { kind: "channel", id: "C1" },
      },
      1,
    );
    expect(chosen([exact], { ...where, thread: null })[0]).toBe("a1");
    for (const change of [
      { channel: "slack" },
      { account: "default" },
      { chat: { id: "C2", kind: "channel" as const } },
      { chat: { id: "C1", kind: "direct" as const } },
      { scope: { teamId: "S", roles: ["mod"] } },
      { scope: { guildId: "G", teamId: "S", roles: ["member"] } },
      { scope: { guildId: "G", roles: ["mod"] } },
      { scope: undefined },
    ])
      expect(chosen([exact], { ...where, thread: null, ...change })[0]).toBe("a0");
  });

  test("a topic's bare number is no peer, its place in the group is", () => {
    const topic = {
      chat: { id: "-1", kind: "group" as const },
      thread: { id: "7", kind: "topic" as const },
    };
    expect(
      chosen([bind({ channel: "telegram", peer: { kind: "group", id: "7" } }, 1)], topic)[1],
    ).toBe(9);
    expect(
      chosen(
        [bind({ channel: "telegram", peer: { kind: "group", id: "-1:topic:7" } }, 1)],
        topic,
      )[1],
    ).toBe(1);
    expect(
      chosen([bind({ channel: "telegram", peer: { kind: "group", id: "-1" } }, 1)], topic)[1],
    ).toBe(2);
  });

  test("a direct chat with an id of its own is bound by the person too", () => {
    const direct = { chat: { id: "D9", kind: "direct" as const }, author: { id: "U1" } };
    expect(
      chosen([bind({ channel: "telegram", peer: { kind: "direct", id: "U1" } }, 1)], direct)[0],
    ).toBe("a1");
  });

  test("a binding that an earlier one always beats is reported, others are not", () => {
    const bindings = [
      bind({ channel: "x", guildId: "G" }, 1),
      bind({ channel: "x", guildId: "G", accountId: "w" }, 2),
      bind({ channel: "x", guildId: "G", roles: ["r", "s"] }, 3),
      bind({ channel: "x", guildId: "G", roles: ["s"] }, 4),
      bind({ channel: "x", guildId: "G", roles: ["s", "t"] }, 5),
      bind({ channel: "x", accountId: "*" }, 6),
      bind({ channel: "x" }, 7),
      bind({ channel: "y" }, 8),
    ];
    const warnings = routingWarnings(config({ bindings }));
    expect(warnings.map((line) => line.split(": put")[0])).toEqual([
      "bindings[1]: it can never match, because bindings[0] matches before it",
      "bindings[3]: it can never match, because bindings[2] matches before it",
      "bindings[6]: it can never match, because bindings[5] matches before it",
    ]);
  });

  test("one that two for all direct chats and all groups leave nothing to is reported", () => {
    const all = (kind: "direct" | "channel", n: number, more: object = {}) =>
      bind({ channel: "x", peer: { kind, id: "*" }, ...more }, n);
    const warningsFor = (...bindings: Binding[]) =>
      routingWarnings(config({ bindings })).join("\n");
    const whole = bind({ channel: "x" }, 3);
    expect(warningsFor(whole, all("direct", 1), all("channel", 2))).toBe(
      "bindings[0]: it can never match, because bindings[1] has every direct chat and bindings[2] " +
        "every group before it: give it a peer or remove it",
    );
    expect(warningsFor(whole, all("direct", 1))).toBe("");
    expect(warningsFor(whole, all("direct", 1), all("channel", 2, { accountId: "w" }))).toBe("");
    const work = bind({ channel: "x", accountId: "w", guildId: "G" }, 3);
    expect(warningsFor(work, all("direct", 1), all("channel", 2, { accountId: "w" }))).toContain(
      "bindings[0]: it can never match",
    );
    expect(warningsFor(bind({ channel: "y" }, 3), all("direct", 1), all("channel", 2))).toBe("");
  });

  test("one for a place that several agents share is reported", () => {
    const bindings = [
      bind({ channel: "telegram", peer: { kind: "group", id: "-1" } }, 1),
      bind({ channel: "telegram", peer: { kind: "group", id: "-2" } }, 1),
    ];
    const warningsFor = (broadcast: Record<string, string[]>) =>
      routingWarnings(config({ bindings, broadcast }));
    expect(warningsFor({ "telegram:-1": ["a1", "a2"] })).toEqual([
      'bindings[0]: it hears nothing there, because broadcast["telegram:-1"] has that place: ' +
        "remove one of the two",
    ]);
    expect(warningsFor({ "-2": ["a1", "a2"] }).join()).toContain(
      "bindings[1]: it hears nothing there",
    );
    expect(warningsFor({ "irc:-1": ["a1", "a2"] })).toEqual([]);
  });

  const matches: fc.Arbitrary<Binding["match"]> = fc.record(
    {
      channel: fc.constantFrom("x", "y"),
      accountId: fc.constantFrom("*", "default", "w"),
      peer: fc.record({
        kind: fc.constantFrom("direct" as const, "group" as const, "channel" as const),
        id: fc.constantFrom("*", "1", "2", "9"),
      }),
      guildId: fc.constantFrom("G", "H"),
      teamId: fc.constantFrom("S"),
    },
    { requiredKeys: ["channel"] },
  );
  const withRoles = fc
    .tuple(matches, fc.option(fc.subarray(["r", "s", "t"], { minLength: 1 })))
    .map(([match, roles]) =>
      roles !== null && match.guildId !== undefined ? { ...match, roles } : match,
    );
  const heard = fc.record({
    channel: fc.constantFrom("x", "y"),
    account: fc.constantFrom("default", "w"),
    chat: fc.record({
      id: fc.constantFrom("1", "2"),
      kind: fc.constantFrom("direct" as const, "group" as const, "channel" as const),
    }),
    thread: fc.option(
      fc.record({
        id: fc.constantFrom("9", "8"),
        kind: fc.constantFrom("thread" as const, "topic" as const),
      }),
    ),
    scope: fc.record(
      {
        guildId: fc.constantFrom("G", "H"),
        teamId: fc.constantFrom("S"),
        roles: fc.subarray(["r", "s", "t"]),
      },
      { requiredKeys: [] },
    ),
  });

  /** The documented rules, one binding after another. */
  function plainly(
    bindings: readonly Binding[],
    given: Inbound,
  ): { readonly tier: number; readonly index: number } | null {
    const kind = (name: string) => (name === "direct" ? "direct" : "group");
    const holds = ({ match }: Binding, ids: readonly string[] | null) =>
      match.channel === given.channel &&
      (match.accountId === undefined ||
        match.accountId === "*" ||
        match.accountId === given.account) &&
      (match.guildId === undefined || match.guildId === given.scope?.guildId) &&
      (match.teamId === undefined || match.teamId === given.scope?.teamId) &&
      (match.roles === undefined ||
        match.roles.some((role) => given.scope?.roles?.includes(role))) &&
      (match.peer === undefined
        ? ids === null
        : kind(match.peer.kind) === kind(given.chat.kind) &&
          (ids ?? ["*"]).includes(match.peer.id));
    const isAccount = ({ accountId }: Binding["match"]) =>
      accountId !== undefined && accountId !== "*";
    const { thread, chat } = given;
    const own =
      thread === null
        ? chat.kind === "direct"
          ? [chat.id, given.author.id]
          : [chat.id]
        : [
            `${chat.id}:${thread.kind}:${thread.id}`,
            ...(thread.kind === "thread" ? [thread.id] : []),
          ];
    const first = (test: (binding: Binding) => boolean) => {
      const index = bindings.findIndex(test);
      return index === -1 ? null : index;
    };
    const bare = (binding: Binding) => binding.match.peer === undefined && holds(binding, null);
    const tiers: readonly ((binding: Binding) => boolean)[] = [
      (one) => one.match.peer !== undefined && one.match.peer.id !== "*" && holds(one, own),
      (one) => one.match.peer !== undefined && one.match.peer.id !== "*" && holds(one, [chat.id]),
      (one) => one.match.peer?.id === "*" && holds(one, ["*"]),
      (one) => bare(one) && one.match.roles !== undefined,
      (one) => bare(one) && one.match.guildId !== undefined && one.match.roles === undefined,
      (one) => bare(one) && one.match.guildId === undefined && one.match.teamId !== undefined,
      (one) =>
        bare(one) &&
        one.match.guildId === undefined &&
        one.match.teamId === undefined &&
        isAccount(one.match),
      (one) =>
        bare(one) &&
        one.match.guildId === undefined &&
        one.match.teamId === undefined &&
        !isAccount(one.match),
    ];
    for (const [position, tier] of tiers.entries()) {
      const index = first(tier);
      if (index !== null) return { tier: position + 1, index };
    }
    return null;
  }

  property([fc.array(withRoles, { maxLength: 12 }), heard], { numRuns: rounds(50, 1_000) })(
    "the compiled bindings answer as the rules read one by one",
    (all, place) => {
      const bindings = all.map((match) => bind(match, 1));
      const given = message({ ...place, author: { id: "9" } });
      const of = config({ bindings });
      const [route] = resolveRoute(of, given);
      const expected = plainly(bindings, given);
      expect([route?.tier, route?.bindingIndex]).toEqual([
        expected?.tier ?? 9,
        expected?.index ?? null,
      ]);
      // And the explanation finds the same, with every tier before it passed and none after tried.
      const { routes } = decideIntake({ type: "message", message: given }, of, { local: true });
      const tiers = explainTiers(of, given, routes);
      expect(routes).toEqual([route]);
      expect(tiers.map(({ outcome }) => outcome)).toEqual(
        tiers.map(({ tier }) =>
          tier === route?.tier ? "matched" : tier < (route?.tier ?? 0) ? "passed" : "not-reached",
        ),
      );
    },
  );

  property([fc.array(withRoles, { maxLength: 12 })], { numRuns: rounds(40, 500) })(
    "a binding is reported as one that never matches exactly if no message it was written for finds it",
    (all) => {
      const of = config({ bindings: all.map((match) => bind(match, 1)) });
      const warnings = new Set(
        routingWarnings(of).flatMap(
          (line) => /^bindings\[(\d+)\]: it can never/u.exec(line)?.[1] ?? [],
        ),
      );
      for (const [index, { channel, accountId, peer, guildId, teamId, roles }] of all.entries()) {
        const kinds = peer === undefined ? (["direct", "group"] as const) : [peer.kind];
        const found = kinds.some((kind) =>
          (roles ?? ["nobody's"]).some((role) => {
            const account = accountId === undefined || accountId === "*" ? "other" : accountId;
            const chat = { kind, id: peer === undefined || peer.id === "*" ? "other" : peer.id };
            const scope = { guildId, teamId, roles: [role] };
            const given = { channel, account, chat, scope, author: { id: "other" } };
            return (
              resolveRoute(of, message(given as Partial<InboundInput>))[0]?.bindingIndex === index
            );
          }),
        );
        expect([index, warnings.has(String(index))]).toEqual([index, !found]);
      }
    },
  );

  test("of the two names of a thread neither is tried first: the file's order counts", () => {
    const thread = { id: "T1", kind: "thread" as const };
    const bySelf = bind({ channel: "telegram", peer: { kind: "group", id: "T1" } }, 1);
    const byPlace = bind({ channel: "telegram", peer: { kind: "group", id: "-1:thread:T1" } }, 2);
    expect(chosen([bySelf, byPlace], { thread })).toEqual(["a1", 1, 0]);
    expect(chosen([byPlace, bySelf], { thread })).toEqual(["a2", 1, 0]);
  });

  test("a binding to an unknown agent, and an agent named twice, are refused with the path", () => {
    expect(() => config({ bindings: [bind({ channel: "x" }, 99)] })).toThrow(
      /bindings\[0\]\.agentId is invalid: unknown agent "a99"/u,
    );
    expect(() =>
      parseConfig({ agents: { list: [{ id: "a" }, { id: "b" }, { id: "a" }] } }),
    ).toThrow(/agents\.list\[2\]\.id is invalid: "a" is used twice/u);
  });

  test("the explanation names the binding that was nearly it, and the field that does not hold", () => {
    const given = message({ ...where, scope: { guildId: "G", roles: ["member"] } });
    const of = config({
      bindings: [
        bind({ channel: "discord", guildId: "G", roles: ["mod"] }, 1),
        bind({ channel: "discord", guildId: "H" }, 1),
        bind({ channel: "slack", teamId: "S" }, 1),
        bind({ channel: "discord", peer: { kind: "group", id: "C1" }, accountId: "home" }, 1),
        bind({ channel: "discord", peer: { kind: "direct", id: "*" } }, 1),
      ],
    });
    const tiers = explainTiers(of, given, resolveRoute(of, given));
    expect(tiers.map(({ fact }) => fact)).toEqual([
      "1 binding of this kind, none for this peer",
      'bindings[3] wants account "home", this is "work"',
      "1 binding of this kind, none for this peer",
      'bindings[0] wants a role of "mod"',
      'bindings[1] wants guild "H", this has "G"',
      '1 binding of this kind, none for "discord"',
      "no binding is of this kind",
      "no binding is of this kind",
      "no binding matches, so the default agent a0 hears it",
    ]);
  });

  /** Processor time of many routes under a config, the best of three. */
  const cost = (of: ReturnType<typeof config>, given: Inbound) => {
    resolveRoute(of, given);
    const rounds = [1, 2, 3].map(() => {
      const { user } = process.cpuUsage();
      for (let round = 0; round < 10_000; round += 1) resolveRoute(of, given);
      return process.cpuUsage().user - user;
    });
    return Math.max(100, Math.min(...rounds));
  };

  test("the cost of a look-up does not grow with the bindings", () => {
    const many = (count: number) =>
      config({
        bindings: Array.from({ length: count }, (_, n) =>
          bind({ channel: "telegram", peer: { kind: "group", id: `-${n}` } }, 1),
        ),
      });
    const given = message({ chat: { id: "-none", kind: "group" } });
    expect(cost(many(20_000), given)).toBeLessThan(cost(many(10), given) * 20);
  });

  test("nor with the people that are linked", () => {
    const linked = (count: number) =>
      config({
        session: {
          dmScope: "per-peer",
          identityLinks: Object.fromEntries(
            Array.from({ length: count }, (_, n) => [`p${n}`, [`telegram:u${n}`, `slack:s${n}`]]),
          ),
        },
      });
    const given = message({ chat: { id: "u9", kind: "direct" }, author: { id: "u9" } });
    const everybody = linked(20_000);
    expect(resolveRoute(everybody, given)[0]?.sessionKey).toBe("agent:a0:direct:p9");
    expect(cost(everybody, given)).toBeLessThan(cost(linked(10), given) * 20);
  });
});

describe("sessions", () => {
  const key = (given: EarshotConfigInput, of: Partial<InboundInput>) =>
    resolveRoute(config(given), message(of))[0]?.sessionKey;
  const direct = { chat: { id: "u1", kind: "direct" as const } };

  test("direct chats follow dmScope, groups and threads have their own", () => {
    expect(key({}, direct)).toBe("agent:a0:main");
    expect(key({ session: { mainKey: "us" } }, direct)).toBe("agent:a0:us");
    for (const [dmScope, expected] of [
      ["per-peer", "agent:a0:direct:u1"],
      ["per-channel-peer", "agent:a0:telegram:direct:u1"],
      ["per-account-channel-peer", "agent:a0:telegram:default:direct:u1"],
    ] as const)
      expect(key({ session: { dmScope } }, direct)).toBe(expected);
    expect(key({}, {})).toBe("agent:a0:telegram:group:-1");
    expect(key({}, { account: "work" })).toBe("agent:a0:telegram:account:work:group:-1");
    expect(key({}, { thread: { id: "7", kind: "topic" } })).toBe(
      "agent:a0:telegram:group:-1:topic:7",
    );
    expect(
      key({}, { thread: { id: "1.2", kind: "thread" }, chat: { id: "C", kind: "channel" } }),
    ).toBe("agent:a0:telegram:channel:C:thread:1.2");
    expect(key({}, { account: "work", thread: { id: "7", kind: "topic" } })).toBe(
      "agent:a0:telegram:account:work:group:-1:topic:7",
    );
    expect(key({ session: { dmScope: "per-channel-peer" } }, { ...direct, account: "work" })).toBe(
      "agent:a0:telegram:account:work:direct:u1",
    );
    expect(
      key({ session: { dmScope: "per-account-channel-peer" } }, { ...direct, account: "work" }),
    ).toBe("agent:a0:telegram:work:direct:u1");
    for (const of of [{}, direct, { thread: { id: "7", kind: "topic" as const } }])
      expect(key({ session: { scope: "global" } }, of)).toBe("agent:a0:global");
  });

  test("the default main key of the default agent is agent:main:main, and `global` is no main key", () => {
    expect(resolveRoute(parseConfig({}), message(direct))[0]?.sessionKey).toBe("agent:main:main");
    expect(() => config({ session: { mainKey: "global" } })).toThrow("reserved for session.scope");
  });

  const nasty = fc.oneof(
    fc.string({ unit: anyCharacter, minLength: 1, maxLength: 12 }),
    fc.constantFrom("a", "A", "é", "e\u0301", ":", "%3A", "/", "..", "\0", "__proto__", "\ud83d"),
    fc.constantFrom("a:b", "a%3Ab", "direct", "account", "group", "x".repeat(512), " a", "a\n"),
  );
  const place = fc.record({
    channel: nasty,
    account: nasty,
    chat: fc.record({ id: nasty, kind: fc.constantFrom("direct" as const, "group" as const) }),
    thread: fc.option(
      fc.record({ id: nasty, kind: fc.constantFrom("thread" as const, "topic" as const) }),
    ),
  });
  property([place, place], { numRuns: rounds(40, 500) })(
    "A21: two places share a session only if they are one place, whatever their ids hold",
    (one, other) => {
      const session = { dmScope: "per-account-channel-peer" as const };
      const same = JSON.stringify(one) === JSON.stringify(other);
      expect(key({ session }, one) === key({ session }, other)).toBe(same);
    },
  );

  test("`session.store` is one folder an agent, with the state directory filled in", () => {
    const folder = (given: EarshotConfigInput["session"], agentId: string) =>
      sessionFolderOf(config({ session: given }), "/var/state $&", agentId);
    expect(folder({}, "ops")).toBe("/var/state $&/agents/ops/sessions");
    expect(folder({ store: "/srv/{agentId}/talk" }, "a.b")).toBe("/srv/a.b/talk");
    expect(() => config({ session: { store: "/srv/talk" } })).toThrow(
      "every agent needs its own folder",
    );
  });

  test("one person linked across channels has one direct session, unless all share one anyway", () => {
    const identityLinks = { ann: ["telegram:u1", "discord:9"] };
    const session = { dmScope: "per-channel-peer" as const, identityLinks };
    expect(key({ session }, direct)).toBe("agent:a0:direct:ann");
    expect(
      key(
        { session },
        { channel: "discord", chat: { id: "D", kind: "direct" }, author: { id: "9" } },
      ),
    ).toBe("agent:a0:direct:ann");
    expect(key({ session }, { channel: "discord", chat: { id: "D", kind: "direct" } })).toBe(
      "agent:a0:discord:direct:D",
    );
    expect(key({ session: { identityLinks } }, direct)).toBe("agent:a0:main");
  });

  test("a linked name that anybody may bear is warned about where ids of all channels are one", () => {
    const identityLinks = { ann: ["telegram:u1"] };
    const at = (dmScope: "per-peer" | "per-channel-peer") => ({
      session: { dmScope, identityLinks },
    });
    const stranger = { channel: "irc", chat: { id: "ann", kind: "direct" as const } };
    expect(key(at("per-peer"), stranger)).toBe(key(at("per-peer"), direct));
    expect(routingWarnings(config(at("per-peer"))).join()).toContain('the id "ann" on any channel');
    expect(key(at("per-channel-peer"), stranger)).not.toBe(key(at("per-channel-peer"), direct));
    expect(routingWarnings(config(at("per-channel-peer")))).toEqual([]);
  });
});

describe("several agents in one room", () => {
  test("a broadcast group gives each its own session, by scoped or bare id", () => {
    for (const peer of ["telegram:-1", "-1"]) {
      const routes = resolveRoute(config({ broadcast: { [peer]: ["a3", "a4"] } }), message());
      expect(routes.map(({ agentId, sessionKey }) => [agentId, sessionKey])).toEqual([
        ["a3", "agent:a3:telegram:group:-1"],
        ["a4", "agent:a4:telegram:group:-1"],
      ]);
    }
  });
});

describe("what a message says", () => {
  property([fc.string(), fc.string({ minLength: 1 })])(
    "A22, A33: text, names and titles choose no route",
    (text, name) => {
      const given = config({
        bindings: [bind({ channel: "telegram", peer: { kind: "group", id: "-2" } }, 5)],
      });
      const routes = resolveRoute(
        given,
        message({
          text,
          author: { id: "u1", name, username: name },
          chat: { id: "-1", kind: "group", title: name },
        }),
      );
      expect(routes).toEqual(resolveRoute(given, message()));
    },
  );

  test("keys offered by a caller are not fields of a message", () => {
    const offered = { sessionKey: "agent:a9:main", agentId: "a9", key: "agent:a9:main" };
    expect(message(offered as Partial<InboundInput>)).toEqual(message());
  });
});

describe("names of agents in one room", () => {
  const configOf = (names: Record<string, readonly string[]>, broadcast: object) => {
    const list = Object.entries(names).map(([id, [name = id, ...aliases]]) => ({
      id,
      name,
      aliases,
    }));
    return parseConfig({ agents: { list }, broadcast } as EarshotConfigInput);
  };
  const warningsFor = (...given: Parameters<typeof configOf>) =>
    routingWarnings(configOf(...given));

  test("one that two listen to is reported with its room and the fix, whatever its case", () => {
    const lines = warningsFor(
      { a: ["Scout"], b: ["Rover", "SCOUT"] },
      { "irc:kitchen": ["a", "b"], "irc:cellar": ["b", "a"] },
    );
    expect(lines).toEqual([
      'broadcast["irc:kitchen"]: the agents "a" and "b" both listen to "Scout", ' +
        "so a call to one is a call to both: give agents.list[1] other names",
    ]);
  });

  test("one that is part of a name of the other is reported", () => {
    expect(warningsFor({ alpha: ["Ann"], beta: ["Joanna"] }, { k: ["alpha", "beta"] })).toEqual([
      'broadcast.k: the agents "alpha" and "beta" both hear "Joanna", as "Ann" is in it, ' +
        "so a call to one is a call to both: give agents.list[1] other names",
    ]);
  });

  test("agents that share no room may bear one name, and different names are fine", () => {
    expect(warningsFor({ a1: ["Scout"], b1: ["Scout"] }, { k: ["a1"], l: ["b1"] })).toEqual([]);
    expect(warningsFor({ a1: ["Scout"], b1: ["Rover"] }, { k: ["a1", "b1"] })).toEqual([]);
  });

  const word = fc.string({ unit: fc.constantFrom("a", "b", "ß", "S", "s", " "), maxLength: 4 });
  const names = fc.array(
    word.filter((one) => one.trim() !== ""),
    { minLength: 1, maxLength: 3 },
  );
  property([names, names, word, word], { numRuns: rounds(40, 500) })(
    "they are reported exactly if calling one by some name engages the other",
    (ours, theirs, before, after) => {
      const config = configOf({ first: ours, second: theirs }, { k: ["first", "second"] });
      const callsBoth = [...ours, ...theirs, "first", "second"].some((name) => {
        const text = fold(`${before}${name.trim()}${after}`);
        return config.agents.list.every(
          (entry) =>
            aliasIn(fold(name.trim()), agentAliases(entry)) !== -1 &&
            aliasIn(text, agentAliases(entry)) !== -1,
        );
      });
      expect(routingWarnings(config).length === 1).toBe(callsBoth);
    },
  );
});
