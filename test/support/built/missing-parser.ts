/** Reads pages where the optional package for links is not installed; prints what comes of it. */
import { register } from "node:module";
import type { HttpClient } from "../../../src/adapters/http/http-client.ts";
import { mediaWarnings } from "../../../src/adapters/media/check.ts";
import { readPage } from "../../../src/adapters/media/links.ts";
import { parseConfig } from "../../../src/domain/config/index.ts";

const hooks = `export async function resolve(name, context, next) {
  if (name === "htmlparser2") throw Object.assign(new Error("not here"), { code: "ERR_MODULE_NOT_FOUND" });
  return next(name, context);
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);

const page = (type: string, words: string) =>
  ({
    open: async () => ({
      status: 200,
      headers: { "content-type": type },
      body: (async function* () {
        yield Buffer.from(words);
      })(),
      close: () => undefined,
    }),
  }) as unknown as HttpClient;
const limit = { unitsMax: 100, msMax: 1_000, signal: new AbortController().signal };
const html = await readPage(page("text/html", "<p>x"), "http://a.test", limit).catch(
  (error: Error) => error.message,
);
const plain = await readPage(page("text/plain", "plain words"), "http://a.test", limit);
const warnings = await mediaWarnings(parseConfig({ media: { links: { kind: "extract" } } }));
process.stdout.write(JSON.stringify({ html, plain: plain.text, warnings }));
