/**
 * The files that Vite built are read once, with the first request, into a closed table of paths, so no
 * requested path reaches the disk. The content security policy allows scripts and styles from here
 * only, and no page may be framed.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { extname, join, relative, sep } from "node:path";
import { Hono } from "hono";
import type { HttpEnv } from "./auth.ts";
import { bridgeHeaders } from "./page-headers.ts";

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".json": "application/json",
  ".webmanifest": "application/manifest+json",
  ".txt": "text/plain; charset=utf-8",
};

/** Paths of the single-page application. */
const pagePaths = [
  "/",
  "/chat",
  "/replay",
  "/health",
  "/setup",
  "/settings",
  "/search",
  "/room/:key",
];
const notBuilt =
  "<!doctype html><html lang=en><meta charset=utf-8><title>earshot</title>" +
  "<p>The daemon runs. Its pages are not built here: run <code>npm run build</code>.</p></html>";

interface Page {
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly etag: string;
  readonly forever: boolean;
  /** Override the default headers. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Where the pages are. */
export interface PageFiles {
  readonly folder: string;
  /** Address of the inspector that one of them may show. */
  readonly inspector: string;
}

/** Reads the pages below a folder; if it is missing, one page explains how to build them. */
export async function loadPages({ folder, inspector }: PageFiles): Promise<Hono<HttpEnv>> {
  const pages = new Map<string, Page>();
  if (existsSync(folder))
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      const type = types[extname(entry.name)];
      if (!entry.isFile() || type === undefined) continue;
      const file = join(entry.parentPath, entry.name);
      const path = `/${relative(folder, file).split(sep).join("/")}`;
      pages.set(path, pageOf(await readFile(file), type, path.startsWith("/assets/")));
    }
  const index =
    pages.get("/index.html") ?? pageOf(Buffer.from(notBuilt), types[".html"] as string, false);
  for (const path of pagePaths) if (!pages.has(path)) pages.set(path, index);
  const bridge = pages.get("/inspect.html") ?? index;
  pages.delete("/inspect.html");
  pages.set("/inspect", { ...bridge, headers: bridgeHeaders(inspector) });
  const app = new Hono<HttpEnv>();
  for (const [path, page] of pages)
    app.get(path, (context) => {
      context.header("etag", page.etag);
      context.header(
        "cache-control",
        page.forever ? "public, max-age=31536000, immutable" : "no-cache",
      );
      for (const [name, value] of Object.entries(page.headers ?? {})) context.header(name, value);
      if (context.req.header("if-none-match") === page.etag) return context.body(null, 304);
      return context.body(page.bytes, 200, { "content-type": page.type });
    });
  return app;
}

function pageOf(bytes: Uint8Array, type: string, forever: boolean): Page {
  const etag = `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`;
  return { type, bytes: new Uint8Array(bytes), etag, forever };
}
