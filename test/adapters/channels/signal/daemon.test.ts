/**
 * A whole daemon on Signal: from a line at signal-cli's daemon to the answer that quotes it, with the
 * reaction and typing in between; and what it did not hear is shown.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startDaemon } from "../../../../src/daemon/daemon.ts";
import {
  type SignalDaemonOptions,
  startSignalDaemon,
} from "../../../support/signal/signal-daemon.ts";

const agent = `
export default async function* (turn) {
  yield { type: "text", text: "**You said:** " + turn.said };
}
`;

interface Listed {
  readonly id: string;
  readonly accounts: readonly { readonly state: string; readonly gaps: readonly unknown[] }[];
}

async function started(options: SignalDaemonOptions) {
  const signal = await startSignalDaemon(options);
  onTestFinished(() => signal.down());
  const { rooms } = signal;
  const ann = rooms.person("Ann");
  const group = rooms.group("kitchen", [ann, rooms.person("Bob")]);
  const stateDir = mkdtempSync(join(tmpdir(), "earshot-signal-"));
  onTestFinished(() => rmSync(stateDir, { recursive: true, force: true }));
  const account = { account: rooms.account, url: signal.url, name: "Scout" };
  const config = {
    channels: { signal: { accounts: { default: account }, groups: { [group.id]: {} } } },
    access: { groupPolicy: "open", dmPolicy: "open" },
    agents: {
      list: [{ id: "main", name: "Scout", driver: { kind: "module", module: "./a.mjs" } }],
    },
  };
  writeFileSync(join(stateDir, "a.mjs"), agent);
  writeFileSync(join(stateDir, "earshot.json5"), JSON.stringify(config), { mode: 0o600 });
  const how = { stateDir, port: 0, workers: 0, logLevel: "fatal", env: {} } as const;
  const daemon = await startDaemon(how);
  onTestFinished(() => daemon.stop({ drainMs: 0 }));
  const headers = { authorization: `Bearer ${daemon.token}` };
  const shown = async () => {
    const answer = await fetch(`${daemon.base}/api/channels`, { headers });
    const { channels } = (await answer.json()) as { channels: readonly Listed[] };
    return channels.find(({ id }) => id === "signal")?.accounts[0];
  };
  const state = async (wanted: string) =>
    expect.poll(async () => (await shown())?.state, { timeout: 10_000 }).toBe(wanted);
  await state("live");
  const ask = (message: string) =>
    rooms.say(ann, group, {
      message: `\ufffc ${message}`,
      mentions: [{ number: rooms.account, uuid: rooms.aci, start: 0, length: 1 }],
    });
  return { signal, rooms, ann, group, shown, state, ask };
}

test("a mention is seen, typed at and answered with a quote, once", async () => {
  const { signal, rooms, ann, group, ask } = await started({});
  rooms.say(ann, group, { message: "talking to nobody" });
  const asked = ask("are you there?");
  await signal.until(() => rooms.sent.length > 0, "the answer");
  expect(rooms.sent[0]).toMatchObject({
    target: group.id,
    textStyles: ["0:9:BOLD"],
    quote: { author: ann.uuid, timestamp: asked },
  });
  expect(rooms.sent[0]?.message).toContain("are you there?");
  await signal.until(() => rooms.reactions.size === 0, "the acknowledgement to go away");
  expect(signal.requests.some(({ method }) => method === "sendReaction")).toBe(true);
  expect(rooms.typings.length).toBeGreaterThan(0);
  rooms.say(ann, null, { message: "and alone?" });
  await signal.until(() => rooms.sent.length === 2, "the direct answer");
  expect(rooms.sent[1]).toMatchObject({ target: ann.uuid });
});

test("a time that it did not hear is shown with its span", async () => {
  const { signal, rooms, shown, state, ask } = await started({ hasIds: false });
  ask("one");
  await signal.until(() => rooms.sent.length === 1, "the answer");
  await signal.down();
  await state("backing-off");
  ask("lost");
  await signal.up();
  await state("live");
  ask("two");
  await signal.until(() => rooms.sent.length === 2, "the second answer");
  expect((await shown())?.gaps).toMatchObject([{ lost: "messages", rooms: [] }]);
});
