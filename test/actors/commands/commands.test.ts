/**
 * Commands through the whole runtime: the answer of each, what it changes, that it runs and is
 * answered once, and that nobody runs one without authority.
 */
import { describe, expect, test } from "vitest";
import { renderWhy } from "../../../src/daemon/cli/output/explanation.ts";
import { commandList } from "../../../src/machines/commands/table.ts";
import { untilStopped } from "../../support/agents/recording-agent.ts";
import {
  directKey,
  roomKey,
  type SessionWorld,
  sessionWorld,
} from "../../support/runtime/session-world.ts";

const owner = { commands: { ownerAllowFrom: ["telegram:ann"] } };
const bob = { id: "bob", name: "Bob" };

/** Gives a command and waits for its answer. */
async function ask(world: SessionWorld, text: string, more: object = { direct: true }) {
  const before = world.sent.length;
  const [outcome] = await world.say(text, more);
  await world.pass(1_000);
  const answers = world.sent.slice(before);
  return {
    decision: outcome?.receivers[0]?.verdict?.decision ?? null,
    answers,
    text: answers[0]?.text,
  };
}

describe("a command", () => {
  test.each([
    ["/help", /^`\/help \[command\]` Lists the commands/],
    ["/help queue", /What happens to messages while a turn runs/],
    ["/commands", /`\/whoami`/],
    ["/status", /Agent: earshot \(main\), recording\nModel: as configured; thinking off/],
    ["/whoami", /You are `telegram:ann`\. You may do everything/],
    ["/id", /telegram:ann/],
    ["/new", /^Started a new session\.$/],
    ["/reset", /^Started a new session\.$/],
    ["/stop", /^Nothing of yours is running\.$/],
    ["/activation", /^Activation: ladder/],
    ["/activation mention", /^Activation: mention\.$/],
    ["/send", /^Sending answers: allow\.$/],
    ["/usage", /This session: 1 turn, 10 tokens in, 5 out, \$0\.2500/],
    ["/session", /^Session: `[^`]+` of `agent:main:main`/],
    [
      "/session",
      /^Settings: model as configured, thinking as configured, verbose as configured,.* exec as/m,
    ],
    ["/compact", /^Summarizing the conversation so far\.$/],
    ["/context", /^Remembered: 2 entries, about \d+ of 100000 tokens/],
    ["/models", /^The config names no model/],
    ["/model", /^Model: as configured\.$/],
    ["/model gpt-5.2", /^Model: gpt-5\.2\.$/],
    ["/queue", /^Queue: collect, debounce 500 ms, cap 20, drop summarize\.$/],
    ["/queue banana", /^`\/queue \[mode\]/],
    ["/queue steer debounce:2s", /^Queue: steer, debounce 2000 ms, cap 20/],
    ["/think", /^Thinking: off\.$/],
    ["/think: HIGH", /^Thinking: high\.$/],
    ["/t on", /^Thinking: low\.$/],
    ["/verbose full", /^Verbose: full\.$/],
    ["/reasoning stream", /^Reasoning: stream\.$/],
    ["/elevated full", /^Elevated: full\. The agent here \(recording\) never asks/],
    ["/elevated off", /^Elevated: off\.$/],
    ["/exec", /^Exec: security as configured, ask as configured\. The agent here/],
    ["/exec ask=on-miss SECURITY=allowlist", /^Exec: security allowlist, ask on-miss\./],
    ["/exec host=here security=full", /^Exec: security full, ask as configured\./],
    ["/exec host=sandbox security=full", /^`\/exec \[host=here\]/],
    ["/exec security=everything", /^`\/exec \[host=here\]/],
    ["/tts off", /^Speech: off\. No speech program is configured/],
    ["/tts", /^Speech: as configured\./],
    ["/allowlist", /^Direct chats here are `open`; on the list: 0$/],
    ["/allowlist add 7", /^`7` may speak in direct chats\.$/],
    ["/allowlist add @bob", /^Use the person's platform id/],
    ["/allowlist remove telegram:8", /^`8` was not added from here/],
    ["/subagents", /^Nothing else runs for this agent or in this room\.$/],
    ["/subagents stop K7QM", /^No such turn runs/],
    ["/approve", /^No agent is waiting for permission here\.$/],
    ["/approve K7QM always", /^Nothing of that id waits/],
    ["/restart", /^This earshot runs inside another program/],
    ["/config set log.level debug", /^This earshot runs inside another program/],
    ["/debug", /^This earshot runs inside another program/],
    ["/config show", /^Sections: /],
    ["/config get engagement.activation", /^```json\n"ladder"\n```$/],
    ["/config get engagement.__proto__", /^The config has no such key/],
    ["/export", /Ann: hello\nassistant: re: hello$/],
    ["/export-session 1", /, 0 lines:$/],
    ["/why", /\*\*engage \(dm\)\*\*\nBecause: /],
    ["/activation sometimes", /^`\/activation \[ladder\|mention\|always\|default\]`/],
  ])("%s is answered by the runtime alone", async (text, answer) => {
    const world = await sessionWorld(owner);
    await world.talk("hello", { direct: true });
    const said = await ask(world, text);
    expect(said.text).toMatch(answer);
    expect(said).toMatchObject({ decision: "command", answers: [{ replyTo: null }] });
    expect(world.turns.filter((turn) => !world.isSummary(turn))).toHaveLength(1);
    expect(world.logged.filter(({ level }) => level === "error")).toEqual([]);
    await world.runtime.stop();
  });

  test("/disengage is acknowledged with a reaction, and with words where there are none", async () => {
    const world = await sessionWorld(owner);
    const silent = await ask(world, "/disengage");
    expect(silent).toMatchObject({ decision: "command", answers: [] });
    expect(world.reactions).toEqual([expect.stringMatching(/^\+👌 /)]);
    expect(world.lines.filter((line) => "out" in line && line.out === "react")).toHaveLength(1);
    world.wordsOnly = true;
    expect((await ask(world, "/disengage")).text).toMatch(/^I only listen here/);
    expect(world.logged.filter(({ level }) => level === "error")).toEqual([]);
    await world.runtime.stop();
  });

  test("is answered by each entry of the table", async () => {
    const world = await sessionWorld(owner);
    for (const [name, { example, form }] of commandList) {
      // What follows /steer is a message for the agent.
      const given = name === "steer" ? [] : [example];
      for (const text of [...given, ...(form === "own" ? [] : [`/${name}`])]) {
        const { decision, answers } = await ask(world, text);
        const words = name === "disengage" ? 0 : 1;
        expect([text, decision, answers.length]).toEqual([text, "command", words]);
      }
    }
    expect(world.logged.filter(({ level }) => level === "error")).toEqual([]);
    await world.runtime.stop();
  });

  test("is answered as a reply in a room, grants no credit and is in no transcript", async () => {
    const world = await sessionWorld();
    const { answers } = await ask(world, "/status", { id: "c1" });
    expect(answers).toMatchObject([{ chat: "room", replyTo: "c1" }]);
    await world.say("and then", { id: "after" });
    await world.pass(1_000);
    expect(world.decisions().at(-1)).toMatchObject({ decision: "observe", credit: "none" });
    await world.talk("earshot, hello");
    expect(world.turns).toHaveLength(1);
    expect(world.turns[0]?.prompt).not.toContain("/status");
    const session = await world.runtime.session(roomKey);
    const lines = await world.transcript(session?.sessionId);
    expect(lines.map(({ text }) => text).join()).not.toMatch(/status|Loop guard/);
  });

  test("closes an open window: what was said before it goes before it", async () => {
    const world = await sessionWorld();
    await world.say("wait for", { direct: true });
    await world.say("/status", { direct: true });
    await world.say("me", { direct: true });
    await world.pass(5_000);
    expect(world.turns.map(({ said }) => said)).toEqual(["wait for", "me"]);
  });

  test("delivered twice is carried out and answered once", async () => {
    const world = await sessionWorld();
    for (let n = 0; n < 2; n += 1) await ask(world, "/think high", { direct: true, id: "same" });
    await world.restart();
    const again = await ask(world, "/think high", { direct: true, id: "same" });
    expect(again.decision).toBe("duplicate");
    expect(world.sent.map(({ text }) => text)).toEqual(["Thinking: high."]);
  });

  test.each(["before it was carried out", "before its answer left"])(
    "is answered once after a crash %s",
    async (when) => {
      const world = await sessionWorld();
      world.ready = false;
      await world.say("/queue steer", { direct: true });
      if (when === "before its answer left") await world.pass(1_000);
      await world.runtime.stop();
      const open = await world.store.unapplied(0, await world.store.lastSeq());
      expect(open.length > 0).toBe(when === "before it was carried out");
      expect(await world.store.outboxOpen()).toHaveLength(open.length > 0 ? 0 : 1);
      world.ready = true;
      await world.start();
      await world.pass(1_000);
      await world.restart();
      expect(world.sent.map(({ text }) => text)).toEqual([expect.stringMatching(/^Queue: steer/)]);
      const session = await world.runtime.session(directKey);
      expect(session?.settings.override).toEqual({ queue: { mode: "steer" } });
      expect((await ask(world, "/queue")).text).toMatch(/^Queue: steer/);
    },
  );

  test("lists and ends turns of the agent's other rooms, by a name that stays", async () => {
    const world = await sessionWorld(owner);
    world.answers.push((_, signal) => untilStopped(signal));
    await world.talk("earshot, hello");
    const { text = "" } = await ask(world, "/subagents list");
    expect(text).toMatch(
      /^\w{4}: `agent:main:telegram:group:room` \(main\), running for \d+ s\nStop one: /,
    );
    const name = /^\w+/.exec(text)?.[0] ?? "";
    // From within, it is the room's own turn, which is /stop's matter.
    expect((await ask(world, "/subagents", {})).text).toMatch(/^Nothing else runs/);
    expect((await ask(world, `/subagents stop x${name}`)).text).toMatch(/^No such turn/);
    expect(world.events("agent_end")).toEqual([]);
    expect((await ask(world, `/subagents stop ${name.toLowerCase()}`)).text).toBe(
      `Stopping ${name}.`,
    );
    expect(world.events("agent_end")).toMatchObject([{ outcome: "cancelled" }]);
    await world.runtime.stop();
  });

  test("ends the running turn and says so", async () => {
    const world = await sessionWorld();
    world.answers.push((_, signal) => untilStopped(signal));
    await world.say("hello", { direct: true });
    await world.pass(1_000);
    expect((await ask(world, "/stop")).text).toBe("Stopped.");
    expect(world.events("agent_end")).toMatchObject([{ outcome: "cancelled" }]);
  });

  test("may be a word of the config", async () => {
    const world = await sessionWorld({
      commands: { allowFrom: { "*": ["telegram:ann"] }, stopWords: ["Basta"] },
    });
    world.answers.push((_, signal) => untilStopped(signal));
    await world.say("hello", { direct: true });
    await world.pass(1_000);
    expect((await ask(world, "basta")).text).toBe("Stopped.");
    expect(world.events("agent_end")).toMatchObject([{ outcome: "cancelled" }]);
  });

  test("is answered even where answers of the agent do not leave", async () => {
    const world = await sessionWorld();
    await ask(world, "/send deny");
    await world.talk("hello", { direct: true });
    expect((await ask(world, "/send")).text).toBe("Sending answers: deny.");
    await ask(world, "/send inherit");
    await world.talk("and now", { direct: true });
    expect(world.sent.map(({ text }) => text).filter((text) => text.startsWith("re:"))).toEqual([
      "re: and now",
    ]);
  });

  test("sums up, on the way, what was said", async () => {
    const world = await sessionWorld();
    await world.talk("hello", { direct: true });
    await ask(world, "/compact");
    await world.pass(2_000);
    const session = await world.runtime.session(directKey);
    expect(await world.store.transcriptMark(session?.sessionId ?? "")).not.toBeNull();
  });

  test("puts people on the list of its kind of place only, and takes them off again", async () => {
    const closed = { dmPolicy: "allowlist", groupPolicy: "allowlist" };
    const allowFrom = ["telegram:ann"];
    const world = await sessionWorld({
      ...owner,
      access: { ...closed, allowFrom, groupAllowFrom: allowFrom },
    });
    const decided = async (more: object) =>
      (await world.say("hello", more))[0]?.receivers[0]?.verdict;
    const dm = { chat: { id: "bob", kind: "direct" }, author: bob };
    expect(await decided(dm)).toMatchObject({ decision: "denied" });
    await ask(world, "/allowlist add telegram:bob");
    expect((await ask(world, "/allowlist")).text).toBe(
      "Direct chats here are `allowlist`; on the list: 2\n`telegram:ann` in the config file\n" +
        "`telegram:bob` direct, by `telegram:ann`",
    );
    expect(await decided(dm)).toBeNull();
    expect(await decided({ author: bob })).toMatchObject({ decision: "denied" });
    await ask(world, "/allowlist add bob", {});
    expect(await decided({ author: bob })).toBeNull();
    expect((await ask(world, "/allowlist remove bob")).text).toMatch(
      /is removed from the list for direct/,
    );
    expect(await decided(dm)).toMatchObject({ decision: "denied" });
    expect(await decided({ author: bob })).toBeNull();
    await world.runtime.stop();
  });

  test("lists nobody where a group hears its own list only, and says so", async () => {
    const access = { groups: { "telegram:room": { allowFrom: ["telegram:ann"] } } };
    const world = await sessionWorld({ ...owner, access });
    expect((await ask(world, "/allowlist add bob", {})).text).toMatch(
      /^This group has its own list in the config file.*Nothing was changed/,
    );
    const [bobs] = await world.say("hello", { author: bob });
    expect(bobs?.receivers[0]?.verdict).toMatchObject({ decision: "denied" });
    expect((await ask(world, "/allowlist", {})).text).toMatch(/on the list: 1\n`telegram:ann`/);
    await world.runtime.stop();
  });

  test("of a broadcast counts for every agent, and each answers under its name", async () => {
    const world = await sessionWorld({
      agents: {
        list: [
          { id: "main", default: true },
          { id: "second", driver: { kind: "recording" } },
        ],
      },
      broadcast: { strategy: "parallel", "telegram:room": ["main", "second"] },
    });
    const { answers } = await ask(world, "/think max", {});
    expect(answers).toHaveLength(2);
    const levels = (await world.runtime.sessions({ limit: 10 })).map(({ settings }) => settings);
    expect(levels.map(({ thinking }) => thinking)).toEqual(["max", "max"]);
  });
});

