/** People whom the access book let in are let in when a recording of them is played. */
import { expect, test } from "vitest";
import { recordScenario } from "../../src/actors/record.ts";
import { seededRandom } from "../../src/actors/simulation.world.ts";
import { play, verdicts } from "../replay/support.ts";
import { World } from "./world.ts";

test("a recording lets in whom the access book knew, from when on it knew them", async () => {
  const random = seededRandom(7);
  const config = { access: { dmPolicy: "pairing", groupPolicy: "open" } };
  const world = await new World({ config, random: () => random.next() }).start();
  const book = world.runtime.access();
  const dm = async (id: string, text: string) => {
    await world.say(text, { chat: { id, kind: "direct" }, author: { id, name: id } });
    await world.pass(5_000);
  };
  await dm("ann", "hello?");
  await book.approve(book.list().pairings[0]?.code ?? "", "console");
  await dm("ann", "thank you");
  await dm("bob", "me too?");
  const issued = await book.issue({ role: "member", ttlMs: 60_000, by: "console" });
  await dm("cy", issued?.code ?? "");
  await dm("cy", "/whoami");
  const told = world.decisions().map(({ decision, rule }) => `${decision} ${rule}`);
  expect(told).toEqual([
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
    { ...here, id: "cy", as: "member" },
  ]);
  expect(JSON.stringify(lines).toUpperCase()).not.toContain(issued?.code.slice(6).toUpperCase());
  const played = await play(lines);
  expect(verdicts(played).map((line) => line.split(" ")[1])).toEqual([
    "dm-policy",
    "dm",
    "dm-policy",
    // The code is not in the recording, so nobody can say it again.
    "claim",
    "command",
  ]);
});
