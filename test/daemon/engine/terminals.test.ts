/**
 * What a person at the terminal of one node gets of answers that another node makes: each once, also where the report
 * of it was lost, or its node was killed. The node of the person never has the conversation.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TerminalSession } from "../../../src/adapters/channels/terminal/channel.ts";
import { chance } from "../../crash/world.ts";
import { runCommand } from "../../support/built/command.ts";
import { newFolder } from "../../support/daemon/folder.ts";
import { soon, soonAsked } from "../../support/daemon/inspect-socket.ts";
import type { LiveDaemon } from "../../support/daemon/live-daemon.ts";
import { type DaemonProcess, startProcess } from "../../support/restate/daemon-process.ts";
import { IngressProxy } from "../../support/restate/ingress-proxy.ts";
import { haveRestate } from "../../support/restate/server.ts";
import { createTwoDaemons, type TwoDaemons } from "../../support/restate/two-daemons.ts";
import { rounds } from "../../support/rounds.ts";

const seed = Number(process.env.EARSHOT_SEED ?? Math.floor(Math.random() * 2 ** 31));

/** Repeats what was said; a long answer grows. */
const agent = `
export default async function* (turn) {
  const { said } = turn;
  if (!said.includes("long")) return yield { type: "text", text: "You said " + said };
  yield { type: "text", text: "You said something that takes a while, and it was this: " };
  await new Promise((next) => setTimeout(next, 1500));
  yield { type: "text", text: said };
}`;

/** What a console shows. `edits`: it can replace what it has written. */
interface Shown extends TerminalSession {
  readonly written: string[];
  readonly edited: string[];
}

function consoleOf({ terminal }: LiveDaemon, edits = false): Shown {
  const written: string[] = [];
  const edited: string[] = [];
  const session = terminal.attach({
    write: ({ text }) => void written.push(text),
    ...(edits && { edit: ({ text }) => void edited.push(text) }),
  });
  return { ...session, written, edited };
}

const configIn = (folder: string) => {
  writeFileSync(join(folder, "agent.mjs"), agent);
  const driver = { kind: "module", module: join(folder, "agent.mjs") };
  return { agents: { list: [{ id: "main", name: "Scout", workspace: folder, driver }] } };
};

