/**
 * `/api/webchat/uploads`
 * ======================
 * A page uploads a file, reads it back, or deletes it before it was sent. The body is the file,
 * streamed to disk and counted as it arrives. Only pictures of kinds that browsers draw without
 * running anything may be shown inline; every other file is a download without a type.
 */
import type { IncomingMessage } from "node:http";
import type { Context } from "hono";
import { z } from "zod";
import { picturesTaken } from "../../../adapters/media/sniff.ts";
import type { Upload } from "../../../adapters/media/uploads.ts";
import { EarshotError } from "../../../domain/errors.ts";
import { limits } from "../../../domain/limits.ts";
import { count, text } from "../../api-types/schema.ts";
import { ApiRefusal } from "../../http/api-error.ts";
import { allowLongBody } from "../../http/body-timeout.ts";
import type { Endpoints } from "../../http/endpoint.ts";
import type { RouteDeps } from "./deps.ts";

const params = z.object({ id: text.describe("from the answer of the upload") });

const takeUpload = {
  method: "post",
  path: "/api/webchat/uploads",
  summary: "Uploads a file for a message of the web chat; the body is the file",
  query: z.object({ name: text.default("").describe("name that is shown") }),
  rawBody: "*/*",
  answer: z.object({
    id: text,
    kind: z.enum(["image", "audio", "video", "file"]),
    mime: text,
    bytes: count,
    name: text.nullable(),
  }),
  refuses: ["bad-request", "too-slow", "too-large", "wrong-type", "too-many", "not-ready"],
} as const;
const readUpload = {
  method: "get",
  path: "/api/webchat/uploads/:id",
  summary: "The bytes of an uploaded file; a download unless it is a plain picture",
  params,
  answer: { contentType: "application/octet-stream" },
  refuses: ["not-found"],
} as const;
const dropUpload = {
  method: "delete",
  path: "/api/webchat/uploads/:id",
  summary: "Deletes a file that was not sent",
  params,
  answer: z.object({}),
  refuses: ["not-found"],
} as const;

export function uploadRoutes({ add }: Endpoints, { webchat, problem }: RouteDeps): void {
  const { uploads } = webchat;
  add(takeUpload, async ({ context, query: { name } }) => {
    const why = problem() ?? webchat.problem();
    if (why !== null) throw new ApiRefusal("not-ready", why);
    const { incoming } = context.env;
    const declared = typeOf(context);
    allowLongBody(incoming);
    // An unread body must not keep the connection open.
    context.header("connection", "close");
    const upload = await uploads.take(bytesOf(incoming), {
      name: name.slice(0, limits.labelUnitsMax),
      declared,
      length: lengthOf(incoming),
    });
    context.header("connection", undefined);
    return described(upload);
  });
  add(readUpload, async ({ context, params: { id } }) => {
    const upload = await uploads.find(id);
    if (upload === null) throw notFound();
    // A HEAD request reads nothing, so nothing is opened.
    if (context.req.method === "HEAD") return context.body(null, 200, headersOf(upload));
    const bytes = await uploads.open(upload.id).catch((error: unknown) => {
      // Another node's file, and Restate is away.
      if (error instanceof EarshotError && error.disposition === "retry") throw error;
      return null;
    });
    if (bytes === null) throw notFound();
    return context.body(bytes, 200, headersOf(upload));
  });
  add(dropUpload, async ({ params: { id } }) => {
    if (!(await uploads.drop(id))) throw notFound();
    return {};
  });
}

const described = ({ id, kind, mime, bytes, name }: Upload) => ({ id, kind, mime, bytes, name });

const notFound = () => new ApiRefusal("not-found", "Cannot find that file: it is not stored here");

/** The type that the page declares. A form or compressed bytes are not the file itself. */
function typeOf(context: Context): string {
  const encoding = context.req.header("content-encoding") ?? "identity";
  if (encoding !== "identity")
    throw new ApiRefusal("wrong-type", "Cannot accept the file: it is compressed. Send it plain");
  const type = (context.req.header("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
  if (/^multipart\//u.test(type))
    throw new ApiRefusal(
      "wrong-type",
      "Cannot accept a form: send the file itself as the body, with its own type",
    );
  return type;
}

/** The declared length. It is ignored beside a transfer coding, and bytes are counted anyway. */
function lengthOf({ headers }: IncomingMessage): number | null {
  if (headers["transfer-encoding"] !== undefined) return null;
  const length = Number(headers["content-length"]);
  return Number.isFinite(length) ? length : null;
}

/** The body in parts. Reading may stop early without closing the connection, which an answer needs. */
const bytesOf = (incoming: IncomingMessage): AsyncIterable<Uint8Array> =>
  incoming.iterator({ destroyOnReturn: false });

function headersOf({ mime, bytes, name, id }: Upload): Record<string, string> {
  const isPicture = picturesTaken.has(mime);
  // RFC 8187 requires these to be escaped, too.
  const escaped = encodeURIComponent(name ?? id).replace(
    /['()*!]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16)}`,
  );
  return {
    "content-type": isPicture ? mime : "application/octet-stream",
    "content-length": String(bytes),
    "content-disposition": `${isPicture ? "inline" : "attachment"}; filename*=UTF-8''${escaped}`,
    // A file opened as a page may not run or load anything.
    "content-security-policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
  };
}
