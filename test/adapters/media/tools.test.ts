/**
 * `attachment_list`, `attachment_fetch` and `history_search` through the whole runtime, with the
 * agent in this thread and in a worker, and with a model behind a socket.
 */
import { describe, expect, test } from "vitest";
import type { InboundInput } from "../../../src/domain/message.ts";
import { workersInTurn } from "../../support/rounds.ts";
import { program } from "../../support/runtime/media-service.ts";
import { type MediaWorld, namesIn, openMediaWorld } from "../../support/runtime/media-world.ts";
import { sampleFiles } from "../../support/servers/media.ts";
import { startModelServer } from "../../support/servers/openai.ts";

const { png, ogg } = sampleFiles;
const call = (tool: string, input: object = {}) => `call ${tool} ${JSON.stringify(input)}`;
const file = (id: string, more: object = {}) => ({ id, kind: "file" as const, ...more });
const image = { kind: "command", ...program("console.log('a blue door')") };

const group: Partial<InboundInput> = {
  chat: { id: "room", kind: "group" },
  author: { id: "bo", name: "Bo" },
};
const mention = { mentions: [{ id: "bot", isSelf: true }] };

describe("tools of an agent", () => {
  test.each(workersInTurn(0))(
    "what was overheard can be listed, newest first, and fetched; its path is nowhere, workers %i",
    async (workers) => {
      const world = await openMediaWorld({
        workers,
        files: { f1: Buffer.from("one,two\n1,2"), f2: png },
        config: { media: { image } },
      });
      await world.say("the table", {
        ...group,
        attachments: [file("f1", { name: "../../t.csv" })],
      });
      await world.say("a picture", { ...group, attachments: [{ id: "f2", kind: "image" }] });
      expect(world.rig.fetched()).toBe(0);
      const list = await world.ask(call("attachment_list"), { ...group, ...mention });
      const names = namesIn(list);
      expect(names).toHaveLength(2);
      expect(list).toMatch(
        /a\d+-0: image, from Bo, \d+ s ago\na\d+-0: file, “..\/..\/t.csv”, from Bo/,
      );
      const lines = names.map((name) => call("attachment_fetch", { attachment_id: name }));
      const reported = await world.ask(lines.join("\n"), { ...group, ...mention });
      expect(world.decisions()).toEqual(["observe", "observe", "engage", "engage"]);
      const [picture = "", table = ""] = reported.split("~~");
      expect(picture).toMatch(
        /image\/png, 70 bytes, its description:\n<room-text \w+>\na blue door/,
      );
      expect(table).toMatch(/file, 11 bytes, “..\/..\/t.csv”, its content:\n<room-text/);
      expect(table).toContain("one,two\n1,2");
      expect(reported + list).not.toContain(world.folder);
      expect(world.rig.fetched()).toBe(2);
    },
  );

  test.each(workersInTurn(1))(
    "an id of another conversation, of no row, or of no form is refused alike, workers %i",
    async (workers) => {
      const world = await openMediaWorld({
        workers,
        files: { f1: Buffer.from("secret of the room") },
      });
      await world.say("ours", { ...group, attachments: [file("f1")] });
      const own = await world.ask(call("attachment_list"), { ...group, ...mention });
      const [name = ""] = namesIn(own);
      expect(name).not.toBe("");
      const tries = [name, "a99999-0", "f1", "../../etc/passwd", `${name.split("-")[0]}-7`];
      const reported = await world.ask(
        tries.map((one) => call("attachment_fetch", { attachment_id: one })).join("\n"),
      );
      const refusal = "Refused: no file of this conversation has that attachment_id.";
      expect(reported.split("\n~~\n")).toEqual(tries.map(() => refusal));
      expect(world.rig.fetched()).toBe(0);
      const allowed = await world.ask(call("attachment_fetch", { attachment_id: name }), {
        ...group,
        ...mention,
      });
      expect(allowed).toContain("secret of the room");
    },
  );

  test.each(workersInTurn(2))(
    "a search finds what was said and answered here, newest first, and nothing of others, workers %i",
    async (workers) => {
      const world = await openMediaWorld({ workers });
      await world.say("The Blue door is open", group);
      await world.say("in the hall a blue [SYSTEM MESSAGE] lamp", group);
      await world.say("nothing of that colour", group);
      await world.ask("my blue secret");
      const reported = await world.ask(call("history_search", { query: "BLUE", limit: 5 }), {
        ...group,
        ...mention,
      });
      expect(reported).not.toContain("secret");
      expect(reported).not.toContain("[SYSTEM MESSAGE");
      const found = reported.split("\n").filter((line) => line.includes("Bo: "));
      // Those of one moment have no order; the question itself holds the word, too.
      expect(found.map((line) => line.replace(/^.*Bo: /, "")).sort()).toEqual([
        "The Blue door is open",
        'call history_search {"query":"BLUE","limit":5}',
        "in the hall a blue (SYSTEM MESSAGE] lamp",
      ]);
      const none = await world.ask(call("history_search", { query: "green.*+" }));
      expect(none).toMatch(/green/);
      expect(await world.ask(call("history_search", { query: "(a+)+$" }))).toMatch(/a\+/);
    },
  );

  test.each(workersInTurn(3))(
    "a file whose message was deleted is gone, and so are its words, workers %i",
    async (workers) => {
      const world = await openMediaWorld({ workers, files: { f1: Buffer.from("regretted") } });
      await world.say("words I regret", { ...group, id: "oops", attachments: [file("f1")] });
      const [name = ""] = namesIn(
        await world.ask(call("attachment_list"), { ...group, ...mention }),
      );
      const { chat } = group as { chat: { id: string; kind: "group" } };
      const deletion = { channel: "telegram", account: "default", chat, thread: null, id: "oops" };
      await world.runtime.ingest("telegram", "default", [{ type: "delete", deletion }]);
      const reported = await world.ask(
        [
          call("attachment_fetch", { attachment_id: name }),
          call("history_search", { query: "words I regret" }),
        ].join("\n"),
        { ...group, ...mention },
      );
      expect(reported).toContain("Refused: its message was deleted.");
      expect(reported).not.toMatch(/Bo: words I regret/);
    },
  );
});

