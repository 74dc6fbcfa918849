/** Without the optional package, links say what to install, and everything else goes on. */
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { builtFile } from "../../support/built/files.ts";

test("links name the package to install, in the reading and when the config is checked", () => {
  const run = spawnSync(process.execPath, [builtFile("test/missing-parser")], {
    encoding: "utf8",
    timeout: 30_000,
  });
  const { html, plain, warnings } = JSON.parse(
    run.stdout || `{"html": ${JSON.stringify(run.stderr)}}`,
  );
  expect(html).toContain("npm install htmlparser2");
  expect(plain).toBe("plain words");
  expect(warnings).toEqual([
    {
      at: "media.links",
      wrong: "the package htmlparser2 is not installed",
      fix: "npm install htmlparser2",
    },
  ]);
});
