/**
 * What is kept at Restate does not grow for ever: rows that are too old are deleted when the conversation rests, also
 * where nobody speaks any more, and calls that are done leave nothing.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engineLimits } from "../../../src/domain/ports/engine/engine-limits.ts";
import type { KeptRow } from "../../../src/domain/ports/index.ts";
import { createInbox } from "../../../src/engines/restate/inbox.ts";
import { registerNodes } from "../../../src/engines/restate/registration.ts";
import { openTalkingNode, type TalkingNode } from "../../support/restate/node.ts";
import { askObject, called } from "../../support/restate/offers.ts";
import { haveRestate, type RestateServer, startRestate } from "../../support/restate/server.ts";
import { groupKey } from "../../support/runtime/supervised.ts";

/** Longer than a turn and a rest here. */
const retentionMs = 4_000;

describe.skipIf(!haveRestate)("rows at Restate", () => {
  let restate: RestateServer;
  let node: TalkingNode;

  beforeAll(async () => {
    restate = await startRestate();
    node = await openTalkingNode(0, { waitMs: 50 }, { retentionMs: () => retentionMs });
    await registerNodes(restate.admin, `http://127.0.0.1:${node.port}`);
  });
  afterAll(async () => {
    await node?.close();
    await restate?.stop();
  });

  async function tables(key: string): Promise<readonly string[]> {
    const { body } = await askObject(restate.ingress, "conversation", key, "rows");
    return [...new Set((body as readonly KeptRow[]).map(({ table }) => table))];
  }
  async function query<Row>(text: string): Promise<readonly Row[]> {
    const answer = await fetch(`${restate.admin}/query`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify({ query: text }),
    });
    return ((await answer.json()) as { rows: readonly Row[] }).rows;
  }

  test("are deleted once they are too old, though nobody has spoken since; what is known of it stays", async () => {
    const key = groupKey("old");
    const inbox = createInbox(restate.ingress);
    await inbox.offer(key, called("old", "1"));
    await node.says(key, 1);
    await node.rested(key);
    expect(await tables(key)).toEqual(expect.arrayContaining(["journal", "applied", "outbox"]));
    await expect.poll(() => tables(key), { timeout: 20_000 }).not.toContain("journal");
    await node.rested(key);
    const left = await tables(key);
    expect(left).toEqual(expect.arrayContaining(["conversation", "transcript"]));
    for (const gone of ["journal", "applied", "outbox"]) expect(left).not.toContain(gone);
    expect(node.sent(key)).toHaveLength(1);
    await inbox.offer(key, called("old", "2"));
    await node.says(key, 2);
    await node.rested(key);
  });

  test("a conversation that speaks again and again has one call for that, however often it rests", async () => {
    const key = groupKey("often");
    const inbox = createInbox(restate.ingress);
    for (let said = 1; said <= 3; said += 1) {
      await inbox.offer(key, called("often", String(said)));
      await node.says(key, said);
      await node.rested(key);
    }
    const waiting = await query<{ calls: number }>(
      "SELECT count(*) AS calls FROM sys_invocation WHERE status = 'scheduled' " +
        `AND target_service_name = 'conversation' AND target_service_key = '${key}'`,
    );
    // And one for what is due.
    expect(waiting[0]?.calls).toBeLessThanOrEqual(2);
    expect(waiting[0]?.calls).toBeGreaterThan(0);
  });

  test("calls that are done leave nothing, and one that no node answers never stops the calls behind it", async () => {
    const done = await query<{ calls: number }>(
      "SELECT count(*) AS calls FROM sys_invocation WHERE status = 'completed'",
    );
    expect(done[0]?.calls).toBe(0);
    const answer = await fetch(`${restate.admin}/services`);
    const { services } = (await answer.json()) as {
      services: readonly {
        readonly name: string;
        readonly journal_retention?: string | null;
        readonly retry_policy?: { readonly max_attempts?: number } | null;
      }[];
    };
    expect(services.length).toBeGreaterThan(6);
    for (const { name, retry_policy: policy } of services)
      expect({ name, attempts: policy?.max_attempts }).toEqual({
        name,
        attempts: engineLimits.attemptsMax,
      });
  });
});