test("what is said and deleted in one chat of a session concerns no message with its id in another", async () => {
  const world = await openMediaWorld({
    files: { f1: Buffer.from("soup"), f2: Buffer.from("bread") },
    config: { session: { scope: "global" } },
  });
  const attic = { chat: { id: "attic", kind: "group" }, author: { id: "cy", name: "Cy" } } as const;
  const asked = { ...group, ...mention };
  await world.ask("words about tea", { ...asked, id: "2" });
  await world.say("words about soup", { ...group, id: "1", attachments: [file("f1")] });
  await world.say("words about bread", { ...attic, id: "1", attachments: [file("f2")] });
  await world.say("words about salt", { ...attic, id: "2" });
  const chat = { id: "attic", kind: "group" } as const;
  const remove = (id: string) => {
    const deletion = { channel: "telegram", account: "default", chat, thread: null, id };
    return world.runtime.ingest("telegram", "default", [{ type: "delete", deletion }]);
  };
  const search = call("history_search", { query: "words about", limit: 10 });
  const subjects = (found: string) =>
    [...found.matchAll(/^\[[^\]]+\] \w+: words about (\w+)/gmu)]
      .map(([, subject]) => subject)
      .sort();
  await remove("1");
  const names = namesIn(await world.ask(call("attachment_list"), asked));
  expect(names).toHaveLength(1);
  expect(await world.ask(call("attachment_fetch", { attachment_id: names[0] }), asked)).toContain(
    "soup",
  );
  expect(subjects(await world.ask(search, asked))).toEqual(["salt", "soup", "tea"]);
  await remove("2");
  expect(subjects(await world.ask(search, asked))).toEqual(["soup", "tea"]);
});

test("a scripted agent may look around, too, and the turn goes on", async () => {
  const look = { tool: "attachment_list", input: {} };
  const runs = [
    { steps: [look, { tool: "history_search", input: { query: "x" } }, { text: "done" }] },
  ];
  const world = await openMediaWorld({ driver: { kind: "scripted", runs } });
  expect(await world.ask("look around")).toBe("done");
});

test("the list and the search say so when there is nothing", async () => {
  const world = await openMediaWorld();
  const reported = await world.ask(call("attachment_list"));
  expect(reported).toBe("There are no files in the recent messages.");
});

test("wrong input is refused in words, and an agent that goes on is stopped", async () => {
  const world = await openMediaWorld();
  const wrong = await world.ask(call("attachment_fetch", { path: "/etc/passwd" }));
  expect(wrong).toMatch(/^Refused: /);
  const far = Array.from({ length: 12 }, () => call("attachment_fetch", { attachment_id: "x" }));
  await world.say(far.join("\n"));
  await world.until(
    () => world.lines.some((line) => "outcome" in line && line.outcome === "failed"),
    "failed turn",
  );
});

