/**
 * A plugin may bring its own copy of earshot, of its own version: what its errors say is done all
 * the same, and nothing that merely looks like one is taken for one.
 */

import { copyFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";
import { type Disposition, EarshotError, type ErrorCode } from "../../src/domain/errors.ts";
import {
  type ChannelDefinition,
  createEarshot,
  defineChannel,
  type SendRequest,
} from "../../src/index.ts";
import { newFolder } from "../support/daemon/folder.ts";
import { plainCapabilities } from "../support/plain-capabilities.ts";
import { property } from "../support/property.ts";

/** The module once more, as a second installed copy of the package has it. */
async function anotherCopy(): Promise<typeof EarshotError> {
  const path = join(newFolder(), "errors.ts");
  copyFileSync(resolve(import.meta.dirname, "../../src/domain/errors.ts"), path);
  const { EarshotError: theirs } = (await import(path)) as { EarshotError: typeof EarshotError };
  expect(theirs).not.toBe(EarshotError);
  return theirs;
}

test("an error of another copy is one of ours, both ways, with what it says", async () => {
  const Theirs = await anotherCopy();
  const theirs: unknown = new Theirs("EAR_CHANNEL_RATE", "Cannot send", { retryAfterMs: 50 });
  expect(theirs instanceof EarshotError).toBe(true);
  expect(new EarshotError("EAR_ASSERT", "Cannot") instanceof Theirs).toBe(true);
  expect(theirs instanceof EarshotError && [theirs.disposition, theirs.retryAfterMs]).toEqual([
    "retry",
    50,
  ]);
});

test("a subclass knows its own instances and those of its subclasses, of no other class", async () => {
  const Theirs = await anotherCopy();
  class Narrow extends EarshotError {}
  class Narrower extends Narrow {}
  class Other extends Theirs {}
  const narrow: unknown = new Narrow("EAR_ASSERT", "Cannot");
  const narrower: unknown = new Narrower("EAR_ASSERT", "Cannot");
  expect([narrow instanceof Narrow, narrow instanceof EarshotError]).toEqual([true, true]);
  expect([narrower instanceof Narrow, narrow instanceof Narrower]).toEqual([true, false]);
  expect(new EarshotError("EAR_ASSERT", "Cannot") instanceof Narrow).toBe(false);
  const other: unknown = new Other("EAR_ASSERT", "Cannot");
  expect([other instanceof Narrow, other instanceof EarshotError]).toEqual([false, true]);
});

test("what looks like one is none", () => {
  const looks = { name: "EarshotError", code: "EAR_ASSERT", disposition: "retry", message: "no" };
  expect(looks instanceof EarshotError).toBe(false);
  expect(Object.assign(new Error("no"), looks) instanceof EarshotError).toBe(false);
  expect(structuredClone(new EarshotError("EAR_ASSERT", "no")) instanceof EarshotError).toBe(false);
});

property([fc.anything({ withNullPrototype: true })])(
  "nothing else is one, whatever it is made of",
  (value: unknown) => {
    expect(value instanceof EarshotError).toBe(false);
    const worn = Object.assign(new Error("no"), { cause: value });
    expect(worn instanceof EarshotError).toBe(false);
  },
);

test("one of a later version whose disposition we do not know is no error of ours", async () => {
  const Theirs = await anotherCopy();
  const later = (disposition: string) =>
    Object.assign(new Theirs("EAR_LATER" as ErrorCode, "Cannot"), {
      disposition: disposition as Disposition,
    });
  expect((later("tomorrow") as unknown) instanceof EarshotError).toBe(false);
  expect((later("retry") as unknown) instanceof EarshotError).toBe(true);
});

test("what a channel refuses by its own copy's error is refused, and not in doubt", async () => {
  const Theirs = await anotherCopy();
  const tries: string[] = [];
  let hear: (() => Promise<void>) | null = null;
  const sendText = async ({ id }: SendRequest) => {
    tries.push(id);
    throw new Theirs("EAR_CHANNEL_REJECTED", "Cannot send as the room is closed");
  };
  const mine = defineChannel({
    id: "mine",
    meta: { name: "Mine", description: "A channel of this test" },
    capabilities: plainCapabilities,
    textLimit: 1_000,
    typingIntervalMs: 5_000,
    accountSchema: z.strictObject({}),
    local: true,
    open: ({ accountId, deliver, reportState }) => ({
      async start(signal) {
        const message = {
          channel: "mine",
          account: accountId,
          id: "m1",
          text: "hi",
          thread: null,
          chat: { id: "d", kind: "direct" as const },
          mentionsEveryone: false,
          mentions: [],
          author: { id: "ann", name: "Ann", isBot: false, isSelf: false },
          replyTo: null,
          attachments: [],
          explicitOnly: false,
          sentAt: Date.now(),
        };
        hear = () => deliver([{ type: "message", message }]);
        reportState("live");
        await new Promise((stopped) => signal.addEventListener("abort", stopped));
      },
      outbound: { sendText, replyText: sendText },
    }),
  });
  const stateDir = newFolder();
  const config = {
    channels: { mine: { accounts: { default: {} } } },
    access: { dmPolicy: "open" },
  };
  writeFileSync(join(stateDir, "earshot.json5"), JSON.stringify(config), { mode: 0o600 });
  const daemon = await createEarshot({
    stateDir,
    port: 0,
    workers: 0,
    env: {},
    channels: [mine as ChannelDefinition],
    writeLog: () => undefined,
  });
  await expect.poll(() => hear !== null).toBe(true);
  await (hear as unknown as () => Promise<void>)();
  const dead = async () =>
    /^earshot_sends_total\{status="dead"\} (\d+)$/mu.exec(
      await (await fetch(`${daemon.base}/metrics`)).text(),
    )?.[1];
  await expect.poll(dead, { timeout: 60_000 }).toBe("1");
  expect(tries).toHaveLength(1);
  await daemon.stop({ drainMs: 0 });
});
