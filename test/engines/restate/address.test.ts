/**
 * Nodes that get another address (`engine.nodes`): what began at the old one goes on at the new one.
 */
import { once } from "node:events";
import { createServer, type ServerHttp2Session } from "node:http2";
import type { AddressInfo } from "node:net";
import * as sdk from "@restatedev/restate-sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createInbox } from "../../../src/engines/restate/inbox.ts";
import { provideResolvers } from "../../../src/engines/restate/polyfill.ts";
import { registerNodes } from "../../../src/engines/restate/registration.ts";
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

  /** Something else that the same server calls. */
  async function openOther(): Promise<{ readonly uri: string; close(): Promise<void> }> {
    provideResolvers();
    const other = sdk.object({ name: "other", handlers: { go: async () => 1 } });
    const server = createServer(sdk.createEndpointHandler({ services: [other] }));
    const sessions = new Set<ServerHttp2Session>();
    server.on("session", (session) => sessions.add(session));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const uri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    await fetch(`${restate.admin}/deployments`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ uri }),
    });
    return {
      uri,
      async close() {
        for (const session of sessions) session.destroy();
        server.close();
        await once(server, "close");
      },
    };
  }

  test("calls that are under way go on there, and what is not ours stays where it is", async () => {
    const other = await openOther();
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
});