test("a model is offered the tools, calls one, and is given the answer", async () => {
  const server = await startModelServer();
  const world: MediaWorld = await openMediaWorld({
    files: { f1: Buffer.from("the wifi is called attic") },
    driver: { kind: "model", model: "m", baseUrl: server.baseUrl },
  });
  server.reply({ call: { name: "attachment_list", input: {} } }, { say: ["Listed."] });
  expect(await world.ask("what files?", { attachments: [file("f1", { name: "note.txt" })] })).toBe(
    "Listed.",
  );
  const [first, second] = server.requests;
  const offered = first?.tools.map((tool) => tool.function.name) ?? [];
  expect(offered).toEqual(
    expect.arrayContaining(["attachment_list", "attachment_fetch", "history_search"]),
  );
  const answer = String(second?.messages.at(-1)?.content);
  const [name = ""] = namesIn(answer);
  expect(answer).toContain("note.txt");
  server.reply(
    { call: { name: "attachment_fetch", input: { attachment_id: name } } },
    { say: ["It is attic."] },
  );
  expect(await world.ask("and the name?")).toBe("It is attic.");
  expect(JSON.stringify(server.requests.at(-1)?.messages.at(-1))).toContain("wifi is called attic");
  await server.close();
});

test.each(workersInTurn(4))(
  "a picture that was overheard is fetched as one, with %d workers",
  async (workers) => {
    const world = await openMediaWorld({
      workers,
      files: { f1: png },
      driver: { kind: "asking", images: true },
    });
    await world.say("a door", { ...group, attachments: [{ id: "f1", kind: "image" }] });
    const [name = ""] = namesIn(await world.ask(call("attachment_list"), { ...group, ...mention }));
    const reported = await world.ask(call("attachment_fetch", { attachment_id: name }), {
      ...group,
      ...mention,
    });
    expect(reported).toBe("The picture is shown to you next.\n~~\nfetched image/png picture 70");
  },
);

test("a model that takes pictures is shown the one it fetched, at its next step", async () => {
  const server = await startModelServer();
  const world = await openMediaWorld({
    files: { f1: png },
    driver: { kind: "model", model: "m", baseUrl: server.baseUrl, images: true },
  });
  await world.say("a door", { ...group, attachments: [{ id: "f1", kind: "image" }] });
  server.reply({ call: { name: "attachment_list", input: {} } }, { say: ["Listed."] });
  await world.ask("what is there?", { ...group, ...mention });
  const [name = ""] = namesIn(String(server.requests[1]?.messages.at(-1)?.content));
  server.reply(
    { call: { name: "attachment_fetch", input: { attachment_id: name } } },
    { say: ["A door."] },
  );
  expect(await world.ask("show me", { ...group, ...mention })).toBe("A door.");
  const last = server.requests.at(-1)?.messages.at(-1);
  expect(last?.role).toBe("user");
  expect(JSON.stringify(last?.content)).toContain(
    `data:image/png;base64,${png.toString("base64").slice(0, 40)}`,
  );
  await server.close();
});

test("a program that takes pictures is given the one it fetched with the tool's result", async () => {
  const code = `
    let turn = null;
    require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
      const reported = JSON.parse(line);
      const say = (event) => process.stdout.write(JSON.stringify(event) + "\\n");
      if (reported.type === "turn") {
        const [, name, input] = /call (\\w+) (.*)$/.exec(reported.said);
        say({ type: "tool-call", id: 1, name, input: JSON.parse(input) });
      } else {
        const pictures = (reported.images ?? []).map(({ mime, data }) => mime + " " + data.length);
        say({ type: "text", text: [reported.text, ...pictures].join("\\n") });
        process.exit(0);
      }
    });`;
  const world = await openMediaWorld({
    files: { f1: png },
    driver: { kind: "command", command: process.execPath, args: ["-e", code], images: true },
  });
  await world.say("a door", { ...group, attachments: [{ id: "f1", kind: "image" }] });
  const [name = ""] = namesIn(await world.ask(call("attachment_list"), { ...group, ...mention }));
  const reported = await world.ask(call("attachment_fetch", { attachment_id: name }), {
    ...group,
    ...mention,
  });
  expect(reported).toBe(
    `The picture is shown to you next.\nimage/png ${png.toString("base64").length}`,
  );
});

test("pictures of the batch go to an agent that takes them, and to no other", async () => {
  const attachments = [
    { id: "f1", kind: "image" as const, name: "door.png" },
    { id: "f2", kind: "image" as const },
    { id: "f3", kind: "audio" as const },
  ];
  const files = { f1: png, f2: png, f3: ogg };
  const seeing = await openMediaWorld({ files, driver: { kind: "asking", images: true } });
  const reported = await seeing.ask("", { attachments });
  expect(reported).toBe("picture image/png door.png 70\n~~\npicture image/png picture 70");
  const [prompt = ""] = seeing.prompts();
  expect(prompt).toMatch(/image, “door.png”, picture 1 of this turn/);
  expect(prompt).toMatch(/image, picture 2 of this turn/);
  const blind = await openMediaWorld({ files });
  expect(await blind.ask("", { attachments })).toBe("ok");
  expect(blind.rig.fetched()).toBe(0);
});
