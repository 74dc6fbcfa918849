/**
 * A Bot API server on loopback: the real wire protocol (https://core.telegram.org/bots/api) over a
 * small world of people and chats, with long polling, offsets that confirm, the conflict of two
 * pollers, and the fault script. Tests speak for the people through `world`.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { lookUntilTrue } from "../../../src/testing/look-until.ts";
import { breakAnswer, createFaultScript, type Fault, type FaultScript } from "./faults.ts";
import { methods, Refusal } from "./telegram-methods.ts";
import { startPoster } from "./telegram-poster.ts";
import { TelegramWorld } from "./telegram-world.ts";

type Payload = Readonly<Record<string, unknown>>;

export interface TelegramServer {
  readonly apiRoot: string;
  readonly world: TelegramWorld;
  readonly faults: FaultScript;
  /** The only token that is let in; set another one to revoke it. */
  token: string;
  /** Calls of one method, oldest first, refused ones included. */
  calls(method: string): readonly Payload[];
  /** Resolves when `done` holds. @throws when it does not within `ms`. */
  until(done: () => boolean, what: string): Promise<void>;
  /** Cuts every connection and stops listening, as a server that went down. The world stays. */
  down(): Promise<void>;
  /** Listens again on the same port. */
  up(): Promise<void>;
  close(): Promise<void>;
}

export const sampleToken = "4242:AAF-canary-token-that-no-sink-may-show";

export async function startTelegramServer(port = 0): Promise<TelegramServer> {
  const world = new TelegramWorld();
  const faults = createFaultScript();
  const stopPosting = startPoster(world);
  let server: Server | null = null;
  let at = port;
  const listen = async () => {
    const started = createServer((request, response) => {
      handle(request, response, api, poller).catch((error: unknown) =>
        response.destroy(error as Error),
      );
    });
    await new Promise<void>((resolve) => started.listen(at, "127.0.0.1", resolve));
    at = (started.address() as AddressInfo).port;
    server = started;
  };
  const down = () =>
    new Promise<void>((resolve) => {
      if (server === null) return resolve();
      server.close(() => resolve());
      server.closeAllConnections();
      server = null;
    });
  const poller: Poller = { current: null };
  const api: TelegramServer = {
    get apiRoot() {
      return `http://127.0.0.1:${at}`;
    },
    world,
    faults,
    token: sampleToken,
    calls: (method) =>
      world.calls.filter((call) => call.method === method).map(({ payload }) => payload),
    until: (done, what) =>
      lookUntilTrue(
        done,
        () => what,
        (look) => world.watch(look),
      ),
    down,
    up: listen,
    close: () => {
      stopPosting();
      return down();
    },
  };
  await listen();
  return api;
}

/** The long poll that is waiting; a second one ends the first, as at Telegram. */
interface Poller {
  current: ((refusal: Refusal) => void) | null;
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  server: TelegramServer,
  poller: Poller,
): Promise<void> {
  const path = decodeURIComponent(request.url ?? "");
  const file = /^\/file\/bot([^/]+)\/files\/(.+)$/.exec(path);
  if (file !== null) return sendFile(response, server, file[1] as string, file[2] as string);
  const called = /^\/bot([^/]+)\/(\w+)$/.exec(path);
  const [, token, method = ""] = called ?? [];
  const payload = await readBody(request);
  if (token !== server.token) {
    const known = called !== null && /^\d+:/.test(token ?? "");
    return refuse(response, new Refusal(known ? 401 : 404, known ? "Unauthorized" : "Not Found"));
  }
  server.world.calls.push({ method, payload, at: Date.now() });
  const fault = server.faults.next(method);
  try {
    await perform(request, response, server, poller, { method, payload, fault });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    refuse(response, error);
  } finally {
    server.world.changed();
  }
}

