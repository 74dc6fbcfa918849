/**
 * Any mix of faults on the way in: what people said arrives whole and in order, because the cursor
 * never moves past what is not durable. The mix is random; its seed is printed by fast-check on
 * failure.
 */
import fc from "fast-check";
import { expect } from "vitest";
import { telegramChannel } from "../../../../src/adapters/channels/telegram/channel.ts";
import type { ChannelDefinition } from "../../../../src/domain/ports/index.ts";
import { openChannel } from "../../../../src/testing/open-channel.ts";
import { property } from "../../../support/property.ts";
import type { Fault } from "../../../support/servers/faults.ts";
import { sampleToken, startTelegramServer } from "../../../support/servers/telegram.ts";

/** What the server does to one poll, what the store does to one delivery, or what people do. */
type Step =
  | { readonly poll: Fault }
  | { readonly refuse: number }
  | { readonly say: number }
  | { readonly noise: true }
  | { readonly restart: true };

const faults = fc.constantFrom<Fault>(
  { kind: "refuse", status: 500 },
  { kind: "refuse", status: 409 },
  { kind: "html", status: 502 },
  { kind: "reset" },
  { kind: "reset", done: true },
  { kind: "duplicate" },
  { kind: "slow", ms: 20 },
);
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ say: fc.integer({ min: 1, max: 120 }) }) },
  { weight: 3, arbitrary: fc.record({ poll: faults }) },
  { weight: 1, arbitrary: fc.record({ refuse: fc.constant(1) }) },
  { weight: 1, arbitrary: fc.constant({ noise: true as const }) },
  { weight: 1, arbitrary: fc.constant({ restart: true as const }) },
);

/**
 * Each failed poll doubles the pause before the next, so a run of them would only test patience.
 */
const pollsMax = 3;
const storms = fc
  .array<Step>(step, { minLength: 3, maxLength: 12 })
  .map((steps) =>
    steps.filter(
      (one, at) =>
        !("poll" in one) ||
        steps.slice(0, at).filter((before) => "poll" in before).length < pollsMax,
    ),
  );

property([storms], { numRuns: 6, endOnFailure: true })(
  "everything said arrives, in order, whatever goes wrong on the way",
  async (steps) => {
    const server = await startTelegramServer();
    const ann = server.world.user("Ann");
    const group = server.world.group("Kitchen", [ann]);
    const config = { botToken: sampleToken, apiRoot: server.apiRoot, pollSeconds: 5 };
    const cursors = new Map<string, string>();
    const open = () => openChannel(telegramChannel as ChannelDefinition, config, cursors);
    const said: string[] = [];
    const heard: string[] = [];
    let channel = open();
    const speak = (count: number) => {
      for (let n = 0; n < count; n += 1)
        said.push(String(server.world.say(group, ann, `line ${said.length}`).message_id));
    };
    try {
      for (const one of steps) {
        if ("say" in one) speak(one.say);
        else if ("poll" in one) server.faults.add("getUpdates", one.poll);
        else if ("refuse" in one) channel.refuseDeliveries(one.refuse);
        else if ("noise" in one) server.world.post({ message: { text: 7 } });
        else {
          await channel.stop();
          heard.push(...channel.identities());
          channel = open();
        }
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      speak(1);
      await channel.message(said.at(-1) as string);
    } finally {
      await channel.stop();
      await server.close();
    }
    // A restart may repeat some, which the journal recognises by their identity; none is missing.
    heard.push(...channel.identities());
    expect([...new Set(heard)]).toEqual(said);
  },
);
