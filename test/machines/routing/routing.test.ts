/** Routing: sessions by scope, agents that share a room, and that nothing said can choose a route. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sessionFolderOf } from "../../../src/daemon/state/transcript-dir.ts";
import { type EarshotConfigInput, parseConfig } from "../../../src/domain/config/index.ts";
import { agentAliases } from "../../../src/domain/config/resolve/agent.ts";
import { fold } from "../../../src/domain/fold-text.ts";
import type { InboundInput } from "../../../src/domain/message.ts";
import { aliasIn } from "../../../src/machines/engagement/ladder-input.ts";
import { resolveRoute } from "../../../src/machines/routing/routing.ts";
import { bind, config, message, warningsOf } from "../../support/machines/routes.ts";
import { anyCharacter, property } from "../../support/property.ts";
import { rounds } from "../../support/rounds.ts";

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
    expect(warningsOf(config(at("per-peer"))).join()).toContain('the id "ann" on any channel');
    expect(key(at("per-channel-peer"), stranger)).not.toBe(key(at("per-channel-peer"), direct));
    expect(warningsOf(config(at("per-channel-peer")))).toEqual([]);
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
  const warningsFor = (...given: Parameters<typeof configOf>) => warningsOf(configOf(...given));

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
      expect(warningsOf(config).length === 1).toBe(callsBoth);
    },
  );
});
