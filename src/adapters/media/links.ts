/**
 * Pages that a message links to
 * =============================
 * Title and beginning of a page, fetched like everything a room chose: through the guarded client,
 * so never from inside. The markup is read by `htmlparser2`, which is loaded with the first link
 * and is not installed unless it is wanted.
 */
import { TextDecoder } from "node:util";
import { EarshotError } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import type { HttpClient } from "../http/http-client.ts";

export interface Page {
  readonly title: string | null;
  readonly text: string;
  readonly mime: string;
  readonly bytes: number;
}

const titleUnitsMax = 300;
/** What they hold is not said to readers. */
const unread: ReadonlySet<string> = new Set([
  "script",
  "style",
  "noscript",
  "template",
  "svg",
  "nav",
  "iframe",
  "object",
]);
/** What begins a new line. */
const blocks: ReadonlySet<string> = new Set(
  "p div br li tr h1 h2 h3 h4 h5 h6 section article header footer blockquote pre table".split(" "),
);

/** @throws EarshotError EAR_HTTP_REFUSED | EAR_HTTP_FAILED, or when the parser is not installed. */
export async function readPage(
  http: HttpClient,
  url: string,
  limit: { readonly unitsMax: number; readonly msMax: number; readonly signal: AbortSignal },
): Promise<Page> {
  const answer = await http.open(url, {
    headers: { accept: "text/html, text/plain;q=0.8", "user-agent": "earshot" },
    signal: limit.signal,
    msMax: limit.msMax,
    bytesMax: limits.linkBytesMax * 2,
  });
  try {
    if (answer.status < 200 || answer.status > 299)
      throw new EarshotError(
        "EAR_HTTP_FAILED",
        `Cannot read a page as it answered ${answer.status}`,
      );
    const type = String(answer.headers["content-type"] ?? "text/html");
    const mime = type.split(";")[0]?.trim().toLowerCase() ?? "";
    const isText = mime === "text/plain";
    if (!isText && mime !== "text/html" && mime !== "application/xhtml+xml")
      throw new EarshotError("EAR_HTTP_REFUSED", "Cannot read a page as it is none");
    const body = await beginning(answer.body);
    const words = decoder(type).decode(body);
    const page = isText
      ? { title: null, text: words.slice(0, limit.unitsMax) }
      : await extract(words, limit.unitsMax);
    return { ...page, mime, bytes: body.length };
  } finally {
    answer.close();
  }
}

/** A long page is read as far as it is of use. */
async function beginning(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body) {
    parts.push(part);
    bytes += part.length;
    if (bytes >= limits.linkBytesMax) break;
  }
  return Buffer.concat(parts).subarray(0, limits.linkBytesMax);
}

function decoder(type: string): TextDecoder {
  const charset = /charset="?([\w-]{1,32})/i.exec(type)?.[1] ?? "utf-8";
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder("utf-8");
  }
}

async function extract(
  html: string,
  unitsMax: number,
): Promise<{ title: string | null; text: string }> {
  const { Parser } = await loadParser();
  let title = "";
  let shown = "";
  let text = "";
  let hidden = 0;
  let inTitle = false;
  const parser = new Parser({
    onopentag(name, attributes) {
      if (name === "title") inTitle = true;
      if (unread.has(name)) hidden += 1;
      if (blocks.has(name)) text += "\n";
      if (name === "meta" && attributes.property === "og:title") shown = attributes.content ?? "";
    },
    ontext(part) {
      if (inTitle) title = (title + part).slice(0, titleUnitsMax);
      else if (hidden === 0 && text.length < unitsMax * 4) text += part;
    },
    onclosetag(name) {
      if (name === "title") inTitle = false;
      if (unread.has(name)) hidden = Math.max(0, hidden - 1);
    },
  });
  parser.end(html);
  const name = (title.trim() === "" ? shown : title).replace(/\s+/g, " ").trim();
  return {
    title: name === "" ? null : name.slice(0, titleUnitsMax),
    text: tidy(text).slice(0, unitsMax),
  };
}

const tidy = (text: string): string =>
  text
    .split("\n")
    .map((line) => line.replace(/\s+/g, " ").trim())
    .filter((line) => line !== "")
    .join("\n");

async function loadParser(): Promise<typeof import("htmlparser2")> {
  try {
    return await import("htmlparser2");
  } catch (cause) {
    throw new EarshotError(
      "EAR_AGENT_CONFIG",
      "Cannot read links as the package htmlparser2 is not installed: npm install htmlparser2",
      { cause },
    );
  }
}

/** Whether links can be read at all, for whoever checks a config. */
export async function canReadLinks(): Promise<boolean> {
  return loadParser().then(
    () => true,
    () => false,
  );
}