async function perform(
  request: IncomingMessage,
  response: ServerResponse,
  { world }: TelegramServer,
  poller: Poller,
  { method, payload, fault }: { method: string; payload: Payload; fault: Fault | null },
): Promise<void> {
  if (fault?.kind === "refuse") {
    const wait = fault.retryAfter === undefined ? "" : `: retry after ${fault.retryAfter}`;
    return refuse(response, new Refusal(fault.status, `scripted${wait}`), fault.retryAfter);
  }
  if (fault?.kind === "slow") await new Promise((resolve) => setTimeout(resolve, fault.ms));
  const undone = fault !== null && (!("done" in fault) || fault.done !== true);
  if (fault !== null && undone && breakAnswer(fault, request, response)) return;
  let result: unknown;
  if (method === "getUpdates") result = await getUpdates(world, payload, poller, response);
  else {
    const perform = methods[method];
    if (perform === undefined) throw new Refusal(404, "Not Found: method not found");
    result = perform(world, payload);
  }
  if (fault !== null && breakAnswer(fault, request, response)) return;
  if (Array.isArray(result) && fault?.kind === "duplicate") result = [...result, ...result];
  if (Array.isArray(result) && fault?.kind === "reorder") result = result.toReversed();
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ ok: true, result }));
}

async function getUpdates(
  world: TelegramWorld,
  payload: Payload,
  poller: Poller,
  response: ServerResponse,
): Promise<readonly unknown[]> {
  const { offset, timeout = 0, limit = 100 } = payload as Record<string, number | undefined>;
  if (world.webhook !== null)
    throw new Refusal(
      409,
      "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete " +
        "the webhook first",
    );
  poller.current?.(
    new Refusal(409, "Conflict: terminated by other getUpdates request; make sure that only one"),
  );
  if (offset !== undefined)
    world.queue = world.queue.filter(({ update_id }) => !(update_id < offset));
  if (world.queue.length > 0) return world.queue.slice(0, limit);
  if (timeout === 0) return [];
  await new Promise<void>((resolve, reject) => {
    const end = (finish: () => void) => {
      clearTimeout(timer);
      unwatch();
      if (poller.current === conflict) poller.current = null;
      finish();
    };
    const conflict = (refusal: Refusal) => end(() => reject(refusal));
    const timer = setTimeout(() => end(resolve), timeout * 1_000);
    const unwatch = world.watch(() => {
      if (world.queue.length > 0) end(resolve);
    });
    poller.current = conflict;
    response.on("close", () => end(resolve));
  });
  return world.queue.slice(0, limit);
}

async function readBody(request: IncomingMessage): Promise<Payload> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const body = Buffer.concat(parts);
  const type = request.headers["content-type"] ?? "";
  if (type.startsWith("multipart/form-data")) return readForm(body, type);
  return body.length === 0 ? {} : (JSON.parse(body.toString()) as Payload);
}

/** Fields as texts and numbers; a file as its bytes, under the field that refers to it. */
function readForm(body: Buffer, type: string): Payload {
  const boundary = `--${/boundary=(\S+)/.exec(type)?.[1] ?? ""}`;
  const fields: Record<string, unknown> = {};
  const files = new Map<string, { name: string; data: Buffer }>();
  // Latin-1 keeps every byte as one letter.
  for (const part of body.toString("latin1").split(boundary).slice(1, -1)) {
    const head = part.indexOf("\r\n\r\n");
    const field = /name="?([^";\r]+)"?/.exec(part.slice(0, head))?.[1] ?? "";
    const file = /filename="?([^";\r]+)"?/.exec(part.slice(0, head))?.[1];
    const data = Buffer.from(part.slice(head + 4).replace(/\r\n$/, ""), "latin1");
    const text = data.toString();
    if (file !== undefined) files.set(field, { name: file, data });
    else fields[field] = /^-?\d+$/.test(text) ? Number(text) : text;
  }
  for (const [field, value] of Object.entries(fields))
    if (typeof value === "string" && value.startsWith("attach://"))
      fields[field] = files.get(value.slice("attach://".length));
  return fields;
}

function refuse(response: ServerResponse, refusal: Refusal, retryAfter?: number): void {
  response.writeHead(refusal.code, { "content-type": "application/json" });
  response.end(
    JSON.stringify({
      ok: false,
      error_code: refusal.code,
      description: refusal.message,
      parameters: {
        ...refusal.parameters,
        ...(retryAfter === undefined ? {} : { retry_after: retryAfter }),
      },
    }),
  );
}

function sendFile(
  response: ServerResponse,
  server: TelegramServer,
  token: string,
  id: string,
): void {
  const bytes = token === server.token ? server.world.files.get(id) : undefined;
  response.writeHead(bytes === undefined ? 404 : 200).end(bytes);
}
