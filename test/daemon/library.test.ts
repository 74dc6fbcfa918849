/**
 * The package as a library: what it exports, and a daemon in this process with a channel made
 * elsewhere.
 */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import * as earshot from "../../src/index.ts";
import { newFolder } from "../support/daemon/folder.ts";
import { plainCapabilities } from "../support/plain-capabilities.ts";

test("the documented names are there", () => {
  const names: Readonly<Record<string, unknown>> = { ...earshot };
  for (const name of [
    "decideEngagement",
    "explainEngagement",
    "composeTurnPrompt",
    "createChunker",
    "parseSessionKey",
    "formatSessionKey",
    "resolveRoute",
    "defineChannel",
    "defineAgent",
    "createEarshot",
    "stepEvent",
  ])
    expect(names[name], name).toBeTypeOf("function");
  expect(earshot.conversationMachine.id).toBe("conversation");
});

test("a channel made elsewhere is heard and answered on the message it came with", async () => {
  const sent: { text: string; replyTo: string | null }[] = [];
  let hear: ((id: string, text: string) => Promise<void>) | null = null;
  const mine = earshot.defineChannel({
    id: "mine",
    meta: { name: "Mine", description: "A channel of this test" },
    capabilities: plainCapabilities,
    textLimit: 1_000,
    typingIntervalMs: 5_000,
    accountSchema: z.strictObject({ room: z.string() }),
    local: false,
    open: ({ accountId, config, deliver, reportState }) => ({
      async start(signal) {
        hear = (id, text) =>
          deliver([
            {
              type: "message",
              message: earshot.inboundSchema.parse({
                channel: "mine",
                account: accountId,
                chat: { id: config.room, kind: "group" },
                id,
                author: { id: "ann", name: "Ann" },
                mentions: [{ id: "us", isSelf: true }],
                text,
              }),
            },
          ]);
        reportState("live");
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
      },
      outbound: {
        sendText: async ({ id, text }) => {
          sent.push({ text, replyTo: null });
          return { messageIds: [id] };
        },
        replyText: async ({ id, text, replyTo }) => {
          sent.push({ text, replyTo });
          return { messageIds: [id] };
        },
      },
    }),
  });
  const stateDir = newFolder();
  const config = {
    channels: { mine: { accounts: { default: { room: "kitchen" } } } },
    access: { groupPolicy: "open" },
  };
  writeFileSync(join(stateDir, "earshot.json5"), JSON.stringify(config), { mode: 0o600 });
  const daemon = await earshot.createEarshot({
    stateDir,
    port: 0,
    workers: 0,
    env: {},
    writeLog: () => undefined,
    channels: [mine as earshot.ChannelDefinition],
  });
  await expect.poll(() => hear).not.toBeNull();
  await (hear as unknown as (id: string, text: string) => Promise<void>)("m1", "are you there?");
  await expect.poll(() => sent.length, { timeout: 60_000 }).toBe(1);
  expect(sent[0]).toMatchObject({ replyTo: "m1" });
  const [why] = await daemon.runtime.why("m1");
  expect(why?.recorded).toMatchObject({ decision: "engage", rule: "mention" });
  await daemon.stop();
});