test("each of many commands has one answer, and the same history each time", async () => {
  const history = async () => {
    const world = await sessionWorld(owner);
    for (const text of [
      "hello",
      "/think high",
      "/queue steer",
      "/status",
      "/why",
      "/new",
      "/session",
    ])
      await world.talk(text, { direct: true });
    await world.talk("/status earshot, and you?");
    await world.runtime.stop();
    return world.lines;
  };
  const lines = await history();
  expect(await history()).toEqual(lines);
  expect(lines.filter((line) => "out" in line && line.out === "send")).toHaveLength(9);
});

describe("a directive", () => {
  test("alone stays in the session", async () => {
    const world = await sessionWorld();
    await ask(world, "/think high /verbose on");
    expect(world.sent.map(({ text }) => text)).toEqual(["Thinking: high.\n\nVerbose: on."]);
    await world.talk("one", { direct: true });
    await world.talk("two", { direct: true });
    expect(world.turns.map(({ thinking }) => thinking)).toEqual(["high", "high"]);
    const session = await world.runtime.session(directKey);
    expect(session?.settings).toMatchObject({ thinking: "high", verbose: "on" });
  });

  test("beside words counts for that message only, and why tells it", async () => {
    const world = await sessionWorld();
    await world.talk("please /think high do it", { direct: true, id: "deep" });
    await world.talk("again", { direct: true });
    expect(world.turns.map(({ thinking, said }) => [said, thinking])).toEqual([
      ["please do it", "high"],
      ["again", "off"],
    ]);
    expect(world.sent.map(({ text }) => text)).toEqual(["re: please do it", "re: again"]);
    const [why] = await world.runtime.why("deep");
    expect(why).toMatchObject({ levels: { thinking: "high" }, message: { text: "please do it" } });
    expect(why && renderWhy([why], { colour: false, columns: 80 })).toMatch(/asked +thinking high/);
    expect((await ask(world, "/why deep")).text).toContain("It asked for: thinking high");
  });

  test("for the model or the queue stays even beside words", async () => {
    const world = await sessionWorld();
    await world.talk("/model gpt-5 hello /queue followup cap:3", { direct: true });
    await world.talk("again", { direct: true });
    expect(world.turns.map(({ said, model }) => [said, model])).toEqual([
      ["hello", "gpt-5"],
      ["again", "gpt-5"],
    ]);
    expect((await ask(world, "/queue")).text).toMatch(/followup, .*cap 3/);
    await ask(world, "/model default");
    await ask(world, "/queue reset");
    expect((await world.runtime.session(directKey))?.settings).toMatchObject({
      model: null,
      override: {},
    });
    expect((await ask(world, "/queue")).text).toMatch(/collect, .*cap 20/);
  });

  test("leaves a word that is no level in the text", async () => {
    const world = await sessionWorld();
    await world.talk("/think about it", { direct: true });
    expect(world.turns.map(({ said, thinking }) => [said, thinking])).toEqual([
      ["about it", "off"],
    ]);
  });

  test("for the status is answered, and the rest of the message too", async () => {
    const world = await sessionWorld();
    await world.talk("hello /status", { direct: true });
    expect(world.turns.map(({ said }) => said)).toEqual(["hello"]);
    expect(world.sent.map(({ text }) => text.split("\n")[0])).toEqual(["**earshot**", "re: hello"]);
  });

  test("takes hold in a new session that the same message begins", async () => {
    const world = await sessionWorld();
    await world.talk("hello", { direct: true });
    await world.talk("/new /think max what now?", { direct: true });
    expect(world.turns[1]).toMatchObject({ said: "what now?", thinking: "max", transcript: [] });
  });

  test("is not obeyed again when its message is edited", async () => {
    const world = await sessionWorld();
    await world.say("hello", { direct: true, id: "e1" });
    const edit = {
      channel: "telegram",
      account: "default",
      chat: { id: "ann", kind: "direct" } as const,
      thread: null,
      id: "e1",
      text: "hello /think high",
      editId: "1",
      author: { id: "ann", name: "Ann", isBot: false, isSelf: false },
    };
    await world.runtime.ingest("telegram", "default", [{ type: "edit", edit }]);
    await world.pass(5_000);
    expect(world.turns.map(({ said, thinking }) => [said, thinking])).toEqual([["hello", "off"]]);
  });
});

