/**
 * grammY, for the Telegram client
 * ===============================
 * The only module that loads grammY and builds its `Api`: methods called by name, errors converted.
 * Loaded on the first call of an account.
 */
import { Api, InputFile } from "grammy";
import type { EarshotError } from "../../../domain/errors.ts";
import { limits } from "../../../domain/limits.ts";
import type { TelegramAccountConfig } from "./config.ts";
import { type CallKind, telegramError } from "./errors.ts";

export interface TelegramApi {
  /** Calls a method of the Bot API. Rejects with grammY's errors: see `errorOf`. */
  call(method: string, args: readonly unknown[]): Promise<never>;
  /** Wraps bytes as a file argument. */
  file(data: Uint8Array, name: string): InputFile;
  /** Converts a thrown error to an EarshotError without the token. */
  errorOf(error: unknown, method: string, kind: CallKind): EarshotError;
}

export function openTelegramApi(config: TelegramAccountConfig): TelegramApi {
  // `size` is node-fetch's limit of a body, unknown to the types of the global fetch.
  const baseFetchConfig: object = { redirect: "error", size: limits.platformAnswerBytesMax };
  const api = new Api(config.botToken, { apiRoot: config.apiRoot, baseFetchConfig });
  // grammY types each method; called by name they all have this form (getMe takes no payload).
  const methods = api.raw as unknown as Readonly<
    Record<string, (...args: unknown[]) => Promise<never>>
  >;
  return {
    call: (method, args) =>
      (methods[method] as (...args: readonly unknown[]) => Promise<never>)(...args),
    file: (data, name) => new InputFile(data, name),
    errorOf: (error, method, kind) => telegramError(error, method, kind, config.botToken),
  };
}
