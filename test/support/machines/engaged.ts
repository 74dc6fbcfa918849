/** A conversation in the middle of a turn. */
import { expect } from "vitest";
import { Rig, type RigOptions } from "../runtime/conversation-rig.ts";

export const direct = { id: "dm", kind: "direct" } as const;

/** A turn is under way for Ann's mention. */
export function engaged(options: RigOptions = {}): Rig {
  const rig = new Rig(options);
  rig.say("bob", "morning");
  rig.say("ann", "earshot?", { to: "us", id: "first" });
  rig.wait(500);
  expect(rig.attention).toBe("engaged.running");
  return rig;
}
