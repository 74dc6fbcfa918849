/**
 * Requests to signal-cli's daemon. Each has a connection of its own: on one that the daemon has just
 * closed it would be in doubt whether anything was sent.
 */
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { SignalAccountConfig } from "./config.ts";

export interface DaemonRequest {
  /** Below the daemon's address. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON to post; absent: a GET. */
  readonly body?: string;
  readonly signal: AbortSignal;
}

/** Resolves when the headers of the answer are there; rejects with an error of node:http. */
export function exchange(
  { url, token }: SignalAccountConfig,
  { path, headers = {}, body, signal }: DaemonRequest,
): Promise<IncomingMessage> {
  const open = url.startsWith("https:") ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const options = {
      method: body === undefined ? "GET" : "POST",
      agent: false,
      signal,
      headers: {
        ...headers,
        ...(body !== undefined && { "content-type": "application/json" }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
    };
    const sent = open(new URL(path, url), options, resolve);
    sent.on("error", reject);
    sent.end(body);
  });
}

/** A whole body as text; rejects when it is larger than `bytesMax`. */
export async function bodyOf(answer: IncomingMessage, bytesMax: number): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of answer as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > bytesMax) throw new Error("too large");
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}
