/** Bindings: their tiers, what of them is reported, and what a look-up costs. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseConfig } from "../../../src/domain/config/index.ts";
import type { Inbound, InboundInput } from "../../../src/domain/message.ts";
import { explainTiers } from "../../../src/machines/routing/explain-route.ts";
import { decideIntake } from "../../../src/machines/routing/intake.ts";
import { resolveRoute } from "../../../src/machines/routing/routing.ts";
import { plainBinding } from "../../support/machines/plain-bindings.ts";
import { type Binding, bind, config, message, warningsOf } from "../../support/machines/routes.ts";
import { property } from "../../support/property.ts";
import { rounds } from "../../support/rounds.ts";

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
    const warnings = warningsOf(config({ bindings }));
    expect(warnings.map((line) => line.split(": put")[0])).toEqual([
      "bindings[1]: it can never match, because bindings[0] matches before it",
      "bindings[3]: it can never match, because bindings[2] matches before it",
      "bindings[6]: it can never match, because bindings[5] matches before it",
    ]);
  });

  test("one that two for all direct chats and all groups leave nothing to is reported", () => {
    const all = (kind: "direct" | "channel", n: number, more: object = {}) =>
      bind({ channel: "x", peer: { kind, id: "*" }, ...more }, n);
    const warningsFor = (...bindings: Binding[]) => warningsOf(config({ bindings })).join("\n");
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
      warningsOf(config({ bindings, broadcast }));
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

  property([fc.array(withRoles, { maxLength: 12 }), heard], { numRuns: rounds(50, 1_000) })(
    "the compiled bindings answer as the rules read one by one",
    (all, place) => {
      const bindings = all.map((match) => bind(match, 1));
      const given = message({ ...place, author: { id: "9" } });
      const of = config({ bindings });
      const [route] = resolveRoute(of, given);
      const expected = plainBinding(bindings, given);
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
        warningsOf(of).flatMap((line) => /^bindings\[(\d+)\]: it can never/u.exec(line)?.[1] ?? []),
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
