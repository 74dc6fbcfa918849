/**
 * Serves the stand-in for the Stately inspector's page on another port, so that it is another site,
 * as stately.ai is. It can be silent: a page that loads and never says that it is there.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { build } from "vite";

export interface InspectorPage {
  /** Its address, as `inspectorUrl` of the daemon. */
  readonly url: string;
  readonly origin: string;
  silent: boolean;
  close(): Promise<void>;
}

const html =
  "<!doctype html><meta charset=utf-8><title>stand-in</title><body>" +
  '<script type="module" src="/page.js"></script></body>';

export async function startInspectorPage(): Promise<InspectorPage> {
  const script = await bundled();
  const server = createServer((request, response) => {
    const isScript = request.url === "/page.js";
    response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
    if (!isScript) response.end(html);
    else response.end(stand.silent ? "" : script);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const stand: InspectorPage = {
    url: `${origin}/inspect`,
    origin,
    silent: false,
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
  return stand;
}

/** The page's script with the package in it. */
async function bundled(): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: "error",
    build: {
      write: false,
      minify: false,
      rolldownOptions: { input: join(import.meta.dirname, "inspector-page.ts") },
    },
  });
  const outputs = (Array.isArray(built) ? built : [built]) as readonly {
    readonly output: readonly { readonly type: string; readonly code?: string }[];
  }[];
  const chunk = outputs.flatMap(({ output }) => output).find(({ type }) => type === "chunk");
  return chunk?.code ?? "";
}
