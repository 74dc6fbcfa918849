/**
 * Calls of the client-server API
 * ==============================
 * matrix-js-sdk makes the requests; the loop that receives is ours, because its own one moves on before
 * what it read is durable. Every request has a time limit, its answer a size limit and a form. The
 * library is loaded with the first call.
 */
import type { IHttpOpts, MatrixHttpApi } from "matrix-js-sdk";
import type { z } from "zod";
import { EarshotError } from "../../../domain/errors.ts";
import { limits } from "../../../domain/limits.ts";
import { deadline } from "../../http/deadline.ts";
import { createHttpClient } from "../../http/http-client.ts";
import { loadPackage } from "../shared/optional-package.ts";
import type { MatrixAccountConfig } from "./config.ts";
import { type CallKind, matrixError } from "./errors.ts";

const matrixPackage = { platform: "Matrix", name: "matrix-js-sdk", version: "~37.5.0" };

const callMsMax = 10_000;
/** Above every limit of a call. */
const exchangeMsMax = 300_000;
const apiPrefix = "/_matrix/client/v3";
export const mediaPrefix = "/_matrix/media/v3";
export const authedPrefix = "/_matrix/client/v1";

export interface CallOptions {
  /** For errors: "send a message". */
  readonly what: string;
  readonly signal: AbortSignal;
  /** @default "call" */
  readonly kind?: CallKind;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** ms. @default 10 s */
  readonly msMax?: number;
  /** @default the API's version 3 */
  readonly prefix?: string;
}

export interface MatrixClient {
  /**
   * One request; its answer read by `schema`.
   * @throws EarshotError with the disposition that fits; an answer that never came is `retry`
   */
  call<Answer>(
    method: "GET" | "PUT" | "POST",
    path: string,
    options: CallOptions,
    schema: z.ZodType<Answer>,
  ): Promise<Answer>;
}

/** The parts of a path, escaped: ids of rooms and messages have characters of their own. */
export const pathOf = (...parts: readonly string[]): string =>
  parts.map((part) => `/${encodeURIComponent(part)}`).join("");

const silent = {
  trace: () => undefined,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  getChild: () => silent,
};

type Http = MatrixHttpApi<IHttpOpts & { onlyData: true }>;
/** `onFailure` gets why a request failed; what the library throws does not say it. */
type Open = (onFailure: (error: unknown) => void) => Http;

/**
 * Resolves to what makes the library's requester, one for each call: all calls of one listen to the same
 * abort signal, of which Node warns from the eleventh at once.
 */
async function open({ homeserver, accessToken }: MatrixAccountConfig): Promise<Open> {
  const { MatrixHttpApi: Api, TypedEventEmitter } = await loadPackage(
    matrixPackage,
    () => import("matrix-js-sdk"),
  );
  const http = createHttpClient({ allowPrivate: [new URL(homeserver).origin] });
  const request = async (resource: URL | Request | string, init?: RequestInit) => {
    const { status, headers, body } = await http.fetch(String(resource), {
      method: (init?.method ?? "GET") as "GET" | "PUT" | "POST",
      headers: init?.headers as Record<string, string>,
      ...(init?.body != null && { body: init.body as string | Uint8Array }),
      signal: init?.signal as AbortSignal,
      msMax: exchangeMsMax,
      bytesMax: limits.platformAnswerBytesMax,
      // The token goes to the homeserver and to no other address.
      redirectsMax: 0,
    });
    const kept = Object.entries(headers).flatMap(([name, value]) =>
      typeof value === "string" ? [[name, value] as [string, string]] : [],
    );
    return new Response(body.length === 0 ? null : Buffer.from(body), { status, headers: kept });
  };
  const options = {
    baseUrl: homeserver,
    prefix: apiPrefix,
    accessToken,
    logger: silent,
    onlyData: true,
  } as const;
  return (onFailure) => {
    const fetchFn: typeof request = (...args) =>
      request(...args).catch((error: unknown) => {
        onFailure(error);
        throw error;
      });
    return new Api(new TypedEventEmitter(), { ...options, fetchFn });
  };
}

export function createMatrixClient(config: MatrixAccountConfig): MatrixClient {
  let opening: Promise<Open> | undefined;
  return {
    async call(method, path, options, schema) {
      const { what, signal, kind = "call", query, body, headers, prefix = apiPrefix } = options;
      const cancelled = () =>
        new EarshotError(
          "EAR_CHANNEL_UNAVAILABLE",
          `Cannot ${what} at the Matrix homeserver: the call was cancelled`,
        );
      if (signal.aborted) throw cancelled();
      opening ??= open(config);
      let failure: unknown;
      const http = (await opening)((error) => {
        failure = error;
      });
      const limit = deadline(signal, options.msMax ?? callMsMax);
      try {
        const answer: unknown = await http.authedRequest(
          method as Parameters<typeof http.authedRequest>[0],
          path,
          { ...query },
          body,
          { prefix, abortSignal: limit.signal, priority: "auto", headers: { ...headers } },
        );
        const read = schema.safeParse(answer);
        if (read.success) return read.data;
        throw new EarshotError(
          "EAR_CHANNEL_UNAVAILABLE",
          `Cannot ${what} at the Matrix homeserver: the answer has an unexpected form ` +
            `(${read.error.issues[0]?.path.join(".") ?? ""})`,
        );
      } catch (error) {
        if (signal.aborted) throw cancelled();
        throw matrixError(failure ?? error, what, kind, config.accessToken);
      } finally {
        limit.done();
      }
    },
  };
}
