/**
 * Discord's REST API
 * ==================
 * discord.js's `REST` with additions for every call: a time limit, a rate limit as an error with its
 * time in place of a silent wait, no retries of its own, and converted errors. One per account, unless
 * it is a bot's own (given-rest.ts); nothing else knows the token. The library is loaded with the first
 * call.
 */
import { createRequire } from "node:module";
import type { RawFile, REST } from "discord.js";
import type { z } from "zod";
import { EarshotError } from "../../../domain/errors.ts";
import { deadline } from "../../http/deadline.ts";
import { loadPackage } from "../shared/optional-package.ts";
import type { DiscordAccountConfig } from "./config.ts";
import { type CallKind, discordError } from "./errors.ts";

const library = { platform: "Discord", name: "discord.js", version: "^14.28.1" };

const loadDiscord = () => loadPackage(library, () => import("discord.js"));

/** The part of the library below its client: one connection to the gateway. */
export async function loadGateway(): Promise<typeof import("@discordjs/ws")> {
  await loadDiscord();
  // discord.js exports other classes under the same names; it has this package as its own.
  const own = createRequire(import.meta.url).resolve("discord.js");
  return loadPackage(library, async () => createRequire(own)("@discordjs/ws"));
}

export interface CallOptions {
  readonly signal: AbortSignal;
  readonly msMax: number;
  readonly kind?: CallKind;
  /** What is done, for errors: "send a message". */
  readonly what: string;
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string>>;
  readonly files?: readonly RawFile[];
}

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Makes a request. Rejects with what the library throws. */
export type Send = (request: DiscordRequest) => Promise<unknown>;
export type DiscordRequest = Parameters<REST["request"]>[0] & { readonly signal: AbortSignal };

export interface DiscordClient {
  /** One call whose answer says nothing. @throws EarshotError */
  do(method: Method, path: `/${string}`, options: CallOptions): Promise<void>;
  /** One call. An answer of another form is EAR_CHANNEL_UNAVAILABLE. @throws EarshotError */
  ask<Schema extends z.ZodType>(
    method: Method,
    path: `/${string}`,
    schema: Schema,
    options: CallOptions,
  ): Promise<z.infer<Schema>>;
}

/** @param send an account's own REST, unless it is given another */
export function createDiscordClient(
  config: DiscordAccountConfig,
  send: Send = ownSend(config),
): DiscordClient {
  const call = async (method: Method, path: `/${string}`, options: CallOptions) => {
    const { signal, msMax, what, kind = "call", body, query, files } = options;
    if (signal.aborted)
      throw new EarshotError(
        "EAR_CHANNEL_UNAVAILABLE",
        `Cannot ${what} at Discord: the call was cancelled`,
      );
    const limit = deadline(signal, msMax);
    try {
      return await send({
        method: method as never,
        fullRoute: path,
        signal: limit.signal,
        ...(body !== undefined && { body }),
        ...(query !== undefined && { query: new URLSearchParams(query) }),
        ...(files !== undefined && { files: [...files] }),
      });
    } catch (error) {
      throw discordError(error, what, kind, config.token);
    } finally {
      limit.done();
    }
  };
  return {
    async do(method, path, options) {
      await call(method, path, options);
    },
    async ask(method, path, schema, options) {
      const read = schema.safeParse(await call(method, path, options));
      if (read.success) return read.data;
      throw new EarshotError(
        "EAR_CHANNEL_UNAVAILABLE",
        `Cannot ${options.what} at Discord: the answer has an unexpected form`,
      );
    },
  };
}

function ownSend(config: DiscordAccountConfig): Send {
  let opening: Promise<REST> | undefined;
  const open = async () => {
    const { REST } = await loadDiscord();
    return new REST({
      version: "10",
      api: config.apiRoot,
      retries: 0,
      offset: 0,
      rejectOnRateLimit: () => true,
    });
  };
  return async (request) => {
    opening ??= open();
    const rest = await opening;
    // The library forgets a token that was refused once.
    rest.setToken(config.token);
    return rest.request(request);
  };
}