describe.skipIf(!haveRestate)("at the terminal of a node that has no conversation", () => {
  let all: TwoDaemons;
  let proxy: IngressProxy;
  /** A process that goes on in the place of the other node. */
  const back: DaemonProcess = { folder: newFolder(), process: null };
  const world = { logged: "" };
  beforeAll(async () => {
    const stream = { mode: "draft" };
    all = await createTwoDaemons({
      pagesDir: "",
      config: { ...configIn(newFolder()), stream },
      ofBack: async (ingress) => {
        proxy = await IngressProxy.open(ingress);
        return { ingress: proxy.url, config: {} };
      },
    });
    await all.back.start();
    await all.front.start();
  });
  afterAll(async () => {
    back.process?.kill("SIGKILL");
    await all?.close();
    await proxy?.close();
  });

  test("the answer of another node appears, as at that node's own, once at each", async () => {
    const [front, back] = [consoleOf(all.front), consoleOf(all.back)];
    await front.say("beans");
    for (const one of [front, back])
      await soon(() => expect(one.written).toEqual(["You said beans"]));
    await back.say("turnips");
    const both = ["You said beans", "You said turnips"];
    for (const one of [front, back]) await soon(() => expect(one.written).toEqual(both));
    await front.say("/help");
    for (const one of [front, back]) await soon(() => expect(one.written).toHaveLength(3));
    expect(front.written[2]).toBe(back.written[2]);
    for (const one of [front, back]) one.detach();
  });

  test("an answer that grew by edits is whole, where the console can edit and where it cannot", async () => {
    const [plain, editing] = [consoleOf(all.front), consoleOf(all.front, true)];
    await plain.say("a long one");
    const whole = "You said something that takes a while, and it was this: a long one";
    await soon(() => expect(plain.written.at(-1)).toBe(whole));
    expect([...editing.written, ...editing.edited].at(-1)).toBe(whole);
    expect(plain.written.filter((text) => text === whole)).toHaveLength(1);
    for (const one of [plain, editing]) one.detach();
  });

  test("what was sent while nobody looked is shown to the next console, and to no later one", async () => {
    const asking = consoleOf(all.front);
    await asking.say("plums");
    asking.detach();
    const back = consoleOf(all.back);
    await soon(() => expect(back.written).toContain("You said plums"));
    back.detach();
    const next = consoleOf(all.front);
    await soon(() => expect(next.written).toEqual(["You said plums"]));
    next.detach();
    const later = consoleOf(all.front);
    await later.say("pears");
    await soon(() => expect(later.written).toEqual(["You said pears"]));
    later.detach();
    await all.front.stop();
    const there = consoleOf(all.back);
    await there.say("quinces");
    await soon(() => expect(there.written).toContain("You said quinces"));
    there.detach();
    await all.front.start();
    const again = consoleOf(all.front);
    await soon(() => expect(again.written).toEqual(["You said quinces"]));
    again.detach();
  });

  test("an answer whose report was lost appears with the copy", async () => {
    const front = consoleOf(all.front);
    /** Reports of the other node that were lost. */
    let lost = "";
    proxy.take = async ({ url, body }) => {
      if (url.endsWith("/publish")) lost += body;
      return url.endsWith("/publish");
    };
    await front.say("chard");
    await soon(() => expect(lost).toContain('"out":"send"'));
    expect(front.written).toEqual([]);
    proxy.take = async () => false;
    await soon(() => expect(front.written).toEqual(["You said chard"]));
    front.detach();
  });

  test("a node that keeps no copy refuses what is said there, and names one that does", async () => {
    const bare = await all.another(false);
    await bare.start();
    const refused = /^Cannot read conversations on this node: it keeps no copy of them .*http/u;
    const asking = consoleOf(bare);
    await soonAsked(() => expect(asking.say("anybody?")).rejects.toThrow(refused));
    const env = { HOME: bare.stateDir, NO_COLOR: "1" };
    const chat = ["chat", "--state-dir", bare.stateDir];
    const { code, err } = await runCommand(chat, { env, input: "anybody?\n" });
    expect(code).toBe(1);
    expect(err).toContain("it keeps no copy of them");
    const front = consoleOf(all.front);
    await front.say("leeks");
    await soon(() => expect(front.written).toEqual(["You said leeks"]));
    front.detach();
    await bare.close();
  });

  test("while the node that answers is killed at any moment each answer appears once", async () => {
    console.log(`terminals seed ${seed}`);
    await all.back.stop();
    const own = {
      ...configIn(newFolder()),
      channels: { webhook: {} },
      server: { port: 0 },
      engine: all.engineOfBack,
    };
    writeFileSync(join(back.folder, "earshot.json5"), JSON.stringify(own), { mode: 0o600 });
    await startProcess(back, world);
    const random = chance(seed);
    const shown = consoleOf(all.front);
    const said: string[] = [];
    for (let round = 0; round < rounds(1, 6); round += 1) {
      said.push(`line ${round}`);
      await shown.say(`line ${round}`);
      await new Promise((next) => setTimeout(next, random() * 600));
      back.process?.kill("SIGKILL");
      await soon(() => expect(back.process?.signalCode).toBe("SIGKILL"));
      // In npm test one in this process goes on.
      await (round < rounds(0, 6) ? startProcess(back, world) : all.back.start());
      await soon(() => {
        for (const text of said) expect(shown.written.join("\n"), world.logged).toContain(text);
      });
    }
    const answers = shown.written.join("\n");
    for (const text of said) expect(answers.split(text), `seed ${seed}`).toHaveLength(2);
  });
});
