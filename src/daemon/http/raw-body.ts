/**
 * Unverified bodies
 * =================
 * The body of a hook is read as bytes, because a signature is over bytes, and is held until it is
 * complete. Each body has a limit, counted as it arrives, and all of them share another one: when
 * endless bodies fill it, the oldest is dropped, so clients that send quickly are served.
 */
import type { IncomingMessage } from "node:http";
import { ApiRefusal } from "./api-error.ts";

export interface BodyBudget {
  /**
   * The whole body, at most `bytesMax`.
   * @throws ApiRefusal `too-large`, `too-slow`, or `bad-request` if the connection was closed.
   */
  read(incoming: IncomingMessage, bytesMax: number): Promise<Buffer>;
  /** Bytes held now. */
  held(): number;
}

interface Arriving {
  bytes: number;
  giveUp(why: ApiRefusal): void;
}

export function createBodyBudget(bytesMaxOfAll: number): BodyBudget {
  const all = new Set<Arriving>();
  let held = 0;

  function read(incoming: IncomingMessage, bytesMax: number): Promise<Buffer> {
    const { "content-length": declared, "transfer-encoding": coded } = incoming.headers;
    // A declared length is ignored beside a transfer coding, and bytes are counted anyway.
    if (coded === undefined && Number(declared) > bytesMax) return Promise.reject(over(bytesMax));
    return new Promise((resolve, reject) => {
      const parts: Buffer[] = [];
      const end = (finish: () => void) => {
        incoming.off("data", take).off("end", whole).off("close", cut).off("error", cut);
        all.delete(arriving);
        held -= arriving.bytes;
        finish();
      };
      const arriving: Arriving = {
        bytes: 0,
        giveUp: (why) => end(() => reject(why)),
      };
      const take = (part: Buffer) => {
        arriving.bytes += part.length;
        held += part.length;
        parts.push(part);
        if (arriving.bytes > bytesMax) return arriving.giveUp(over(bytesMax));
        for (const oldest of all) {
          if (held <= bytesMaxOfAll) break;
          oldest.giveUp(new ApiRefusal("too-slow", "Cannot read the body: it came too slowly"));
        }
      };
      const whole = () => end(() => resolve(Buffer.concat(parts)));
      const cut = () =>
        end(() => reject(new ApiRefusal("bad-request", "Cannot read the body: it was cut")));
      all.add(arriving);
      incoming.on("data", take).on("end", whole).on("close", cut).on("error", cut);
    });
  }
  return { read, held: () => held };
}

const over = (bytesMax: number) =>
  new ApiRefusal("too-large", `Cannot read the body: it is over ${bytesMax} bytes`);
