/**
 * Nodes that get another address (`engine.nodes`): what began at the old one goes on at the new one.
 */
import { once } from "node:events";
import { createServer, type ServerHttp2Session } from "node:http2";
import type { AddressInfo } from "node:net";
import * as sdk from "@restatedev/restate-sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSystemClock } from "../../../src/adapters/system/clock.ts";
import { createInbox } from "../../../src/engines/restate/inbox.ts";
import { provideResolvers } from "../../../src/engines/restate/polyfill.ts";
import { keepRegistered, registerNodes } from "../../../src/engines/restate/registration.ts";
import { openBalancer } from "../../support/restate/balancer.ts";
import { openTalkingNode } from "../../support/restate/node.ts";
import { called } from "../../support/restate/offers.ts";
import { haveRestate, type RestateServer, startRestate } from "../../support/restate/server.ts";
import { groupKey } from "../../support/runtime/supervised.ts";

describe.skipIf(!haveRestate)("another address of the nodes", () => {
  let restate: RestateServer;
  beforeAll(async () => {
    restate = await startRestate();
  });
  afterAll(() => restate?.stop());

  const addresses = async () => {
    const answer = await fetch(`${restate.admin}/deployments`);
    const { deployments } = (await answer.json()) as { deployments: readonly { uri: string }[] };
    return deployments.map(({ uri }) => uri);
  };

  /** An object of that name, served by something that is no node of this version. */
  async function openOther(
    name: string,
  ): Promise<{ readonly uri: string; readonly port: number; close(): Promise<void> }> {
    provideResolvers();
    const other = sdk.object({ name, handlers: { go: async () => 1 } });
    const server = createServer(sdk.createEndpointHandler({ services: [other] }));
    const sessions = new Set<ServerHttp2Session>();
    server.on("session", (session) => sessions.add(session));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    return {
      uri: `http://127.0.0.1:${port}/`,
      port,
      async close() {
        for (const session of sessions) session.destroy();
        server.close();
        await once(server, "close");
      },
    };
  }

  test("calls that are under way go on there, and what is not ours stays where it is", async () => {
    const other = await openOther("other");
    await registerNodes(restate.admin, other.uri);
    const key = groupKey("moves");
    const old = await openTalkingNode(0, { waitMs: 50, afterMs: 60_000 });
    await registerNodes(restate.admin, `http://127.0.0.1:${old.port}`);
    const inbox = createInbox(restate.ingress);
    await inbox.offer(key, called("moves", "1"));
    await old.begins(1);
    await old.close();
    const next = await openTalkingNode(0, { waitMs: 50 });
    const address = `http://127.0.0.1:${next.port}`;
    await registerNodes(restate.admin, address);
    await next.says(key, 1);
    await inbox.offer(key, called("moves", "2"));
    await next.says(key, 2);
    await next.rested(key);
    expect(new Set(await addresses())).toEqual(new Set([`${address}/`, other.uri]));
    await next.close();
    await other.close();
  });

  test("what a node of an older version has taken away is served again when that node is gone", async () => {
    const older = await openOther("inbox");
    const newer = await openTalkingNode();
    const balancer = await openBalancer([newer.port, older.port]);
    const uri = `http://127.0.0.1:${balancer.port}`;
    const known = async () => {
      const answer = await fetch(`${restate.admin}/services`);
      const { services } = (await answer.json()) as {
        services: readonly { name: string; handlers: readonly { name: string }[] }[];
      };
      return services.flatMap(({ name, handlers }) => handlers.map((one) => `${name}/${one.name}`));
    };
    // As the older one does when it starts, which takes away what it does not know.
    await registerNodes(restate.admin, uri);
    expect(await known()).not.toContain("inbox/put");
    const ending = new AbortController();
    const logged: string[] = [];
    const kept = keepRegistered(
      {
        clock: createSystemClock(),
        log: (_level, event) => void logged.push(event),
        admin: restate.admin,
        uri,
        serves: newer.serves,
      },
      ending.signal,
    );
    await expect.poll(() => logged).toContain("engine.older-nodes");
    // Restate asks at the connection that it has, so what is new is known once that ends.
    await older.close();
    await expect.poll(known, { timeout: 30_000 }).toContain("inbox/put");
    expect(await known()).toEqual(
      expect.arrayContaining(
        [...newer.serves].flatMap(([name, all]) => all.map((one) => `${name}/${one}`)),
      ),
    );
    ending.abort();
    await kept;
    await Promise.all([balancer.close(), newer.close()]);
  });
});
