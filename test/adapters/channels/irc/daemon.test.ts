/**
 * A whole daemon on IRC: from a line in a room of a real inspircd to the answer that names who asked,
 * and the same room after the daemon was away, with nothing lost and nothing said twice.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { withoutFormatting } from "../../../../src/adapters/channels/irc/wire.ts";
import { startDaemon } from "../../../../src/daemon/daemon.ts";
import { saidBy } from "../../../support/irc/irc-rig.ts";
import { type Ircd, missingPackages, startInspircd } from "../../../support/irc/ircd.ts";
import { IrcPerson } from "../../../support/irc/person.ts";

const missing = missingPackages("inspircd");
const patience = { timeout: 30_000 };
const nick = "scout";

const agent = `
export default async function* (turn) {
  yield { type: "text", text: "**You said:** " + turn.said };
}
`;

interface Listed {
  readonly id: string;
  readonly accounts: readonly {
    readonly state: string;
    readonly gaps: readonly { readonly rooms: readonly string[]; readonly lost: string }[];
  }[];
}

describe.skipIf(missing !== "")(`a daemon on IRC (apt-get install ${missing || "done"})`, () => {
  let server: Ircd;
  let ann: IrcPerson;
  let bob: IrcPerson;
  let count = 0;
  beforeAll(async () => {
    server = await startInspircd();
    ann = await IrcPerson.connect(server.port, "ann");
    bob = await IrcPerson.connect(server.port, "bob");
  });
  afterAll(async () => {
    await ann.close();
    await bob.close();
    await server.stop();
  });

  /** A daemon whose agent is in a room with Ann and Bob; each `start` starts a daemon on the same state. */
  const rig = async () => {
    count += 1;
    const room = `#tea${count}`;
    await ann.join(room);
    // What is said while it is away can be read back.
    await ann.ask(`MODE ${room} +H 50:1d`);
    await bob.join(room);
    const stateDir = mkdtempSync(join(tmpdir(), "earshot-irc-"));
    onTestFinished(() => rmSync(stateDir, { recursive: true, force: true }));
    const account = {
      host: "127.0.0.1",
      port: server.port,
      tls: false,
      nick,
      join: [room],
      lineIntervalMs: 0,
    };
    const config = {
      channels: { irc: { accounts: { default: account }, groups: { [room]: {} } } },
      access: { groupPolicy: "open", dmPolicy: "open" },
      agents: {
        list: [{ id: "main", name: "Scout", driver: { kind: "module", module: "./a.mjs" } }],
      },
    };
    writeFileSync(join(stateDir, "a.mjs"), agent);
    writeFileSync(join(stateDir, "earshot.json5"), JSON.stringify(config), { mode: 0o600 });
    const start = async () => {
      const how = { stateDir, port: 0, workers: 0, logLevel: "fatal", env: {} } as const;
      const daemon = await startDaemon(how);
      onTestFinished(() => daemon.stop({ drainMs: 0 }));
      const headers = { authorization: `Bearer ${daemon.token}` };
      const shown = async () => {
        const answer = await fetch(`${daemon.base}/api/channels`, { headers });
        const { channels } = (await answer.json()) as { channels: readonly Listed[] };
        return channels.find(({ id }) => id === "irc")?.accounts[0];
      };
      await expect.poll(async () => (await shown())?.state, patience).toBe("live");
      return { daemon, shown };
    };
    /** What the room has seen it say. */
    const answers = () => saidBy(bob, nick, room).map(({ raw }) => withoutFormatting(raw));
    return { room, start, answers };
  };

  test("a line with its nick is answered in that room, once, and a direct one to who wrote it", async () => {
    const { room, start, answers } = await rig();
    await start();
    await bob.say(room, "talking to nobody");
    await bob.say(room, "ann: and to you");
    const asked = await ann.say(room, `${nick}: are you there?`);
    await expect.poll(answers, patience).toEqual([`ann: You said: ${nick}: are you there?`]);
    expect(saidBy(ann, nick, room)[0]?.replyTo).toBe(asked);
    await bob.say(nick, "and alone?");
    const alone = await bob.until((line) => line.includes(" PRIVMSG bob :"));
    expect(withoutFormatting(alone)).toMatch(/ PRIVMSG bob :You said: and alone\?$/);
    expect(answers()).toHaveLength(1);
  });

  test("a restart in the middle of a talk: nothing is lost, nothing is said twice", async () => {
    const { room, start, answers } = await rig();
    const said = Date.now();
    await ann.say(room, "the oldest line, which shows later that nothing is missing");
    const first = await start();
    // Early in a second, so that what was answered is within what is played back.
    const isTime = () => Date.now() - said > 2_000 && Date.now() % 1_000 < 200;
    await expect.poll(isTime, { interval: 20, timeout: 20_000 }).toBe(true);
    await ann.say(room, `${nick}: one`);
    await bob.until(() => answers().length === 1);
    await first.daemon.stop();
    await ann.say(room, `${nick}: while you were away`);
    const second = await start();
    await bob.until(() => answers().length === 2);
    await ann.say(room, `${nick}: two`);
    await bob.until(() => answers().length === 3);
    expect(answers()).toEqual([
      `ann: You said: ${nick}: one`,
      `ann: You said: ${nick}: while you were away`,
      `ann: You said: ${nick}: two`,
    ]);
    expect(await second.shown()).toMatchObject({ state: "live", gaps: [] });
  });
});
