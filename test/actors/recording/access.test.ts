/**
 * A replayed recording admits the people that the access store admitted, and a claim that was valid
 * is valid again, although its code is stored nowhere.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { recordScenario } from "../../../src/actors/recording/recorder.ts";
import type { RecordingLine } from "../../../src/actors/recording/types.ts";
import { seededRandom } from "../../../src/actors/simulation/simulated-platforms.ts";
import { redacted } from "../../../src/daemon/replay/recording.ts";
import { property } from "../../support/property.ts";
import { decisions, play } from "../../support/replay/replay.ts";
import { rounds } from "../../support/rounds.ts";
import { World } from "../../support/runtime/world.ts";

test("a recording lets in whom the access book knew, from when on it knew them", async () => {
  const random = seededRandom(7);
  const config = { access: { dmPolicy: "pairing", groupPolicy: "open" } };
  const world = await new World({ config, random: () => random.next() }).start();
  const accessStore = world.runtime.access();
  const dm = async (id: string, text: string) => {
    await world.say(text, { chat: { id, kind: "direct" }, author: { id, name: id } });
    await world.pass(5_000);
  };
  await dm("ann", "hello?");
  await accessStore.approve(accessStore.list().pairings[0]?.code ?? "", "console");
  await dm("ann", "thank you");
  await dm("bob", "me too?");
  const issued = await accessStore.issue({ role: "member", ttlMs: 60_000, by: "console" });
  await dm("cy", issued?.code ?? "");
  await dm("cy", "/whoami");
  const reported = world.decisions().map(({ decision, rule }) => `${decision} ${rule}`);
  expect(reported).toEqual([
    "denied dm-policy",
    "engage dm",
    "denied dm-policy",
    "claim claim",
    "command command",
  ]);

  const lines: Record<string, unknown>[] = [];
  for await (const line of recordScenario(world.store, { since: 0 }))
    lines.push(line as unknown as Record<string, unknown>);
  const approvals = lines.flatMap((line) => ("approve" in line ? [line.approve] : []));
  const here = { channel: "telegram", account: "default" };
  expect(approvals).toEqual([
    { ...here, id: "ann", as: "owner" },
    { ...here, id: "ann", as: "paired" },
    { claim: "member" },
  ]);
  expect(JSON.stringify(lines).toUpperCase()).not.toContain(issued?.code.slice(6).toUpperCase());
  const played = await play(lines);
  expect(decisions(played).map(({ decision, rule }) => `${decision} ${rule}`)).toEqual(reported);
});

const people = ["ann", "bo", "cy"] as const;
const steps = fc.array(
  fc.record({
    who: fc.constantFrom(...people),
    does: fc.constantFrom("says", "claims", "orders", "guesses", "asks"),
    role: fc.constantFrom("owner" as const, "member" as const),
  }),
  { minLength: 1, maxLength: 14 },
);

property([steps], { numRuns: rounds(6, 60) })(
  "whoever claims, guesses and speaks is decided alike when the recording is played, redacted or not",
  async (all) => {
    const random = seededRandom(11);
    const config = { access: { dmPolicy: "pairing", groupPolicy: "open" } };
    const world = await new World({ config, random: () => random.next() }).start();
    const accessStore = world.runtime.access();
    for (const { who, does, role } of all) {
      const issued = await accessStore.issue({ role, ttlMs: 60_000, by: "console" });
      const words = {
        says: "hello there",
        claims: issued?.code ?? "hi",
        orders: "/think high",
        guesses: "claim-AAAAAA-BBBBBB",
        asks: "may I?",
      };
      await world.say(words[does], { chat: { id: who, kind: "direct" }, author: { id: who } });
      await world.pass(61_000);
    }
    const was = world.decisions().map(({ decision, rule }) => `${decision} ${rule}`);
    expect(was).toHaveLength(all.length);
    const lines: RecordingLine[] = [];
    for await (const line of recordScenario(world.store, { since: 0 })) lines.push(line);
    const other: RecordingLine[] = [];
    for await (const line of redacted(lines, "a key")) other.push(line);
    for (const recording of [lines, other]) {
      const played = await play(recording as unknown as Record<string, unknown>[]);
      expect(decisions(played).map(({ decision, rule }) => `${decision} ${rule}`)).toEqual(was);
    }
  },
);

test("a claim line lets one message in that is nothing but a struck-out code, and none that says another", async () => {
  const dm = (t: number, id: string, who: string, text: string) => ({
    t,
    in: { channel: "irc", chat: { id: who, kind: "direct" }, id, author: { id: who }, text },
  });
  const said = await play([
    { earshot: 1, config: { access: { dmPolicy: "pairing" } } },
    dm(0, "m1", "ann", "claim-••••••-••••••"),
    { t: 1, approve: { claim: "owner" } },
    dm(2, "m2", "bo", "claim-AAAAAA-BBBBBB"),
    dm(3, "m3", "ann", "claim-••••••-••••••"),
    dm(4, "m4", "bo", "claim-••••••-••••••"),
    dm(5, "m5", "ann", "/whoami"),
  ]);
  expect(decisions(said).map(({ id, decision }) => `${id} ${decision}`)).toEqual([
    ...["m1 denied", "m2 denied", "m3 claim", "m4 denied", "m5 command"],
  ]);
});
