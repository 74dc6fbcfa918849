/**
 * A node: what Restate calls
 * ==========================
 * Serves the virtual objects over HTTP/2, and makes Restate know the address. Several nodes serve one address
 * (a load balancer's): Restate chooses none of them for a conversation, it only never has two calls of one
 * conversation under way.
 */
import { once } from "node:events";
import { createServer, type ServerHttp2Session } from "node:http2";
import type { AddressInfo } from "node:net";
import { EarshotError } from "../../domain/errors.ts";
import type { Millis } from "../../domain/message.ts";
import { type Activation, type ActivationPorts, activate } from "./activation.ts";
import type { Sdk } from "./calls/handlers.ts";
import { feedObject } from "./feed/object.ts";
import { sharedFileObject } from "./files/object.ts";
import { inboxObject } from "./inbox-object.ts";
import { leaseObject } from "./leases/object.ts";
import { numbersObject } from "./numbers/object.ts";
import { conversationObject, type ObjectPorts } from "./objects.ts";
import { fileObject } from "./outlet/files.ts";
import { outletObject } from "./outlet/object.ts";
import { provideResolvers } from "./polyfill.ts";
import { type Serves, servedBy } from "./registration.ts";
import { cursorObject, rowsObject } from "./shared/objects.ts";
import { accessService, gapService, scheduleService } from "./shared/wire.ts";

export interface NodeOptions extends ActivationPorts {
  /** Gets what the SDK has to say of calls, such as why one is made again. */
  readonly onSaid: (line: {
    readonly level: string;
    /** The object, its key and its handler; null: it concerns no call. */
    readonly target: string | null;
    readonly message: string;
  }) => void;
  /** See `ObjectPorts`. */
  readonly ready?: Promise<void>;
  /** @default 127.0.0.1 */
  readonly host?: string;
  /** @default a free one */
  readonly port?: number;
  /**
   * Public keys of the Restate that may call, as it prints them; without one anybody who reaches the port may.
   * @default none
   */
  readonly identityKeys?: readonly string[];
}

export interface RestateNode {
  readonly port: number;
  /** Names of the handlers that this version has, by object. */
  readonly serves: Serves;
  /** Takes no more conversations, and lets what is under way in those that are active finish for at most `ms`. */
  drain(ms: Millis): Promise<void>;
  /**
   * Takes no more conversations, lets what is under way in those that are active finish for at most `drainMs`, and
   * ends their calls, which Restate makes again elsewhere. @default 0
   */
  close(drainMs?: Millis): Promise<void>;
}

/** @throws EarshotError EAR_CONFIG_INVALID when the package is not installed. */
async function loadSdk(): Promise<Sdk> {
  provideResolvers();
  try {
    return await import("@restatedev/restate-sdk");
  } catch (cause) {
    if ((cause as { code?: unknown } | null)?.code !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw new EarshotError(
      "EAR_CONFIG_INVALID",
      "Cannot run conversations on Restate (engine.kind): its SDK is not installed. " +
        "Run npm install @restatedev/restate-sdk beside earshot, or set engine.kind to pool.",
      { cause },
    );
  }
}

/** Loads the SDK and listens. @throws EarshotError EAR_PORT_TAKEN, EAR_CONFIG_INVALID */
export async function openNode(options: NodeOptions): Promise<RestateNode> {
  const { onSaid, host = "127.0.0.1", port = 0, identityKeys = [] } = options;
  /** What is active here, with its ends. */
  const active = new Set<Activation>();
  const ends = new Set<Promise<void>>();
  let isClosing = false;
  const activateHere: ObjectPorts["activate"] = (key, rows, isAgain) => {
    if (isClosing)
      throw new EarshotError("EAR_STATE_LOCKED", `Cannot begin ${key}: this node stops.`);
    const activation = activate(key, rows, isAgain, options);
    active.add(activation);
    return {
      ...activation,
      end() {
        active.delete(activation);
        const end = activation
          .end()
          .catch((error: unknown) =>
            options.log("warn", "engine.end", { key, error: String(error) }),
          )
          .finally(() => ends.delete(end));
        ends.add(end);
        return end;
      },
    };
  };
  const sdk = await loadSdk();
  const services = [
    inboxObject(sdk),
    conversationObject(sdk, {
      clock: options.clock,
      activate: activateHere,
      ready: options.ready,
      rows: options.rows,
      numbered: (last) => options.numbers.above(last),
    }),
    feedObject(sdk),
    numbersObject(sdk),
    leaseObject(sdk),
    outletObject(sdk),
    fileObject(sdk),
    sharedFileObject(sdk),
    rowsObject(sdk, accessService),
    rowsObject(sdk, scheduleService),
    rowsObject(sdk, gapService),
    cursorObject(sdk),
  ];
  const handler = sdk.createEndpointHandler({
    services,
    identityKeys: [...identityKeys],
    logger: ({ level, replaying, context }, message: unknown) => {
      if (!replaying)
        onSaid({
          level: String(level),
          target: context?.invocationTarget ?? null,
          message: String(message),
        });
    },
  });
  const server = createServer(handler);
  const sessions = new Set<ServerHttp2Session>();
  server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
  });
  server.listen(port, host);
  try {
    await once(server, "listening");
  } catch (cause) {
    throw new EarshotError(
      "EAR_PORT_TAKEN",
      `Cannot serve Restate at ${host}:${port}: ${String(cause)}. Choose another port.`,
      { cause },
    );
  }
  let closed: Promise<unknown> | null = null;
  const refuseMore = () => {
    isClosing = true;
    if (closed !== null) return;
    closed = once(server, "close");
    server.close();
  };
  const drain = async (ms: Millis) => {
    refuseMore();
    if (ms > 0) await Promise.allSettled([...active].map((activation) => activation.drain(ms)));
  };
  return {
    port: (server.address() as AddressInfo).port,
    serves: servedBy(services),
    drain,
    async close(drainMs = 0) {
      await drain(drainMs);
      for (const session of sessions) session.destroy();
      await closed;
      await Promise.all([...ends, ...[...active].map((activation) => activation.end())]);
    },
  };
}
