/** A batch with events that can never be accepted. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { deliverEach } from "../../../../src/adapters/channels/shared/deliver.ts";
import { EarshotError } from "../../../../src/domain/errors.ts";
import type { ChannelEvent } from "../../../../src/domain/ports/index.ts";
import { property } from "../../../support/property.ts";

const said = (id: string): ChannelEvent => ({
  type: "delete",
  deletion: {
    channel: "test",
    account: "default",
    chat: { id: "room", kind: "group" },
    thread: null,
    id,
  },
});
const idOf = (event: ChannelEvent) => (event.type === "delete" ? event.deletion.id : "");

function intake(refused: ReadonlySet<string>) {
  const accepted: string[] = [];
  const logs: string[] = [];
  let cursor: string | undefined;
  const context = {
    log: (_: string, event: string) => void logs.push(event),
    async deliver(events: readonly ChannelEvent[], next?: string) {
      if (events.some((event) => refused.has(idOf(event))))
        throw new EarshotError("EAR_INBOUND_INVALID", "Cannot accept it");
      accepted.push(...events.map(idOf));
      cursor = next ?? cursor;
    },
  };
  return { context, accepted, logs, cursor: () => cursor };
}

property([fc.array(fc.boolean(), { maxLength: 12 })])(
  "what can be accepted is, in order, what cannot is logged, and the cursor moves on",
  async (good) => {
    const ids = good.map((_, index) => String(index));
    const rig = intake(new Set(ids.filter((_, index) => good[index] === false)));
    const kept = await deliverEach(rig.context, ids.map(said), { channel: "test", cursor: "c" });
    const wanted = ids.filter((_, index) => good[index]);
    expect(rig.accepted).toEqual(wanted);
    expect(kept.map(idOf)).toEqual(wanted);
    expect(rig.logs).toEqual(good.filter((one) => !one).map(() => "test.event-refused"));
    expect(rig.cursor()).toBe("c");
  },
);

test("what may be accepted later is thrown, whatever was tried one by one before it", async () => {
  const rig = intake(new Set(["1"]));
  const { deliver } = rig.context;
  const full = new EarshotError("EAR_STORE_FULL", "Cannot store it");
  const context = {
    ...rig.context,
    deliver: (events: readonly ChannelEvent[], cursor?: string) =>
      events.length === 1 && events.map(idOf)[0] === "2"
        ? Promise.reject(full)
        : deliver(events, cursor),
  };
  const batch = ["0", "1", "2"].map(said);
  await expect(deliverEach(context, batch, { channel: "test", cursor: "c" })).rejects.toBe(full);
  expect(rig.cursor()).toBeUndefined();
});
