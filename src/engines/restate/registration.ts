/**
 * Where Restate calls the nodes
 * =============================
 * Restate makes a call to the end at the address at which it began, whatever is registered afterwards. So where the
 * nodes have another address now, what they had before is set to that, and what is under way goes on there.
 *
 * Restate asks one of the nodes at the address what they serve, over a connection that it keeps. While some are of an
 * older version, that may be one of those, and what it does not name is not served any more. So the others look
 * whether Restate knows everything, and register again until it does: at the latest when the older ones are gone.
 */
import { z } from "zod";
import { EarshotError } from "../../domain/errors.ts";
import { engineLimits } from "../../domain/ports/engine/engine-limits.ts";
import type { Clock, Log } from "../../domain/ports/index.ts";
import { pauseFor } from "../../domain/ports/pause.ts";
import { conversationService, inboxService } from "./wire.ts";

/** Names of handlers by the name of their object. */
export type Serves = ReadonlyMap<string, readonly string[]>;

const definitionSchema = z.object({ name: z.string(), object: z.record(z.string(), z.unknown()) });

/** What these objects of the SDK serve. */
export const servedBy = (objects: readonly object[]): Serves =>
  new Map(
    objects.map((one) => {
      const { name, object } = definitionSchema.parse(one);
      return [name, Object.keys(object)];
    }),
  );

const servicesSchema = z.object({
  services: z.array(
    z.object({ name: z.string(), handlers: z.array(z.object({ name: z.string() })) }),
  ),
});

export interface RegistrationPorts {
  readonly clock: Clock;
  readonly log: Log;
  /** Base URL of the admin API. */
  readonly admin: string;
  /** Address of all nodes. */
  readonly uri: string;
  readonly serves: Serves;
}

/**
 * Makes Restate know everything that this version serves, now and whenever a node of an older version has
 * registered the address again. Ends with the signal; never rejects.
 */
export async function keepRegistered(
  { clock, log, admin, uri, serves }: RegistrationPorts,
  signal: AbortSignal,
): Promise<void> {
  let isWhole = true;
  while (!signal.aborted) {
    try {
      const missing = await missingOf(admin, serves);
      if (missing.length > 0) {
        if (isWhole) log("warn", "engine.older-nodes", { uri, missing: missing.join(" ") });
        isWhole = false;
        await registerNodes(admin, uri);
        await pauseFor(clock, engineLimits.registerAgainMs, signal);
        continue;
      }
      if (!isWhole) log("info", "engine.registered", { uri });
      isWhole = true;
    } catch (error) {
      // That the server does not answer is said by what looks at it.
      log("debug", "engine.unregistered", { error: String(error) });
    }
    await pauseFor(clock, engineLimits.registeredLookMs, signal);
  }
}

/** What Restate does not know of that. */
async function missingOf(admin: string, serves: Serves): Promise<readonly string[]> {
  const why = "Cannot read what Restate calls";
  const listed = await ask(admin, "GET", "services", undefined, why, "");
  const { services } = servicesSchema.parse(JSON.parse(listed));
  const known = new Set(
    services.flatMap(({ name, handlers }) => handlers.map((one) => `${name}/${one.name}`)),
  );
  return [...serves].flatMap(([name, handlers]) =>
    handlers.map((one) => `${name}/${one}`).filter((path) => !known.has(path)),
  );
}

const deploymentsSchema = z.object({
  deployments: z.array(
    z.object({
      id: z.string(),
      /** Absent: it is reached in another way than over HTTP. */
      uri: z.string().optional(),
      services: z.array(z.object({ name: z.string() })),
    }),
  ),
});

/**
 * Makes Restate call the nodes at `uri` for every conversation from now on.
 * @param admin base URL of its admin API
 * @throws EarshotError EAR_HTTP_FAILED: it cannot be reached, or stands still; EAR_HTTP_REFUSED: it cannot use that address.
 */
export async function registerNodes(admin: string, uri: string): Promise<void> {
  // First: a server that stands still is known by it soon, while registering may rightly take long.
  const why = "Cannot read the addresses that Restate calls";
  const listed = await ask(admin, "GET", "deployments", undefined, why, "");
  const { deployments } = deploymentsSchema.parse(JSON.parse(listed));
  const before = deployments.filter(
    ({ uri: other, services }) =>
      other !== undefined &&
      new URL(other).href !== new URL(uri).href &&
      [conversationService, inboxService].every((ours) =>
        services.some(({ name }) => name === ours),
      ),
  );
  const registering = `Cannot register ${uri} with Restate`;
  const must = "It must reach that address.";
  await ask(admin, "POST", "deployments", { uri, force: true }, registering, must);
  for (const { id, uri: old } of before) {
    const moving = `Cannot move what is under way at ${old} to ${uri}`;
    await ask(admin, "PATCH", `deployments/${id}`, { uri }, moving, must);
  }
}

async function ask(
  admin: string,
  method: "GET" | "POST" | "PATCH",
  path: string,
  input: object | undefined,
  doing: string,
  must: string,
): Promise<string> {
  const { serverLookMsMax, registerMsMax } = engineLimits;
  const msMax = method === "GET" ? serverLookMsMax : registerMsMax;
  const own = AbortSignal.timeout(msMax);
  let answer: Response;
  let text: string;
  try {
    answer = await fetch(`${admin}/${path}`, {
      method,
      ...(input !== undefined && {
        headers: { "content-type": "application/json" },
        body: JSON.stringify(input),
      }),
      signal: own,
    });
    text = await answer.text();
  } catch (cause) {
    const says = own.aborted
      ? `${admin} gives no answer in ${msMax} ms. Restart its server, or correct engine.admin.`
      : `there is no connection to ${admin}. Is it running?`;
    throw new EarshotError("EAR_HTTP_FAILED", `${doing}: ${says}`, { cause });
  }
  if (answer.ok) return text;
  throw new EarshotError(
    "EAR_HTTP_REFUSED",
    `${doing}: it answers ${answer.status} (${text.slice(0, 300)}). ${must}`.trim(),
  );
}