describe("activation", () => {
  test("said for a room holds there, over a restart, until it is taken back", async () => {
    const world = await sessionWorld();
    await ask(world, "/activation always", {});
    await world.restart();
    await world.say("just talking", { author: bob });
    await world.pass(5_000);
    expect(world.decisions().at(-1)).toMatchObject({ decision: "engage", rule: "always" });
    await ask(world, "/activation default", {});
    await world.say("still talking", { author: { id: "cy", name: "Cy" } });
    await world.pass(5_000);
    expect(world.decisions().at(-1)).toMatchObject({ decision: "observe" });
  });
});

test("what a message asked for is told in words by /why", async () => {
  const world = await sessionWorld(owner);
  await world.talk("/think high /exec security=full ask=always and go", { direct: true, id: "w1" });
  expect((await ask(world, "/why w1")).text).toContain(
    "It asked for: thinking high, exec security=full ask=always",
  );
  const why = renderWhy(await world.runtime.why("w1"), { columns: 200, colour: false });
  expect(why).toContain("exec security=full ask=always");
  expect((await ask(world, "/status")).text).toContain("elevated off\n");
  await ask(world, "/exec security=deny");
  expect((await ask(world, "/status")).text).toContain("elevated off, exec security=deny");
  await world.runtime.stop();
});

