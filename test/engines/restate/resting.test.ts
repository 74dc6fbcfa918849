/**
 * What comes for a conversation while that it rests is being stored is not lost: it goes on.
 */
import { once } from "node:events";
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import * as sdk from "@restatedev/restate-sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSystemClock } from "../../../src/adapters/system/clock.ts";
import type { Activation, Work } from "../../../src/engines/restate/activation.ts";
import { untold } from "../../../src/engines/restate/feed/node-mirror.ts";
import { createInbox } from "../../../src/engines/restate/inbox.ts";
import { inboxObject } from "../../../src/engines/restate/inbox-object.ts";
import { conversationObject } from "../../../src/engines/restate/objects.ts";
import { provideResolvers } from "../../../src/engines/restate/polyfill.ts";
import { registerNodes } from "../../../src/engines/restate/registration.ts";
import type { Offered } from "../../../src/engines/restate/wire.ts";
import { called } from "../../support/restate/offers.ts";
import { haveRestate, type RestateServer, startRestate } from "../../support/restate/server.ts";
import { groupKey } from "../../support/runtime/supervised.ts";

const key = groupKey("rests");
const second = called("rests", "2");

describe.skipIf(!haveRestate)("a conversation that comes to rest", () => {
  let restate: RestateServer;
  const taken: Offered[][] = [];
  /** What it stored as it rested. */
  const stored: number[] = [];
  let rested: () => void = () => undefined;
  const atRest = new Promise<void>((resolve) => {
    rested = resolve;
  });
  let hasMore: () => void = () => undefined;
  const more = new Promise<void>((resolve) => {
    hasMore = resolve;
  });

  /** Decides at once that it rests with what it has; the first time, more is handed over before that is stored. */
  function fake(): Activation {
    let heard = 0;
    return {
      take(offered) {
        taken.push([...offered]);
        heard += offered.length;
        if (heard > 1) hasMore();
      },
      async next(): Promise<Work> {
        const work = { changes: [], rests: true, dueAt: null, heard };
        if (heard === 1) {
          await createInbox(restate.ingress).offer(key, second);
          await more;
        }
        stored.push(work.heard);
        return work;
      },
      stored: () => true,
      drain: async () => undefined,
      end: async () => rested(),
    };
  }

  provideResolvers();
  const clock = createSystemClock();
  const handler = sdk.createEndpointHandler({
    services: [
      inboxObject(sdk),
      conversationObject(sdk, {
        clock,
        activate: fake,
        numbered: async () => undefined,
        rows: untold,
      }),
    ],
    logger: () => undefined,
  });
  const server = createServer(handler);
  const sessions = new Set<{ destroy(): void }>();
  server.on("session", (session) => sessions.add(session));

  beforeAll(async () => {
    restate = await startRestate();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    await registerNodes(restate.admin, `http://127.0.0.1:${port}`);
  });
  afterAll(async () => {
    for (const session of sessions) session.destroy();
    server.close();
    await restate?.stop();
  });

  test("goes on with what came meanwhile, and rests once it has heard of it", async () => {
    await createInbox(restate.ingress).offer(key, called("rests", "1"));
    await atRest;
    expect(taken.flat()).toHaveLength(2);
    expect(stored).toEqual([1, 2]);
  });
});
