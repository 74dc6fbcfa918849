/** What is kept and what is replaced of a line and of a config, field by field. */
import { describe, expect, test } from "vitest";
import { scenarioConfig } from "../../../src/domain/config/index.ts";
import type { ScenarioLine } from "../../../src/domain/scenario/scenario.ts";
import { Redactor } from "../../../src/machines/redaction/redact.ts";
import { TextRedactor } from "../../../src/machines/redaction/redact-text.ts";

type Fields = Record<string, unknown>;

const id = (text: string) => new TextRedactor("k", scenarioConfig({})).id(text);

describe("of a line", () => {
  const header = { earshot: 1 as const, config: {} };
  const redact = (line: unknown) =>
    new Redactor("k", header, scenarioConfig).line(line as ScenarioLine) as unknown;

  test("every text is replaced, ids too, and what earshot named stays", () => {
    const line = {
      t: 5,
      in: {
        channel: "irc",
        account: "main",
        chat: { id: "kitchen", kind: "group", title: "Kitchen" },
        thread: { id: "soup", kind: "topic" },
        id: "m12",
        author: { id: "annie", name: "Annie", isBot: false, roles: ["cook"] },
        text: "lunch at 12?",
        mentions: [{ id: "bob", isSelf: false }],
        attachments: [{ id: "f1", kind: "image", mime: "image/png", name: "cat.png" }],
        replyTo: null,
      },
    };
    expect(redact(line)).toEqual({
      t: 5,
      in: {
        channel: "irc",
        account: "main",
        chat: { id: id("kitchen"), kind: "group", title: id("Kitchen") },
        thread: { id: id("soup"), kind: "topic" },
        id: id("m12"),
        author: { id: id("annie"), name: id("Annie"), isBot: false, roles: [id("cook")] },
        text: id("lunch at 12?"),
        mentions: [{ id: id("bob"), isSelf: false }],
        attachments: [{ id: id("f1"), kind: "image", mime: "image/png", name: id("cat.png") }],
        replyTo: null,
      },
    });
  });

  test.each([
    ["authorId", "rootAuthorId", "movedTo", "messageId", "guildId", "teamId", "groupId"],
    ["editId", "reactionId", "chat", "thread", "code", "sender", "roles"],
  ])("ids: %s, %s, %s, %s, %s, %s and %s, whatever they say", (...fields) => {
    const said = Object.fromEntries(fields.map((name) => [name, "stop thanks"]));
    const made = Object.fromEntries(fields.map((name) => [name, id("stop thanks")]));
    expect(redact({ t: 0, approve: said })).toEqual({ t: 0, approve: made });
  });

  test.each([
    ["channel", "account", "kind", "agentId", "send", "crash", "emoji"],
    ["added", "removed", "tool", "as", "mime", "expected", "claim"],
  ])("plain: %s, %s, %s, %s, %s, %s and %s", (...fields) => {
    const said = { t: 0, approve: Object.fromEntries(fields.map((name) => [name, ["lunch"]])) };
    expect(redact(said)).toEqual(said);
  });

  test("of an operator, of a judge and of a label, the key of a conversation is replaced in parts", () => {
    const key = "agent:main:irc:group:kitchen";
    const made = `agent:main:irc:group:${id("kitchen")}`;
    expect(redact({ t: 0, operator: { key, does: "reset" } })).toEqual({
      t: 0,
      operator: { key: made, does: "reset" },
    });
    expect(redact({ t: 0, label: { key, id: "m1", expected: "engage" } })).toEqual({
      t: 0,
      label: { key: made, id: id("m1"), expected: "engage" },
    });
    const judged = { key, id: "m1", failed: "timeout", confidence: 1, why: "lunch, stop" };
    expect(redact({ t: 0, judge: judged })).toEqual({
      t: 0,
      judge: { ...judged, key: made, id: id("m1"), why: id("lunch, stop") },
    });
  });

  test.each([
    ["agent:main:main", "agent:main:main"],
    ["agent:main:main:thread:soup", `agent:main:main:thread:${id("soup")}`],
    ["agent:main:direct:annie", `agent:main:direct:${id("annie")}`],
    ["agent:main:irc:direct:annie", `agent:main:irc:direct:${id("annie")}`],
    ["agent:main:irc:work:direct:annie", `agent:main:irc:work:direct:${id("annie")}`],
    [
      "agent:main:irc:account:work:group:kitchen:topic:soup",
      `agent:main:irc:account:work:group:${id("kitchen")}:topic:${id("soup")}`,
    ],
    ["kitchen", id("kitchen")],
  ])("the key %s", (key, made) =>
    expect(redact({ t: 0, operator: { key, does: "abort" } })).toEqual({
      t: 0,
      operator: { key: made, does: "abort" },
    }),
  );

  test("the name of a bot that speaks, or has spoken, is replaced alike from then on", () => {
    const message = (isBot: boolean, text: string) => ({
      author: { id: "r", name: "Relay", isBot },
      text,
    });
    const redactor = new Redactor("k", header, scenarioConfig);
    const say = (line: unknown) => JSON.stringify(redactor.line(line as ScenarioLine));
    expect(say({ t: 0, in: message(false, "relays") })).toContain(`"${id("relays")}"`);
    const alike = `"${id("relay")}${id("s")}"`;
    const history = { messages: [message(true, "relays")] };
    expect(say({ t: 0, history })).toContain(alike);
    const again = new Redactor("k", header, scenarioConfig);
    expect(JSON.stringify(again.line({ t: 0, in: message(true, "relays") } as never))).toContain(
      alike,
    );
  });

  test("a config among the lines counts from there on", () => {
    const redactor = new Redactor("k", header, scenarioConfig);
    const given = { agents: { list: [{ id: "main", name: "Kitchen" }] }, store: { path: "x" } };
    expect(redactor.line({ t: 3, config: given })).toEqual({
      t: 3,
      config: { agents: { list: [{ id: "main", name: "Kitchen" }] } },
    });
    const said = redactor.line({ t: 4, edit: { text: "kitchen" } } as never) as unknown;
    expect(said).toEqual({ t: 4, edit: { text: "kitchen" } });
  });
});

