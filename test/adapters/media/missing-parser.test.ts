/** Without the optional package, links say what to install, and everything else goes on. */
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

const hooks = `export async function resolve(name, context, next) {
  if (name === "htmlparser2") throw Object.assign(new Error("not here"), { code: "ERR_MODULE_NOT_FOUND" });
  return next(name, context);
}`;
const program = `
  import { register } from "node:module";
  register("data:text/javascript," + encodeURIComponent(${JSON.stringify(hooks)}));
  const { readPage } = await import(${JSON.stringify(new URL("../../../src/adapters/media/links.ts", import.meta.url).href)});
  const { mediaWarnings } = await import(${JSON.stringify(new URL("../../../src/adapters/media/check.ts", import.meta.url).href)});
  const { parseConfig } = await import(${JSON.stringify(new URL("../../../src/domain/config/index.ts", import.meta.url).href)});
  const page = (type, words) => ({
    open: async () => ({
      status: 200,
      headers: { "content-type": type },
      body: (async function* () { yield Buffer.from(words); })(),
      close() {},
    }),
  });
  const limit = { unitsMax: 100, msMax: 1000, signal: new AbortController().signal };
  const html = await readPage(page("text/html", "<p>x"), "http://a.test", limit).catch((error) => error.message);
  const plain = await readPage(page("text/plain", "plain words"), "http://a.test", limit);
  const warnings = await mediaWarnings(parseConfig({ media: { links: { kind: "extract" } } }));
  console.log(JSON.stringify({ html, plain: plain.text, warnings }));
`;

test("links name the package to install, in the reading and when the config is checked", () => {
  const run = spawnSync(
    process.execPath,
    ["--import", "tsx", "--input-type=module", "-e", program],
    { encoding: "utf8", timeout: 30_000 },
  );
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
