/** What a config may say, what is refused and how it is reported, and which place wins. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  agentOf,
  changedPaths,
  configProblems,
  configValues,
  defaultConfig,
  isLoopbackHost,
  overlay,
  type ParseOptions,
  parseConfig,
  resolveSettings,
  scenarioConfig,
  secretValues,
  withoutSecrets,
} from "../../../src/domain/config/index.ts";
import { editDistance, nearest } from "../../../src/domain/config/parse/nearest.ts";
import { EarshotError } from "../../../src/domain/errors.ts";
import { property } from "../../support/property.ts";

const codes = (raw: unknown) => configProblems(raw).map(({ code }) => code);
const messages = (raw: unknown) => configProblems(raw).map(({ message }) => message);

const fakeChannel = {
  id: "telegram",
  accountSchema: z.strictObject({ botToken: z.string().min(1), seconds: z.number().default(30) }),
};
const fakeDriver = {
  kind: "model",
  configSchema: z.strictObject({
    kind: z.literal("model"),
    model: z.string(),
    retries: z.number().default(1),
  }),
};
const guide = { kind: "guide", configSchema: z.strictObject({ kind: z.literal("guide") }) };
const known: ParseOptions = {
  channels: new Map([["telegram", fakeChannel]]),
  drivers: new Map<string, { kind: string; configSchema: z.ZodType }>([
    ["model", fakeDriver],
    ["guide", guide],
  ]),
};

describe("defaults", () => {
  test("an empty file is the default config, and the defaults are the documented ones", () => {
    expect(parseConfig({})).toEqual(defaultConfig);
    expect(defaultConfig.engagement).toEqual({
      trigger: ["dm", "mention", "reply"],
      activation: "ladder",
      broadcasts: "called",
      stickiness: {
        enabled: true,
        windowMs: 900_000,
        mode: "floor",
        threshold: 0.4,
        holdDuringTurn: true,
      },
      freshMembershipMs: 60_000,
      firstReadMs: 2_000,
      participantDays: 7,
    });
    expect(defaultConfig.access.dmPolicy).toBe("pairing");
    expect(defaultConfig.access.groupPolicy).toBe("allowlist");
    const closed = { exposed: false, publicUrl: null, tls: null, proxy: null };
    expect(defaultConfig.server).toEqual({ host: "127.0.0.1", port: 4_747, ...closed });
    expect(agentOf(defaultConfig, "main")).toMatchObject({
      name: "earshot",
      driver: { kind: "guide" },
    });
  });

  test("parsing what was parsed gives the same again", () => {
    const raw = {
      agents: { list: [{ id: "scout", driver: { kind: "model", model: "x" } }] },
      channels: { telegram: { accounts: { default: { botToken: "secret-token" } } } },
      stream: { humanDelay: { minMs: 1, maxMs: 2 } },
    };
    const once = parseConfig(raw, known);
    expect(parseConfig(JSON.parse(JSON.stringify(once)), known)).toEqual(once);
    expect(parseConfig(withoutSecrets(once))).toEqual(withoutSecrets(once));
  });

  test("a scenario is open unless its header says otherwise", () => {
    expect(scenarioConfig({}).access).toMatchObject({ dmPolicy: "open", groupPolicy: "open" });
    const closed = scenarioConfig(
      { access: { groupPolicy: "disabled" } },
      { context: { size: 3 } },
    );
    expect(closed.access).toMatchObject({ dmPolicy: "open", groupPolicy: "disabled" });
    expect(closed.context.size).toBe(3);
  });
});

describe("what is refused", () => {
  test("an unknown key is named with the nearest known one", () => {
    for (const [raw, said] of [
      [{ engagment: {} }, 'unknown section "engagment". Did you mean "engagement"?'],
      [
        { engagement: { trigerr: [] } },
        'unknown key "trigerr" in engagement. Did you mean "trigger"?',
      ],
      [{ dmPolicy: "open" }, 'unknown section "dmPolicy". Did you mean "access.dmPolicy"?'],
      [
        { channels: { x: { accounts: { a: { engagement: { stickiness: { windowms: 1 } } } } } } },
        'unknown key "windowms" in channels.x.accounts.a.engagement.stickiness. Did you mean "windowMs"?',
      ],
    ] as const) {
      expect(codes(raw)).toEqual(["EAR_CONFIG_UNKNOWN_KEY"]);
      expect(messages(raw)).toEqual([said]);
    }
  });

  test("a wrong value is reported with its place, what was expected and what was there", () => {
    for (const [raw, said] of [
      [
        { context: { size: "many" } },
        'context.size is invalid: expected a number, received "many"',
      ],
      [{ context: { size: -1 } }, "context.size is invalid: expected at least 0, received -1"],
      [
        { engagement: { activation: "sometimes" } },
        'engagement.activation is invalid: expected "ladder", "mention" or "always", received "sometimes"',
      ],
      [
        { channels: { telegram: { allowFrom: [123] } } },
        "channels.telegram.allowFrom[0] is invalid: expected a string, received 123. Put it in quotes",
      ],
      [
        { stream: { humanDelay: { minMs: 1 } } },
        "stream.humanDelay.maxMs is missing: expected a number",
      ],
      [5, "the config is invalid: expected an object, received 5"],
    ] as const)
      expect(messages(raw)).toEqual([said]);
  });

  test("every problem is reported, the first one gives the code", () => {
    const raw = { contxt: {}, typing: { mode: 1 } };
    expect(configProblems(raw)).toHaveLength(2);
    expect(() => parseConfig(raw, { source: "a.json5" })).toThrow(
      /Cannot read a\.json5: 2 problems\n {2}\S.*\n {2}\S/u,
    );
  });

  test("A37: keys that reach a prototype are refused with their path, at any depth", () => {
    for (const json of [
      '{"__proto__":{"open":true}}',
      '{"access":{"__proto__":{"dmPolicy":"open"}}}',
      '{"channels":{"constructor":{"prototype":{"open":1}}}}',
      '{"agents":{"list":[{"id":"a","driver":{"kind":"x","__proto__":1}}]}}',
    ]) {
      expect(codes(JSON.parse(json))).toEqual(["EAR_CONFIG_UNSAFE"]);
      expect(messages(JSON.parse(json))[0]).toMatch(/__proto__|constructor/u);
    }
    expect(({} as { open?: boolean }).open).toBeUndefined();
    expect(scenarioConfigCode('{"access":{"__proto__":{"x":1}}}')).toBe("EAR_CONFIG_UNSAFE");
  });

  test("nesting without end is refused, not followed", () => {
    let deep: unknown = {};
    for (let level = 0; level < 5_000; level += 1) deep = { a: deep };
    expect(codes(deep)).toEqual(["EAR_CONFIG_UNSAFE"]);
  });

  test("A15: an asterisk opens nothing, an empty list names nobody, an alias may not be empty", () => {
    for (const list of ["allowFrom", "groupAllowFrom"]) {
      expect(messages({ access: { [list]: ["*"] } })[0]).toContain('set the policy to "open"');
      expect(messages({ channels: { telegram: { [list]: ["*"] } } })[0]).toContain("policy");
    }
    expect(messages({ access: { allowFrom: ["123"] } })[0]).toContain("telegram:123");
    expect(messages({ agents: { list: [{ id: "a", aliases: [" "] }] } })[0]).toContain(
      "empty alias",
    );
  });

  test("A10: a host that others reach needs exposed, and only loopback is loopback", () => {
    expect(codes({ server: { host: "0.0.0.0" } })).toEqual(["EAR_CONFIG_UNSAFE"]);
    const meant = { host: "0.0.0.0", exposed: true };
    expect(codes({ server: meant })).toEqual(["EAR_CONFIG_UNSAFE"]);
    expect(codes({ server: { ...meant, tls: { cert: "c.pem", key: "k.pem" } } })).toEqual([]);
    expect(codes({ server: { ...meant, proxy: { addresses: ["10.0.0.2"] } } })).toEqual([]);
    for (const everybody of ["0.0.0.0/0", "::/0", "*", "proxy.example.com"])
      expect(codes({ server: { ...meant, proxy: { addresses: [everybody] } } })).not.toEqual([]);
    for (const host of [
      "127.evil.com",
      "0x7f.1",
      "localhost.",
      "127.1",
      "127.0.0.256",
      "127.00.0.1",
      "::ffff:127.0.0.1",
    ])
      expect(isLoopbackHost(host)).toBe(false);
    for (const host of ["127.0.0.1", "127.255.0.3", "::1", "localhost"])
      expect(isLoopbackHost(host)).toBe(true);
  });

  test("names that refer to nothing, twice to the same, or bounds out of order are refused", () => {
    for (const [raw, said] of [
      [{ bindings: [{ match: { channel: "x" }, agentId: "mian" }] }, 'Did you mean "main"?'],
      [{ broadcast: { "x:1": ["main", "main"] } }, "listed twice"],
      [{ agents: { list: [{ id: "a" }, { id: "a" }] } }, "is used twice"],
      [
        {
          agents: {
            list: [
              { id: "a", default: true },
              { id: "b", default: true },
            ],
          },
        },
        "more than one",
      ],
      [{ conversations: { "not a key": {} } }, "session key"],
      [{ stream: { minChars: 900, maxChars: 800 } }, "must be at most stream.maxChars"],
      [{ messages: { inbound: { debounceMs: 3_000 } } }, "must be at most debounceMaxMs"],
      [{ turn: { idleMs: 700_000 } }, "must be at most turn.maxMs"],
      [{ session: { identityLinks: { ann: ["x:1"], bo: ["x:1"] } } }, "already linked"],
      [
        { bindings: [{ match: { channel: "x", roles: ["r"] }, agentId: "main" }] },
        "roles need the guildId",
      ],
    ] as const)
      expect(messages(raw).join()).toContain(said);
  });

  test.each([
    { stream: { maxChars: 400 } },
    { messages: { inbound: { debounceMaxMs: 100 } } },
    { turn: { maxMs: 5_000 } },
  ])("an upper bound may be lowered alone: %j", (raw) => {
    expect(messages(raw)).toEqual([]);
  });

  test.each([
    [{ messages: { inbound: { byChannel: { irc: 900_000 } } } }, "messages.inbound.byChannel.irc"],
    [
      {
        channels: {
          telegram: { messages: { inbound: { debounceMs: 3_000, debounceMaxMs: 100 } } },
        },
      },
      "channels.telegram.messages.inbound.debounceMs is invalid: must be at most debounceMaxMs (100)",
    ],
    [
      { channels: { telegram: { messages: { inbound: { debounceMs: 900_000 } } } } },
      "channels.telegram.messages.inbound.debounceMs is invalid: must be less than turn.replyAgeMsMax",
    ],
    [
      { channels: { telegram: { turn: { replyAgeMsMax: 2_000 } } } },
      "channels.telegram.turn.replyAgeMsMax is invalid: must be more than messages.inbound.debounceMaxMs",
    ],
    [
      { channels: { telegram: { accounts: { a: { turn: { idleMs: 700_000 } } } } } },
      "channels.telegram.accounts.a.turn.idleMs is invalid: must be at most turn.maxMs (600000)",
    ],
    [
      { conversations: { "agent:main:main": { stream: { minChars: 2_000 } } } },
      "must be at most stream.maxChars (1200)",
    ],
    [
      { agents: { list: [{ id: "a", stream: { humanDelay: { minMs: 2, maxMs: 1 } } }] } },
      "agents.list[0].stream.humanDelay.minMs is invalid: must be at most maxMs (1)",
    ],
  ])("a bound that a level exceeds is reported there: %j", (raw, said) => {
    expect(messages(raw).join()).toContain(said);
  });

  test("with channels and drivers known, their options are checked at their place", () => {
    const problems = (raw: unknown) => configProblems(raw, known).map(({ message }) => message);
    expect(problems({ channels: { telegramm: {} } })).toEqual([
      'unknown channel "telegramm". Did you mean "telegram"?',
    ]);
    expect(
      problems({ channels: { telegram: { accounts: { a: { botTokn: "x" } } } } }).join(),
    ).toContain('unknown key "botTokn" in channels.telegram.accounts.a. Did you mean "botToken"?');
    expect(problems({ agents: { defaults: { driver: "modle" } } })[0]).toContain(
      "agents.defaults.driver",
    );
    expect(problems({ agents: { list: [{ id: "a", driver: "model" }] } })[0]).toContain(
      "agents.list[0].driver.model is missing",
    );
    const fine = parseConfig(
      {
        agents: { list: [{ id: "a", driver: { kind: "model", model: "m" } }] },
        channels: { telegram: { accounts: { a: { botToken: "t", stream: { mode: "off" } } } } },
      },
      known,
    );
    expect(fine.agents.list[0]?.driver).toEqual({ kind: "model", model: "m", retries: 1 });
    expect(fine.channels.telegram?.accounts?.a).toEqual({
      botToken: "t",
      seconds: 30,
      stream: { mode: "off" },
    });
  });

  test("a secret of the wrong kind is not repeated", () => {
    const raw = { channels: { telegram: { accounts: { a: { botToken: 987654 } } } } };
    expect(configProblems(raw, known)[0]?.message).toContain("received a secret");
  });
});

function scenarioConfigCode(json: string): string | undefined {
  try {
    scenarioConfig(JSON.parse(json));
  } catch (error) {
    return error instanceof EarshotError ? error.code : String(error);
  }
  return undefined;
}

describe("which place wins", () => {
  const scope = {
    agentId: "a",
    key: "agent:a:telegram:group:-1",
    channel: "telegram",
    account: "work",
    chatKind: "group" as const,
  };
  const sizes = { global: 1, agent: 2, channel: 3, account: 4, conversation: 5 };
  const withPlaces = (places: readonly (keyof typeof sizes)[]) => {
    const at = (place: keyof typeof sizes) =>
      places.includes(place) ? { context: { size: sizes[place] } } : {};
    return parseConfig({
      ...at("global"),
      agents: { list: [{ id: "a", ...at("agent") }] },
      channels: { telegram: { ...at("channel"), accounts: { work: at("account") } } },
      conversations: { [scope.key]: at("conversation") },
    });
  };

  property([fc.subarray(Object.keys(sizes) as (keyof typeof sizes)[], { minLength: 1 })])(
    "the most specific place that speaks",
    (places) => {
      const { context } = resolveSettings(withPlaces(places), scope, 1);
      expect(context.size).toBe(Math.max(...places.map((place) => sizes[place])));
      expect(context.maxAgeMs).toBe(defaultConfig.context.maxAgeMs);
    },
  );

  test("a place speaks for its own only", () => {
    const config = withPlaces(["global", "agent", "channel", "account", "conversation"]);
    const size = (other: Partial<typeof scope>) =>
      resolveSettings(config, { ...scope, ...other }, 1).context.size;
    expect(size({ key: "agent:a:main" })).toBe(4);
    expect(size({ key: "x", account: "default" })).toBe(3);
    expect(size({ key: "x", channel: "slack" })).toBe(2);
    expect(size({ key: "x", channel: "slack", agentId: "b" })).toBe(1);
    expect(
      size({ key: "toString", channel: "constructor", account: "valueOf", agentId: "b" }),
    ).toBe(1);
  });

  test("a general shorthand per channel gives way to a more specific plain value", () => {
    const config = parseConfig({
      messages: {
        inbound: { byChannel: { telegram: 111 } },
        queue: { byChannel: { telegram: "steer" } },
      },
      channels: {
        telegram: { accounts: { work: { messages: { inbound: { debounceMs: 222 } } } } },
      },
    });
    const at = (account: string) => resolveSettings(config, { ...scope, account }, 1);
    expect(at("default").debounce.idleMs).toBe(111);
    expect(at("work").debounce.idleMs).toBe(222);
    expect(at("work").queue.mode).toBe("steer");
  });

  test.each([
    [{ debounceMaxMs: 100 }, { idleMs: 500, maxMs: 100 }],
    [
      { debounceMs: 50, debounceMaxMs: 100 },
      { idleMs: 50, maxMs: 100 },
    ],
    [{ byChannel: { telegram: 5_000 } }, { idleMs: 5_000, maxMs: 5_000 }],
    [
      { byChannel: { telegram: 5_000 }, debounceMaxMs: 2_000 },
      { idleMs: 5_000, maxMs: 5_000 },
    ],
    [
      { byChannel: { telegram: 5_000 }, debounceMaxMs: 3_000 },
      { idleMs: 5_000, maxMs: 5_000 },
    ],
    [
      { byChannel: { telegram: 1_000 }, debounceMaxMs: 3_000 },
      { idleMs: 1_000, maxMs: 3_000 },
    ],
  ])("a window per channel raises the debounce cap with it: %j", (inbound, debounce) => {
    const config = parseConfig({ messages: { inbound } });
    expect(resolveSettings(config, scope, 1).debounce).toEqual(debounce);
  });

  test("so does the window of a level, unless that level sets the cap", () => {
    const config = parseConfig({
      messages: { inbound: { debounceMaxMs: 3_000 } },
      channels: {
        telegram: {
          messages: { inbound: { debounceMs: 4_000 } },
          accounts: { capped: { messages: { inbound: { debounceMaxMs: 1_000 } } } },
        },
      },
    });
    const at = (account: string) => resolveSettings(config, { ...scope, account }, 1).debounce;
    expect(at("default")).toEqual({ idleMs: 4_000, maxMs: 4_000 });
    expect(at("capped")).toEqual({ idleMs: 4_000, maxMs: 1_000 });
  });

  test("names, acks and @everyone become what the machine looks at", () => {
    const config = parseConfig({
      engagement: { trigger: ["mention", "everyone"] },
      messages: { ackScope: "direct" },
      agents: { list: [{ id: "a", name: "Scout", workspace: "/srv/scouty/", aliases: ["buddy"] }] },
    });
    const settings = resolveSettings(config, scope, 7);
    expect(settings.version).toBe(7);
    expect(settings.engagement.aliases).toEqual(["Scout", "a", "scouty", "buddy"]);
    expect(settings.engagement.trigger).toEqual(["mention"]);
    expect(settings.everyoneMentions).toBe(true);
    expect(settings.ackReaction).toBeNull();
    expect(resolveSettings(config, { ...scope, chatKind: "direct" }, 7).ackReaction).toBe("👀");
    expect(
      resolveSettings(defaultConfig, { ...scope, agentId: "main" }, 1).engagement.aliases,
    ).toEqual(["earshot"]);
  });

  test("history switched off switches context off", () => {
    const config = parseConfig({ channels: { telegram: { context: { historyLimit: 0 } } } });
    expect(resolveSettings(config, scope, 1).context.size).toBe(0);
  });
});

describe("secrets and changes", () => {
  const config = parseConfig({
    silent: { token: "NO_REPLY_AT_ALL" },
    agents: {
      list: [
        {
          id: "a",
          driver: { kind: "model", apiKey: "sk-canary-1", fallbacks: [{ apiKey: "sk-canary-2" }] },
        },
      ],
    },
    channels: { telegram: { accounts: { a: { botToken: "123:canary-3" } } } },
  });

  test("no secret is left in what is journalled, and every one is known to the sinks", () => {
    expect(JSON.stringify(withoutSecrets(config))).not.toContain("canary");
    expect(withoutSecrets(config).silent.token).toBe("NO_REPLY_AT_ALL");
    expect(secretValues(config).sort()).toEqual(["123:canary-3", "sk-canary-1", "sk-canary-2"]);
    expect(JSON.stringify(configValues(config, {}))).not.toContain("canary");
  });

  test("what changed is reported by path, without values", () => {
    const after = overlay(config, {
      context: { size: 3 },
      channels: { telegram: { accounts: { a: { botToken: "123:canary-4" } } } },
    });
    expect(changedPaths(config, after)).toEqual([
      "channels.telegram.accounts.a.botToken",
      "context.size",
    ]);
    expect(changedPaths(config, config)).toEqual([]);
  });

  test("each value says where it comes from", () => {
    const raw = { context: { size: 3 }, agents: { defaults: { driver: "guide" } } };
    const values = configValues(parseConfig(raw), raw, { "server.port": 1 });
    const origin = (path: string) => values.find((value) => value.path === path)?.origin;
    expect(origin("context.size")).toBe("file");
    expect(origin("context.maxAgeMs")).toBe("default");
    expect(origin("agents.defaults.driver.kind")).toBe("file");
    expect(origin("server.port")).toBe("flag");
  });

  property([fc.anything({ withNullPrototype: true }), fc.anything()])(
    "laying one value over another never throws and never reaches a prototype",
    (base, over) => {
      overlay(base, over);
      expect(Object.keys(Object.prototype)).toEqual([]);
    },
  );

  property([fc.anything()])("any value is either a config or refused with a reason", (raw) => {
    const problems = configProblems(raw);
    expect(problems.every(({ message }) => message.length > 0 && !message.includes("\n"))).toBe(
      true,
    );
    if (problems.length === 0) expect(parseConfig(raw).server.host).toBe("127.0.0.1");
  });
});

describe("the nearest word", () => {
  test("edits are counted the way people make them", () => {
    for (const [one, other, count] of [
      ["trigger", "trigger", 0],
      ["triger", "trigger", 1],
      ["trigegr", "trigger", 1],
      ["Trigger", "trigger", 0],
      ["", "abc", 3],
    ] as const)
      expect(editDistance(one, other)).toBe(count);
    expect(nearest("contxt", ["context", "typing"])).toBe("context");
    expect(nearest("elephant", ["context", "typing"])).toBeNull();
  });

  property([fc.string({ maxLength: 12 }), fc.string({ maxLength: 12 })])(
    "the edit distance is symmetric and bounded by the longer word",
    (one, other) => {
      expect(editDistance(one, other)).toBe(editDistance(other, one));
      expect(editDistance(one, other)).toBeLessThanOrEqual(
        Math.max(one.toLowerCase().length, other.toLowerCase().length),
      );
    },
  );
});