describe("of a config", () => {
  const made = (given: Fields) =>
    new Redactor("k", { earshot: 1, config: {} }, () => scenarioConfig({})).header({
      earshot: 1,
      start: 7,
      config: given,
    }).config as Fields;

  test("only what takes part in decisions is left", () => {
    const kept = [
      ...["access", "engagement", "context", "loopGuard", "messages", "stream", "typing"],
      ...["silent", "turn", "session", "commands", "errors", "workers"],
    ];
    const given = Object.fromEntries(
      [...kept, "store", "http", "log", "media"].map((name) => [name, { some: 1 }]),
    );
    expect(made(given)).toEqual(Object.fromEntries(kept.map((name) => [name, { some: 1 }])));
  });

  test("of agents: what they answer to, and the last part of their folders", () => {
    const fields = [
      ...["id", "name", "aliases", "default", "maxConcurrent", "contextTokens", "engagement"],
      ...["context", "loopGuard", "messages", "stream", "typing", "silent", "turn", "errors"],
    ];
    const kept = Object.fromEntries(fields.map((name) => [name, "lunch"]));
    const list = [
      { ...kept, system: "x", purpose: "y", workspace: "/home/ann/ears/" },
      { id: "b", workspace: "C:\\ears" },
      { id: "c", workspace: "~" },
      { id: "d", workspace: "../.." },
      { id: "e", workspace: 7 },
      { id: "g", workspace: "" },
      "f",
    ];
    expect(made({ agents: { list, defaults: { maxConcurrent: 3, model: "m" } } })).toEqual({
      agents: {
        list: [
          { ...kept, workspace: "ears" },
          { id: "b", workspace: "ears" },
          { id: "c" },
          { id: "d" },
          { id: "e" },
          { id: "g" },
          "f",
        ],
        defaults: { maxConcurrent: 3 },
      },
    });
    expect(made({ agents: { list: [], defaults: 5 } })).toEqual({ agents: { list: [] } });
    expect(made({ agents: { list: [], defaults: {} } })).toEqual({ agents: { list: [] } });
    expect(made({ agents: { list: "x" } })).toEqual({ agents: {} });
    expect(made({ agents: "x" })).toEqual({ agents: {} });
  });

  test("of channels: their places, under the ids of the lines", () => {
    const fields = [
      ...["enabled", "enforceOwner", "dmPolicy", "groupPolicy", "engagement", "context"],
      ...["loopGuard", "messages", "stream", "typing", "silent", "turn", "errors", "aliases"],
    ];
    const plain = Object.fromEntries(fields.map((name) => [name, "lunch"]));
    const place = { ...plain, allowFrom: ["annie", "*"], groupAllowFrom: ["irc:annie", 7] };
    const ids = [id("annie"), "*"];
    const shown = { ...plain, allowFrom: ids, groupAllowFrom: [`irc:${id("annie")}`, 7] };
    const groups = { "irc:kitchen": { enabled: true, topics: { soup: { enabled: false } } } };
    const shownGroups = {
      [`irc:${id("kitchen")}`]: { enabled: true, topics: { [id("soup")]: { enabled: false } } },
    };
    const given = {
      ...place,
      groups,
      token: "secret",
      accounts: { work: { ...place, token: "secret" }, off: false },
    };
    expect(made({ channels: { irc: given, sms: { token: "secret" }, slack: true } })).toEqual({
      channels: {
        irc: { ...shown, groups: shownGroups, accounts: { work: shown, off: false } },
        sms: {},
        slack: true,
      },
    });
    expect(made({ channels: 5 })).toEqual({ channels: 5 });
  });

  test("of bindings, broadcasts and conversations: the ids in them", () => {
    const bindings = [
      {
        agentId: "main",
        match: {
          channel: "irc",
          peer: { kind: "group", id: "kitchen" },
          guildId: "g",
          teamId: "*",
        },
        roles: ["cook", "irc:chef"],
      },
    ];
    expect(made({ bindings })).toEqual({
      bindings: [
        {
          agentId: "main",
          match: {
            channel: "irc",
            peer: { kind: "group", id: id("kitchen") },
            guildId: id("g"),
            teamId: "*",
          },
          roles: [id("cook"), `irc:${id("chef")}`],
        },
      ],
    });
    expect(made({ bindings: [{ match: { teamId: "s", id: 5 } }] })).toEqual({
      bindings: [{ match: { teamId: id("s"), id: 5 } }],
    });
    expect(made({ bindings: "x" })).toEqual({ bindings: [] });
    expect(made({ broadcast: { strategy: "parallel", kitchen: ["main"] } })).toEqual({
      broadcast: { strategy: "parallel", [id("kitchen")]: ["main"] },
    });
    expect(
      made({ conversations: { "agent:main:irc:group:kitchen": { aliases: ["a"], system: "x" } } }),
    ).toEqual({ conversations: { [`agent:main:irc:group:${id("kitchen")}`]: { aliases: ["a"] } } });
  });

  test("people in lists and links are replaced; words of the author's are left out", () => {
    expect(
      made({
        session: { identityLinks: { annie: ["irc:ann", "ann"] }, scope: "per-peer" },
        commands: { ownerAllowFrom: ["irc:ann"], allowFrom: { irc: ["ann"], "*": ["bob"] } },
        messages: { messagePrefix: "x", responsePrefix: "y", ackReaction: "👀" },
        turn: { model: "m", tools: [], heartbeat: {}, media: {}, store: 1, purpose: "p", wait: 5 },
      }),
    ).toEqual({
      session: {
        identityLinks: { [id("annie")]: [`irc:${id("ann")}`, id("ann")] },
        scope: "per-peer",
      },
      commands: {
        ownerAllowFrom: [`irc:${id("ann")}`],
        allowFrom: { irc: [id("ann")], "*": [id("bob")] },
      },
      messages: { ackReaction: "👀" },
      turn: { wait: 5 },
    });
  });

  test("of a judge stays that there is one, and how sure it has to be", () => {
    const judge = { kind: "http", url: "https://x.example", minConfidence: 0.7 };
    expect(made({ engagement: { judge } })).toEqual({
      engagement: { judge: { kind: "module", module: "redacted", minConfidence: 0.7 } },
    });
    expect(made({ engagement: { judge: { kind: "agent" } } })).toStrictEqual({
      engagement: { judge: { kind: "module", module: "redacted" } },
    });
    expect(made({ engagement: { judge: false } })).toEqual({ engagement: { judge: false } });
  });
});
