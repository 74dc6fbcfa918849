/**
 * A whole daemon with an agent that asks for permission, a program of its own beside a worker thread:
 * the question reaches the page, and the answer the program.
 */

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startDaemon } from "../../src/daemon/daemon.ts";
import { builtFile } from "../support/built/files.ts";
import { newFolder } from "../support/daemon/folder.ts";
import { openPage } from "../support/daemon/page.ts";
import { inTurn } from "../support/rounds.ts";

const program = builtFile("test/acp-agent");

test.each(inTurn([0, 1], 1))(
  "a permission is asked on the page and answered there, with %s workers",
  async (workers) => {
    const stateDir = newFolder();
    const driver = {
      kind: "acp",
      command: process.execPath,
      args: [program, "", join(stateDir, "log")],
    };
    const config = { agents: { list: [{ id: "main", default: true, driver }] } };
    await writeFile(join(stateDir, "earshot.json5"), JSON.stringify(config), { mode: 0o600 });
    const quiet = { port: 0, workers, env: process.env, writeLog: () => undefined };
    const daemon = await startDaemon({ stateDir, ...quiet });
    onTestFinished(() => daemon.stop());
    const page = await openPage(daemon.base, daemon.token);
    await page.wait("ready");
    /** Says it, and gives the first answer that fits. */
    const say = async (text: string, fits: RegExp) => {
      const id = page.say(text);
      const { n } = await page.wait("taken", (frame) => frame.id === id);
      return (await page.wait("said", (frame) => frame.n > n && fits.test(frame.text))).text;
    };
    // As configured: refused, and nobody is asked.
    expect(await say("do: ask execute", /selected/)).toContain('"optionId":"no"');
    expect(await say("/exec security=allowlist ask=on-miss", /^Exec/)).toBe(
      "Exec: security allowlist, ask on-miss.",
    );
    expect(await say("do: ask read", /selected/)).toContain('"optionId":"yes"');
    const asked = await say("do: ask execute", /asks an owner/);
    expect(asked).toContain("`execute: rm -rf`");
    const id = /approve (\w+) once/.exec(asked)?.[1];
    expect(await say("/approve", /execute/)).toBe(`${id}: \`execute: rm -rf\``);
    expect(await say(`/approve ${id} always`, /selected/)).toContain('"optionId":"always"');
    await say("do: ask execute", /asks an owner/);
    expect(await say("/stop", /^Stopped/)).toBe("Stopped.");
    expect(await say("/approve", /waiting/)).toBe("No agent is waiting for permission here.");
    expect(await say("/elevated full do: ask execute", /selected/)).toContain('"optionId":"yes"');
    page.close();
  },
);
