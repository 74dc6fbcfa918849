/**
 * `/api/webchat/uploads`
 * ======================
 * A page gives a file, looks at one it gave, or takes one back before it was sent. The body is the
 * file itself, streamed to the disk and counted as it comes. Only a picture of a kind that browsers
 * draw without running anything may be shown in place; every other file is a download of bytes of
 * no kind, whatever it calls itself.
 */
import type { IncomingMessage } from "node:http";
import { type Context, Hono } from "hono";
import { picturesTaken } from "../../../adapters/media/sniff.ts";
import type { Upload } from "../../../adapters/media/uploads.ts";
import { limits } from "../../../domain/limits.ts";
import { ApiRefusal } from "../../http/api-error.ts";
import type { HttpEnv } from "../../http/auth.ts";
import { allowLongBody } from "../../http/body-timeout.ts";
import type { RouteDeps } from "./deps.ts";

export function uploadRoutes({ webchat, problem }: RouteDeps): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  const { uploads } = webchat;
  app.post("/webchat/uploads", async (context) => {
    const why = problem() ?? webchat.problem();
    if (why !== null) throw new ApiRefusal("not-ready", why);
    const { incoming } = context.env;
    const declared = typeOf(context);
    const name = (context.req.query("name") ?? "").slice(0, limits.labelUnitsMax);
    allowLongBody(incoming);
    // What is not read to its end is not waited for either.
    context.header("connection", "close");
    const upload = await uploads.take(bytesOf(incoming), {
      name,
      declared,
      length: lengthOf(incoming),
    });
    context.header("connection", undefined);
    return context.json(told(upload));
  });
  app.get("/webchat/uploads/:id", async (context) => {
    const upload = await uploads.find(context.req.param("id"));
    if (upload === null) throw notFound();
    // Nothing is opened that nobody reads.
    if (context.req.method === "HEAD") return context.body(null, 200, headersOf(upload));
    const bytes = await uploads.open(upload.id).catch(() => null);
    if (bytes === null) throw notFound();
    return context.body(bytes, 200, headersOf(upload));
  });
  app.delete("/webchat/uploads/:id", async (context) => {
    if (!(await uploads.drop(context.req.param("id")))) throw notFound();
    return context.json({});
  });
  return app;
}

const told = ({ id, kind, mime, bytes, name }: Upload) => ({ id, kind, mime, bytes, name });

const notFound = () => new ApiRefusal("not-found", "Cannot find that file: it is not kept here");

/** What the page says the file is. A form or packed bytes are not a file as it is. */
function typeOf(context: Context): string {
  const encoding = context.req.header("content-encoding") ?? "identity";
  if (encoding !== "identity")
    throw new ApiRefusal("wrong-type", "Cannot take the file as it is compressed: send it plain");
  const type = (context.req.header("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
  if (/^multipart\//u.test(type))
    throw new ApiRefusal(
      "wrong-type",
      "Cannot take a form: send the file itself as the body, with its own type",
    );
  return type;
}

/** As declared; a length beside a coding is not believed, and neither saves the counting. */
function lengthOf({ headers }: IncomingMessage): number | null {
  if (headers["transfer-encoding"] !== undefined) return null;
  const length = Number(headers["content-length"]);
  return Number.isFinite(length) ? length : null;
}

/** The body in parts. Who stops reading leaves the line as it is, so that an answer can be sent. */
const bytesOf = (incoming: IncomingMessage): AsyncIterable<Uint8Array> =>
  incoming.iterator({ destroyOnReturn: false });

function headersOf({ mime, bytes, name, id }: Upload): Record<string, string> {
  const isPicture = picturesTaken.has(mime);
  // RFC 8187 leaves these to be escaped, too.
  const escaped = encodeURIComponent(name ?? id).replace(
    /['()*!]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16)}`,
  );
  return {
    "content-type": isPicture ? mime : "application/octet-stream",
    "content-length": String(bytes),
    "content-disposition": `${isPicture ? "inline" : "attachment"}; filename*=UTF-8''${escaped}`,
    // Opened by itself it runs nothing and shows nothing else.
    "content-security-policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
  };
}
