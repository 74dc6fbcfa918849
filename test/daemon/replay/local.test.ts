/**
 * What was said on a daemon's own page and posted to its API, recorded and replayed as a person
 * would do it: `earshot record | earshot replay -`.
 */
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Daemon, startDaemon } from "../../../src/daemon/daemon.ts";
import { builtFile } from "../../support/built/files.ts";
import { newFolder } from "../../support/daemon/folder.ts";
import { openPage } from "../../support/daemon/page.ts";
import { call } from "../../support/daemon/room-daemon.ts";
import { play } from "../../support/replay/replay.ts";

const program = builtFile("test/replay-program");
const stateDir = newFolder();
const slow = 60_000;
let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon({
    stateDir,
    port: 0,
    workers: 0,
    env: {},
    writeLog: () => undefined,
  });
});
afterAll(() => daemon.stop({ drainMs: 0 }));

interface Decided {
  readonly id: string;
  readonly decision: string;
  readonly rule: string | null;
}
const decided = ({ id, decision, rule }: Decided): Decided => ({ id, decision, rule });

/** Two processes with a pipe between them. */
async function piped(): Promise<{ recorded: string; replayed: string }> {
  const run = (...args: readonly string[]) =>
    spawn(process.execPath, [program, ...args], {
      stdio: ["pipe", "pipe", "inherit"],
    });
  const record = run("record", "--since", "1h", "--state-dir", stateDir);
  const replay = run("replay", "-", "--json");
  record.stdout.pipe(replay.stdin);
  const [recorded, replayed] = await Promise.all([text(record.stdout), text(replay.stdout)]);
  return { recorded, replayed };
}

const parsed = <Line>(lines: string) =>
  lines
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);

describe("the channels of this machine", () => {
  test(
    "are let in by a replay as they were by the daemon, and outsiders are not",
    async () => {
      const page = await openPage(daemon.base, daemon.token);
      await page.wait("ready");
      page.say("hello");
      await page.wait("turn", ({ state }) => state === "end");
      const [said] = page.of("decided").map(decided);
      page.close();
      const group = { id: "release", kind: "group" };
      const posted = [
        { id: "m1", chat: { id: "ann", kind: "direct" }, author: { id: "ann" }, text: "hi" },
        {
          id: "m2",
          chat: group,
          author: { id: "bo" },
          text: "soup at one?",
          mentions: [{ id: "dee" }],
        },
        {
          id: "m3",
          chat: group,
          author: { id: "bo" },
          text: "you?",
          mentions: [{ id: "self", isSelf: true }],
        },
        { id: "m4", chat: group, author: { id: "cy" }, text: "me too", outside: true },
      ];
      const answer = await call(daemon, "/api/inbound?wait=decision", posted);
      const { taken } = (await answer.json()) as { taken: readonly Decided[] };
      const live = [said as Decided, ...taken.map(decided)];
      expect(live.map(({ decision }) => decision)).toEqual([
        ...["engage", "engage", "observe", "engage", "denied"],
      ]);

      const { recorded, replayed } = await piped();
      const lines = parsed<Decided>(replayed).filter((line) => "decision" in line);
      expect(lines.map(decided)).toEqual(live);

      // Without the header's word nobody of them is the operator, as in any other scenario.
      const [header, ...rest] = parsed<{ local?: readonly string[] }>(recorded);
      expect(header?.local).toEqual(["webchat", "terminal", "webhook"]);
      const { local: _, ...bare } = header ?? {};
      const strangers = (await play([bare, ...rest])).flatMap((line) =>
        "decision" in line ? [line.decision] : [],
      );
      expect(strangers).toEqual(Array(5).fill("denied"));
    },
    slow,
  );
});
