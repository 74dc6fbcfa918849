/**
 * The Graph API
 * =============
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/reference
 * Each request has a connection of its own, so a send that fails to connect was not sent. The token is in
 * a header, never in an address.
 */
import type { z } from "zod";
import type { EarshotError } from "../../../domain/errors.ts";
import { limits } from "../../../domain/limits.ts";
import { createHttpClient, type HttpAnswer } from "../../http/http-client.ts";
import type { WhatsAppAccountConfig } from "./config.ts";
import { type CallKind, networkError, refusalError } from "./errors.ts";
import { refusalSchema } from "./wire.ts";

export interface ApiCall<Answer> {
  readonly kind: CallKind;
  readonly signal: AbortSignal;
  readonly schema: z.ZodType<Answer>;
  /** Absent: GET. */
  readonly body?: { readonly type: string; readonly data: string | Uint8Array };
  /** What it is, for errors: "send a message". */
  readonly what: string;
}

export interface WhatsAppApi {
  /** @throws EarshotError with the disposition that fits `kind` */
  call<Answer>(path: string, call: ApiCall<Answer>): Promise<Answer>;
  /** Posts JSON to the number's messages. */
  message<Answer>(
    body: Readonly<Record<string, unknown>>,
    call: Omit<ApiCall<Answer>, "body">,
  ): Promise<Answer>;
  /** Is given the error of each call that failed. */
  onFailure: (error: EarshotError) => void;
}

const callMsMax = 15_000;

export function openWhatsAppApi(config: WhatsAppAccountConfig): WhatsAppApi {
  const http = createHttpClient({ allowPrivate: [new URL(config.apiRoot).origin] });
  const failing = (error: EarshotError): EarshotError => {
    api.onFailure(error);
    return error;
  };
  const api: WhatsAppApi = {
    onFailure: () => undefined,
    async call(path, { kind, signal, schema, body, what }) {
      const failed = `Cannot ${what} at WhatsApp`;
      const answer = await http
        .fetch(`${config.apiRoot}/${path}`, {
          method: body === undefined ? "GET" : "POST",
          headers: {
            authorization: `Bearer ${config.accessToken}`,
            ...(body !== undefined && {
              "content-type": body.type,
              "content-length": String(Buffer.byteLength(body.data)),
            }),
          },
          ...(body !== undefined && { body: body.data }),
          signal,
          msMax: kind === "send" ? limits.sendMsMax : callMsMax,
          bytesMax: limits.platformAnswerBytesMax,
          redirectsMax: 0,
        })
        .catch((error: unknown) => {
          throw failing(networkError(error, failed, kind));
        });
      const json = jsonOf(answer);
      const read = answer.status < 300 ? schema.safeParse(json) : null;
      if (read?.success === true) return read.data;
      const refused = refusalSchema.safeParse(json);
      const { code = null, is_transient } = refused.data?.error ?? {};
      const retryAfter = answer.headers["retry-after"];
      throw failing(
        refusalError(
          {
            status: answer.status,
            code,
            isTransient: is_transient === true,
            retryAfter: typeof retryAfter === "string" ? retryAfter : undefined,
          },
          failed,
          kind,
        ),
      );
    },
    message(body, call) {
      const data = JSON.stringify({ messaging_product: "whatsapp", ...body });
      const json = { type: "application/json", data };
      return api.call(`${config.phoneNumberId}/messages`, { ...call, body: json });
    },
  };
  return api;
}

function jsonOf({ body }: HttpAnswer): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString("utf8"));
  } catch {
    return undefined;
  }
}
