/** The connection machine: what may follow what, what is counted, and that halted stays halted. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createActor } from "xstate";
import { type ConnectionEvent, connectionMachine } from "../../src/machines/connection.machine.ts";
import { property } from "../support/property.ts";

const kinds = ["connecting", "live", "resuming", "backing-off", "halted"] as const;
type Kind = (typeof kinds)[number];
const event = (kind: Kind, at: number, detail?: string): ConnectionEvent => ({
  type: `connection.${kind}`,
  at,
  ...(detail === undefined ? {} : { detail }),
});

function run(events: readonly ConnectionEvent[]) {
  const actor = createActor(connectionMachine, { input: { at: 0 } });
  actor.start();
  for (const one of events) actor.send(one);
  return actor.getSnapshot();
}

describe("connection machine", () => {
  test("a login that works is live, and the failures before it are forgotten", () => {
    const { value, context } = run([
      event("backing-off", 1, "refused"),
      event("connecting", 2),
      event("backing-off", 3, "refused"),
      event("connecting", 4),
      event("live", 5),
    ]);
    expect(value).toBe("live");
    expect(context).toEqual({ since: 5, detail: null, failures: 0, connects: 1 });
  });

  test("failures in a row are counted with the reason of the last", () => {
    const { value, context } = run([
      event("live", 1),
      event("backing-off", 2, "reset"),
      event("resuming", 3),
      event("backing-off", 4, "500"),
    ]);
    expect(value).toBe("backing-off");
    expect(context).toMatchObject({ since: 4, detail: "500", failures: 2, connects: 1 });
  });

  property([fc.array(fc.constantFrom(...kinds), { maxLength: 30 })])(
    "halted is left by nothing that the channel reports",
    (tail) => {
      const events = [event("halted", 1, "token refused"), ...tail.map((kind) => event(kind, 2))];
      expect(run(events).value).toBe("halted");
    },
  );

  test("an operator's retry begins again from halted, with the history kept", () => {
    const before = [event("live", 1), event("halted", 2, "token refused")];
    const { value, context } = run([...before, { type: "connection.retried", at: 3 }]);
    expect(value).toBe("connecting");
    expect(context).toEqual({ since: 3, detail: null, failures: 0, connects: 1 });
    const refused = run([...before, { type: "connection.retried", at: 3 }, event("halted", 4)]);
    expect(refused.value).toBe("halted");
  });

  property([fc.array(fc.constantFrom(...kinds), { maxLength: 30 })])(
    "a retry changes nothing while the account is not halted",
    (way) => {
      const events = way.map((kind, at) => event(kind, at));
      const before = run(events);
      fc.pre(before.value !== "halted");
      const after = run([...events, { type: "connection.retried", at: 99 }]);
      expect([after.value, after.context]).toEqual([before.value, before.context]);
    },
  );

  property([fc.array(fc.constantFrom(...kinds), { maxLength: 30 })])(
    "from every state but halted the connection can become live again",
    (way) => {
      const before = run(way.map((kind, at) => event(kind, at)));
      fc.pre(before.value !== "halted");
      const after = run([...way, "live" as const].map((kind, at) => event(kind, at)));
      expect(after.value).toBe("live");
    },
  );

  test("a report in the same state explains it, and changes neither its time nor what is counted", () => {
    const live = [event("live", 1, "as bot"), event("live", 2, "as bot 2")];
    expect(run(live).context).toEqual({ since: 1, detail: "as bot 2", failures: 0, connects: 1 });
    expect(run([...live, event("live", 3)]).context.detail).toBe("as bot 2");
    const halted = [event("halted", 1, "a"), event("halted", 2, "b")];
    expect(run(halted).context).toMatchObject({ since: 1, detail: "b", failures: 0 });
    const failed = [event("backing-off", 1, "a"), event("backing-off", 2, "b")];
    expect(run(failed).context).toMatchObject({ since: 1, detail: "b", failures: 2 });
    const stopped = run([event("live", 1, "a"), { type: "connection.stopped", at: 2 }]);
    expect(stopped.context).toMatchObject({ since: 2, detail: null });
  });

  property([fc.array(fc.constantFrom(...kinds), { maxLength: 30 })])(
    "stopped ends it from anywhere",
    (way) => {
      const events = way.map((kind, at) => event(kind, at));
      const { value, status } = run([...events, { type: "connection.stopped", at: 99 }]);
      expect([value, status]).toEqual(["stopped", "done"]);
    },
  );
});
