/** Files that people sent, fetched with the bot's token from its own homeserver. */
import { EarshotError } from "../../../domain/errors.ts";
import { limits } from "../../../domain/limits.ts";
import { createHttpClient } from "../../http/http-client.ts";
import { authedPrefix, mediaPrefix, pathOf } from "./client.ts";
import type { MatrixAccountConfig } from "./config.ts";

const fileMsMax = 60_000;

/**
 * The contents of a file by its address (mxc://server/id).
 * @throws EarshotError EAR_CHANNEL_REJECTED if it is no such address, EAR_HTTP_FAILED if it cannot be had
 */
export async function fetchFile(
  { homeserver, accessToken }: MatrixAccountConfig,
  address: string,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  const [, server = "", id = ""] = /^mxc:\/\/([^/?#]+)\/([^/?#]+)$/.exec(address) ?? [];
  if (id === "")
    throw new EarshotError(
      "EAR_CHANNEL_REJECTED",
      "Cannot fetch a file: it has no address at Matrix",
    );
  const http = createHttpClient({ allowPrivate: [new URL(homeserver).origin] });
  const get = (path: string) =>
    http.stream(`${homeserver}${path}`, {
      headers: { authorization: `Bearer ${accessToken}` },
      signal,
      msMax: fileMsMax,
      bytesMax: limits.platformFileBytesMax,
      redirectsMax: 0,
    });
  try {
    return await get(`${authedPrefix}/media/download${pathOf(server, id)}`);
  } catch (error) {
    // Homeservers of before version 1.11 of the specification have it at another place.
    if (!(error instanceof EarshotError) || !/answered 404$/.test(error.message)) throw error;
    return get(`${mediaPrefix}/download${pathOf(server, id)}`);
  }
}
