/**
 * Files on their way to the connection
 * ====================================
 * The virtual object `outlet-files` has a key for each attempt, and the file in parts that fit into a call. They are
 * deleted an hour later, when nobody can ask for the attempt any more.
 */
import type { ObjectContext, ObjectSharedContext, Serde } from "@restatedev/restate-sdk";
import { z } from "zod";
import { engineLimits } from "../../../domain/ports/engine/engine-limits.ts";
import { parsed, type Sdk, shortCalls } from "../calls/handlers.ts";
import type { IngressCall } from "../calls/ingress-call.ts";

const fileService = "outlet-files";
const path = (attempt: string, handler: string) =>
  `${fileService}/${encodeURIComponent(attempt)}/${handler}`;
const place = z.number().int().min(0).max(engineLimits.outletPartsMax);
const partSchema = z.object({ place, data: z.string().max(engineLimits.outletPartUnitsMax) });
const readSchema = z.object({ place });

/** Stores a file, in Base64; resolves to the number of its parts. @throws EarshotError EAR_STORE_FAILED */
export async function storeFile(call: IngressCall, attempt: string, file: string): Promise<number> {
  const size = engineLimits.outletPartUnitsMax;
  const parts = Math.ceil(file.length / size);
  for (let part = 0; part < parts; part += 1) {
    const data = file.slice(part * size, (part + 1) * size);
    await call(path(attempt, "add"), { place: part, data });
  }
  return parts;
}

/** Reads it again. @throws EarshotError EAR_STORE_FAILED */
export async function readFile(call: IngressCall, attempt: string, parts: number): Promise<string> {
  let file = "";
  for (let part = 0; part < parts; part += 1)
    file += z.string().parse(await call(path(attempt, "read"), { place: part }));
  return file;
}

export function fileObject(sdk: Sdk) {
  const json = sdk.serde.json as Serde<unknown>;
  return sdk.object({
    name: fileService,
    handlers: {
      add: async (ctx: ObjectContext, input: unknown): Promise<null> => {
        const part = parsed(sdk, partSchema, input);
        if (part.place === 0)
          ctx.genericSend({
            service: fileService,
            method: "clear",
            key: ctx.key,
            parameter: null,
            inputSerde: json,
            delay: engineLimits.outletKnownMs,
          });
        ctx.set(`part/${part.place}`, part.data);
        return null;
      },
      read: sdk.handlers.object.shared(
        async (ctx: ObjectSharedContext, input: unknown): Promise<string> =>
          (await ctx.get<string>(`part/${parsed(sdk, readSchema, input).place}`)) ?? "",
      ),
      /** Deletes it. */
      clear: async (ctx: ObjectContext): Promise<null> => {
        ctx.clearAll();
        return null;
      },
    },
    // A call needs one part of it and not all.
    options: { ...shortCalls, enableLazyState: true },
  });
}
