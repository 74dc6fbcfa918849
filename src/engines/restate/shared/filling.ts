/**
 * What nodes share is given to Restate
 * ====================================
 * Rows that were kept elsewhere are stored and read back: they are there when both have the same hash. What an attempt
 * that was cut short has stored is left, and the rest stored; where something else is stored already, it stays.
 */
import { EarshotError } from "../../../domain/errors.ts";
import { engineLimits } from "../../../domain/ports/engine/engine-limits.ts";
import type { Digest } from "../../../domain/ports/index.ts";
import { batchesOf } from "../calls/batches.ts";
import { answerOf, type IngressCall } from "../calls/ingress-call.ts";
import { accountKey } from "./shared-rows.ts";
import { answerSchema, cursorService, cursorsSchema, rowsKey } from "./wire.ts";

/** `same`: it was there, with the same rows. `other`: it has others, which were left as they are. */
export type Filled = "filled" | "same" | "other";

export interface SharedFillPorts {
  readonly call: IngressCall;
  readonly digest: Digest;
}

type Values = Readonly<Record<string, string>>;

/** How rows that have names are read and stored in one place. */
interface Place {
  readonly name: string;
  read(): Promise<Values>;
  add(rows: Values): Promise<void>;
}

/** @throws EarshotError EAR_STORE_FAILED: Restate cannot be reached, or has stored something else. */
async function fill(digest: Digest, { name, read, add }: Place, wanted: Values): Promise<Filled> {
  const there = await read();
  if (Object.entries(there).some(([row, value]) => wanted[row] !== value)) return "other";
  const missing = Object.entries(wanted).filter(([row]) => there[row] === undefined);
  if (missing.length === 0) return "same";
  for (const batch of batchesOf(missing, unitsIn, engineLimits.fillUnitsMax))
    await add(Object.fromEntries(batch));
  if (hashOf(digest, await read()) === hashOf(digest, wanted)) return "filled";
  throw new EarshotError(
    "EAR_STORE_FAILED",
    `Cannot give ${name} to Restate: what it has stored is not what was sent.`,
  );
}

/** Rows of the object `access` or `schedules`. */
export function fillRows(
  { call, digest }: SharedFillPorts,
  service: string,
  rows: readonly { readonly name: string; readonly body: string }[],
): Promise<Filled> {
  const path = `${service}/${rowsKey}`;
  let version = 0;
  const ask = async (handler: string, input: object) =>
    answerOf(answerSchema, await call(`${path}/${handler}`, input), path);
  const place: Place = {
    name: path,
    async read() {
      const answer = await ask("since", { known: 0 });
      version = answer.version;
      return Object.fromEntries(
        answer.rows.flatMap(({ name, body }) => (body === null ? [] : [[name, body] as const])),
      );
    },
    async add(more) {
      const own = Object.entries(more).map(([name, body]) => ({ name, body }));
      const answer = await ask("change", { known: version, rows: own });
      version = answer.version;
    },
  };
  const wanted = Object.fromEntries(rows.map(({ name, body }) => [name, body]));
  return fill(digest, place, wanted);
}

/** How far an account has read. */
export function fillCursors(
  { call, digest }: SharedFillPorts,
  channel: string,
  account: string,
  values: Values,
): Promise<Filled> {
  const path = `${cursorService}/${accountKey(channel, account)}`;
  const place: Place = {
    name: path,
    read: async () => answerOf(cursorsSchema, await call(`${path}/all`), path),
    async add(more) {
      for (const [identity, value] of Object.entries(more))
        await call(`${path}/set`, { identity, value });
    },
  };
  return fill(digest, place, values);
}

/** The order of rows does not matter. */
const hashOf = (digest: Digest, rows: Values): string =>
  digest(JSON.stringify(Object.entries(rows).sort(([a], [b]) => (a < b ? -1 : 1))));

const unitsIn = ([name, value]: readonly [string, string]): number => name.length + value.length;