describe("A18: somebody without authority", () => {
  const attempts = [
    ...["/stop", "/reset", "/new", "/model gpt-5", "hey /elevated full", "/status", "/help"],
    ...["hello\n/think high", "∕think high", "／think high", "/config show", "/queue steer"],
  ];
  test.each(attempts)("says %j and it is only text", async (text) => {
    const world = await sessionWorld(owner);
    await world.talk("hello", { direct: true });
    const before = await world.runtime.session(directKey);
    const author = { id: "eve", name: "telegram:ann" };
    const to = { author, mentions: [{ id: "us", isSelf: true }] };
    const [outcome] = await world.say(text, to);
    await world.pass(5_000);
    expect(outcome?.receivers[0]?.verdict ?? null).toBeNull();
    expect(world.turns.at(-1)?.said).toBe(text);
    expect(world.sent.at(-1)?.text).toBe(`re: ${text}`);
    const room = await world.runtime.session(roomKey);
    expect(room?.settings).toEqual(before?.settings);
    expect(await world.runtime.sessions({ all: true, limit: 10 })).toHaveLength(2);
  });

  test("may give commands and is no owner: what is an owner's is only text", async () => {
    const world = await sessionWorld();
    for (const text of ["/config show", "/export", "/elevated full", "hey /elevated full"])
      await world.talk(text, { direct: true });
    expect(world.turns.map(({ said }) => said)).toEqual([
      ...["/config show", "/export", "/elevated full", "hey /elevated full"],
    ]);
    expect((await world.runtime.session(directKey))?.settings.elevated).toBeNull();
    expect((await ask(world, "/elevated ask")).text).toMatch(/^Elevated: ask\./);
  });

  test("is who a revoked sender is from his next message on", async () => {
    const world = await sessionWorld();
    expect((await ask(world, "/think high")).decision).toBe("command");
    await world.restart({ agents: { defaults: { driver: { kind: "recording" } } } });
    expect((await ask(world, "/think low")).decision).toBeNull();
    expect((await world.runtime.session(directKey))?.settings.thinking).toBe("high");
  });

  test.each([
    ["a quote", "> /think high"],
    ["a fence", "```\n/think high\n```"],
    ["a code span", "say `/think high` please"],
    ["quotation marks", 'she said "now /think high" and left'],
    ["another name", "/thinker high"],
    ["a path", "see /t/high and x/think high"],
  ])("an owner's words in %s change nothing", async (_, text) => {
    const world = await sessionWorld(owner);
    await world.talk(text, { direct: true });
    expect(world.turns).toMatchObject([{ said: text, thinking: "off" }]);
  });

  test("what an owner forwards orders nothing", async () => {
    const world = await sessionWorld(owner);
    for (const text of ["/think high", "/stop", "/new"])
      await world.talk(text, { direct: true, forwarded: true });
    expect(world.turns.map(({ said }) => said)).toEqual(["/think high", "/stop", "/new"]);
    expect(await world.runtime.sessions({ all: true, limit: 10 })).toHaveLength(1);
  });

  test("what the platform shows as code or as a quote orders nothing", async () => {
    const world = await sessionWorld(owner);
    await world.talk("/think high", { direct: true, verbatim: [[0, 11]] });
    await world.talk("try /think high /verbose on", { direct: true, verbatim: [[4, 15]] });
    await world.talk("/stop", { direct: true, verbatim: [[0, 5]] });
    expect(world.turns.map(({ said }) => said)).toEqual([
      ...["/think high", "try /think high", "/stop"],
    ]);
    expect(world.turns.map(({ thinking }) => thinking)).toEqual(["off", "off", "off"]);
  });
});
