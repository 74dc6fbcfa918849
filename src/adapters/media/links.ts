/**
 * Title and beginning of a page, fetched through the guarded client like every address from a room,
 * so never from a private network. The markup is parsed by `htmlparser2`, an optional package that
 * is loaded with the first link.
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
/** Elements whose content is not shown to readers. */
const hiddenElements: ReadonlySet<string> = new Set([
  "script",
  "style",
  "noscript",
  "template",
  "svg",
  "nav",
  "iframe",
  "object",
]);
/** Elements that begin a new line. */
const blockElements: ReadonlySet<string> = new Set(
  "p div br li tr h1 h2 h3 h4 h5 h6 section article header footer blockquote pre table".split(" "),
);

/**
 * Fetches a page and extracts its text.
 * @throws EarshotError EAR_HTTP_REFUSED | EAR_HTTP_FAILED; EAR_AGENT_CONFIG when the parser is not
 * installed.
 */
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
      throw new EarshotError("EAR_HTTP_FAILED", `Cannot read a page: it answered ${answer.status}`);
    const type = String(answer.headers["content-type"] ?? "text/html");
    const mime = type.split(";")[0]?.trim().toLowerCase() ?? "";
    const isText = mime === "text/plain";
    if (!isText && mime !== "text/html" && mime !== "application/xhtml+xml")
      throw new EarshotError(
        "EAR_HTTP_REFUSED",
        "Cannot read a page: it is neither HTML nor plain text",
      );
    const body = await beginning(answer.body);
    const source = decoder(type).decode(body);
    const page = isText
      ? { title: null, text: source.slice(0, limit.unitsMax) }
      : await extract(source, limit.unitsMax);
    return { ...page, mime, bytes: body.length };
  } finally {
    answer.close();
  }
}

/** Reads only the part of a long page that is used. */
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
  let openGraphTitle = "";
  let text = "";
  let hidden = 0;
  let inTitle = false;
  const parser = new Parser({
    onopentag(name, attributes) {
      if (name === "title") inTitle = true;
      if (hiddenElements.has(name)) hidden += 1;
      if (blockElements.has(name)) text += "\n";
      if (name === "meta" && attributes.property === "og:title")
        openGraphTitle = attributes.content ?? "";
    },
    ontext(part) {
      if (inTitle) title = (title + part).slice(0, titleUnitsMax);
      else if (hidden === 0 && text.length < unitsMax * 4) text += part;
    },
    onclosetag(name) {
      if (name === "title") inTitle = false;
      if (hiddenElements.has(name)) hidden = Math.max(0, hidden - 1);
    },
  });
  parser.end(html);
  const name = (title.trim() === "" ? openGraphTitle : title).replace(/\s+/g, " ").trim();
  return {
    title: name === "" ? null : name.slice(0, titleUnitsMax),
    text: collapseBlanks(text).slice(0, unitsMax),
  };
}

const collapseBlanks = (text: string): string =>
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
      "Cannot read links: the package htmlparser2 is not installed. Run: npm install htmlparser2",
      { cause },
    );
  }
}

/** Whether links can be read, for config checks. */
export async function canReadLinks(): Promise<boolean> {
  return loadParser().then(
    () => true,
    () => false,
  );
}
