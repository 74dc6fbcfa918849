/**
 * Files (XEP-0363)
 * ================
 * The server gives a place to put a file and the address under which others get it. That address
 * comes from our own server, so it may lie in a private range.
 */
import { EarshotError } from "../../../domain/errors.ts";
import type { MediaRequest } from "../../../domain/ports/index.ts";
import { createHttpClient } from "../../http/http-client.ts";
import type { XmppConnection } from "./client.ts";
import { refusalOf, refused, XmppLostError, XmppRefusedError } from "./errors.ts";
import { spaces } from "./spaces.ts";

const putMsMax = 120_000;
const answerBytesMax = 65_536;
const servicesMax = 20;
/** XEP-0363, section 5: others are not sent on. */
const headersAllowed: ReadonlySet<string> = new Set(["authorization", "cookie", "expires"]);

const known = new WeakMap<XmppConnection, Promise<string | null>>();

/** Uploads a file; resolves to its address. */
export async function upload(
  connection: XmppConnection,
  { name, mime, data, signal }: Pick<MediaRequest, "name" | "mime" | "data" | "signal">,
): Promise<string> {
  try {
    const found = known.get(connection) ?? findService(connection);
    known.set(connection, found);
    found.catch(() => known.delete(connection));
    const service = await found;
    if (service === null) throw refused("the server takes no files (XEP-0363)");
    const request = connection.element("request", {
      xmlns: spaces.upload,
      filename: name,
      size: String(data.length),
      "content-type": mime,
    });
    const answer = await connection.ask("get", service, request, signal);
    const slot = answer.getChild("slot", spaces.upload);
    const put = slot?.getChild("put");
    const [to, from] = [put?.attrs.url ?? "", slot?.getChild("get")?.attrs.url ?? ""];
    if (!URL.canParse(to) || !URL.canParse(from)) throw refused("the server's slot has no address");
    const headers = Object.fromEntries(
      (put?.getChildren("header") ?? [])
        .map((one) => [one.attrs.name ?? "", one.text().replace(/[\r\n]/g, "")] as const)
        .filter(([header]) => headersAllowed.has(header.toLowerCase())),
    );
    const http = createHttpClient({ allowPrivate: [new URL(to).origin] });
    const { status } = await http.fetch(to, {
      method: "PUT",
      headers: { ...headers, "content-type": mime },
      body: data,
      signal,
      msMax: putMsMax,
      bytesMax: answerBytesMax,
    });
    if (status === 200 || status === 201) return from;
    if (status === 429 || status >= 500) throw unavailable(`HTTP ${status}`);
    throw refused(`the file was not taken (HTTP ${status})`);
  } catch (error) {
    if (error instanceof XmppRefusedError) throw refusalOf(error.fault);
    // Nothing was said in the room yet.
    if (error instanceof XmppLostError) throw unavailable(error.message);
    throw error;
  }
}

const unavailable = (why: string) =>
  new EarshotError("EAR_CHANNEL_UNAVAILABLE", `Cannot upload a file on XMPP: ${why}`);

/** The first service of our server that takes files; null: none. */
async function findService(connection: XmppConnection): Promise<string | null> {
  const query = connection.element("query", { xmlns: spaces.items });
  const items = await connection.ask("get", connection.domain, query);
  const found = items.getChild("query", spaces.items)?.getChildren("item") ?? [];
  const jids = [connection.domain, ...found.map(({ attrs }) => attrs.jid ?? "")];
  for (const jid of jids.slice(0, servicesMax)) {
    if (jid === "") continue;
    try {
      if ((await connection.featuresOf(jid)).has(spaces.upload)) return jid;
    } catch (error) {
      if (!(error instanceof XmppRefusedError)) throw error;
    }
  }
  return null;
}
