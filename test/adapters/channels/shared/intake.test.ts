/** Events of a platform that sends them once, on their way to the runtime. */
import { expect, test } from "vitest";
import { createIntake } from "../../../../src/adapters/channels/shared/intake.ts";
import { createSystemClock } from "../../../../src/adapters/system/clock.ts";
import type { ChannelEvent } from "../../../../src/domain/ports/index.ts";

const event = (id: string): ChannelEvent => ({
  type: "delete",
  deletion: {
    channel: "test",
    account: "default",
    chat: { id: "room", kind: "group" },
    thread: null,
    id,
  },
});

test("what arrives at whatever moment is delivered, without another event behind it", async () => {
  for (let moment = 0; moment < 30; moment += 1) {
    const delivered: string[] = [];
    const intake = createIntake({
      context: {
        clock: createSystemClock(),
        random: { next: () => 0.5 },
        log: () => undefined,
        async deliver(events) {
          for (const one of events) if (one.type === "delete") delivered.push(one.deletion.id);
        },
      },
      channel: "test",
      cursorAt: String,
      onFull: () => undefined,
      signal: new AbortController().signal,
    });
    intake.push(event("first"), 1);
    for (let tick = 0; tick < moment; tick += 1) await null;
    intake.push(event("second"), 2);
    await intake.settled();
    expect(delivered, `${moment} ticks`).toEqual(["first", "second"]);
  }
});
