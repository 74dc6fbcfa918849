/** The agents that docs/agents shows as code answer when their files are put beside the config file. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { startDaemon } from "../../src/daemon/daemon.ts";
import { newFolder } from "../support/daemon/folder.ts";
import { blocksOf, manual } from "../support/docs.ts";

const pages = manual();

/** Config and program of a page, by their languages. */
function shownOn(path: string): { readonly config: string; readonly program: string } {
  const page = pages.find((one) => one.path === path);
  const blocks = page === undefined ? [] : blocksOf(page);
  const first = (language: string) => blocks.find((one) => one.language === language)?.text ?? "";
  return { config: first("json5"), program: first("js") };
}

describe.each(["docs/agents/command.md", "docs/agents/module.md"])("%s", (path) => {
  test("its agent answers the first message, the next one, and after a restart", async () => {
    const { config, program } = shownOn(path);
    expect(program).toContain("// scout.mjs");
    const stateDir = newFolder();
    writeFileSync(join(stateDir, "earshot.json5"), config, { mode: 0o600 });
    writeFileSync(join(stateDir, "scout.mjs"), program);
    const how = { stateDir, port: 0, workers: 0, logLevel: "fatal", env: {} } as const;
    for (const texts of [["one", "two"], ["three"]]) {
      const daemon = await startDaemon(how);
      const headers = {
        authorization: `Bearer ${daemon.token}`,
        "content-type": "application/json",
      };
      for (const text of texts) {
        const chat = { id: "ann", kind: "direct" };
        const body = JSON.stringify({ chat, id: text, author: { id: "ann" }, text });
        await fetch(`${daemon.base}/api/inbound`, { method: "POST", headers, body });
        const answers = async () =>
          (await fetch(`${daemon.base}/api/outbound`, { headers })).text();
        await expect.poll(answers, { timeout: 20_000 }).toContain(`You said: ${text}`);
      }
      await daemon.stop();
    }
  });
});
