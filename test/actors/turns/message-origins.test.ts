/**
 * What a message says besides its text: where it was forwarded from, what it quotes, the name of its
 * topic. The agent is shown it, over a restart and in a replay of the recording; it decides nothing.
 */
import { expect, test } from "vitest";
import { recordScenario } from "../../../src/actors/recording/recorder.ts";
import type { RecordingLine } from "../../../src/actors/recording/types.ts";
import { redacted } from "../../../src/daemon/replay/recording.ts";
import type { InboundInput } from "../../../src/domain/message.ts";
import { play, prompts } from "../../support/replay/replay.ts";
import { World } from "../../support/runtime/world.ts";

const from = { authorName: "Cy", chat: { id: "-9", title: "News" }, messageId: "7" };
const given: Partial<InboundInput> & { direct?: boolean } = {
  thread: { id: "t1", kind: "topic", title: "Soup" },
  mentions: [{ id: "us", isSelf: true }],
  replyTo: { id: "m0", authorName: "Rex", authorId: "rex", text: "one two words" },
  quote: { text: "two words", from },
  forwarded: from,
};

test("an origin, a quote and the name of a topic reach the prompt, after a restart too", async () => {
  const world = await new World({ prompts: true }).start();
  await world.say("look", given);
  await world.restart();
  await world.pass(5_000);
  const prompt = prompts(world.lines)[0]?.text;
  expect(prompt).toContain("Room: telegram group, topic “Soup”.");
  expect(prompt).toContain("  [Forwarded from Cy in “News” id:7]");
  expect(prompt).toContain("  [Quoting from Cy in “News” id:7] “two words” [/Quoting]");
  await world.runtime.stop();
});

test("a recording has them, a redacted one under other words, and claim codes never", async () => {
  const world = await new World({ prompts: true }).start();
  const issued = await world.runtime
    .access()
    .issue({ role: "member", ttlMs: 60_000, by: "console" });
  const code = issued?.code ?? "";
  await world.say("look", { ...given, quote: { text: `it is ${code}`, from } });
  await world.pass(5_000);
  const lines: Record<string, unknown>[] = [];
  for await (const line of recordScenario(world.store, { since: 0 }))
    lines.push(line as unknown as Record<string, unknown>);
  expect(JSON.stringify(lines)).not.toContain(code);
  expect(JSON.stringify(lines)).toContain('"title":"News"');
  const played = prompts(await play(lines, { prompts: true }))[0]?.text;
  expect(played).toContain("[Forwarded from Cy in “News” id:7]");
  expect(played).toContain("topic “Soup”");
  const other: Record<string, unknown>[] = [];
  for await (const line of redacted(lines as unknown as RecordingLine[], "a key"))
    other.push(line as unknown as Record<string, unknown>);
  expect(JSON.stringify(other)).not.toMatch(/Cy|News|Soup|two words/);
  expect(prompts(await play(other, { prompts: true }))[0]?.text).toMatch(/\[Forwarded from [A-Z]/);
  await world.runtime.stop();
});
