/**
 * A whole daemon with a linked account: it waits until `earshot channels link` has been confirmed on the
 * phone, answers, and after a logout says on every place that shows it how to go on. The code stands in
 * that terminal only.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startDaemon } from "../../../../src/daemon/daemon.ts";
import { earshot } from "../../../support/runtime/commands.ts";
import { configOf, speak } from "../../../support/whatsapp-linked/linked-world.ts";
import { Person } from "../../../support/whatsapp-linked/person.ts";
import { WebServer } from "../../../support/whatsapp-linked/web-server.ts";

const agent = `
export default async function* (turn) {
  yield { type: "text", text: "**You said:** " + turn.said };
}
`;

interface Listed {
  readonly id: string;
  readonly accounts: readonly { readonly state: string; readonly detail: string | null }[];
}

async function started() {
  const server = new WebServer(new Person("15550100000", "90000000", "Scout"));
  await server.up();
  onTestFinished(() => server.down());
  const stateDir = mkdtempSync(join(tmpdir(), "earshot-linked-"));
  onTestFinished(() => rmSync(stateDir, { recursive: true, force: true }));
  const config = {
    channels: { "whatsapp-linked": { accounts: { default: configOf(server) } } },
    access: { groupPolicy: "open", dmPolicy: "open" },
    agents: {
      list: [{ id: "main", name: "Scout", driver: { kind: "module", module: "./a.mjs" } }],
    },
  };
  writeFileSync(join(stateDir, "a.mjs"), agent);
  writeFileSync(join(stateDir, "earshot.json5"), JSON.stringify(config), { mode: 0o600 });
  const logged: string[] = [];
  const writeLog = (line: string) => void logged.push(line);
  const how = { stateDir, port: 0, workers: 0, logLevel: "debug", writeLog, env: {} } as const;
  const daemon = await startDaemon(how);
  onTestFinished(() => daemon.stop({ drainMs: 0 }));
  const ask = async (path: string): Promise<unknown> => {
    const headers = { authorization: `Bearer ${daemon.token}` };
    return (await fetch(`${daemon.base}${path}`, { headers })).json();
  };
  const account = async () => {
    const { channels } = (await ask("/api/channels")) as { channels: readonly Listed[] };
    return channels.find(({ id }) => id === "whatsapp-linked")?.accounts[0];
  };
  const state = (wanted: string) =>
    expect.poll(async () => (await account())?.state, { timeout: 10_000 }).toBe(wanted);
  return { server, stateDir, ask, account, state, logged };
}

/** Runs the command, and types the code that it shows into the phone. */
async function linkFrom(stateDir: string, server: WebServer) {
  const running = earshot(["channels", "link", "whatsapp-linked", "--state-dir", stateDir], {});
  const { write } = process.stdout;
  let code = "";
  process.stdout.write = (text: string | Uint8Array) => {
    const [, shown = ""] = /: ([0-9A-Z]{4}-[0-9A-Z]{4})/.exec(String(text)) ?? [];
    if (shown !== "" && code === "") {
      code = shown;
      void server.enter(server.owner.number, shown.replace("-", ""));
    }
    return write.call(process.stdout, text);
  };
  return { ...(await running), shown: code };
}

/** Everything that stands in files of a folder. */
function filesIn(folder: string): string {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"))
    .join("\n");
}

test("from a code on the phone to an answer, and to what to do after a logout", async () => {
  const { server, stateDir, ask, account, state, logged } = await started();
  await state("backing-off");
  expect((await account())?.detail).toContain("earshot channels link whatsapp-linked");
  const { code, out, shown } = await linkFrom(stateDir, server);
  expect([code, out]).toEqual([0, expect.stringContaining("linked to")]);
  await state("live");

  const device = server.devices[0];
  if (device === undefined) throw new Error("no device is linked");
  const ann = server.person("15550107001", "90007001", "Ann");
  await speak(server, device, { by: ann, in: null, message: { conversation: "are you there?" } });
  await server.until(() => server.sent.some(({ message }) => message.extendedTextMessage));
  const answer = server.sent.find(({ message }) => message.extendedTextMessage);
  expect(answer).toMatchObject({ to: ann.jid, readers: expect.arrayContaining([ann.number]) });
  expect(answer?.message.extendedTextMessage?.text).toContain("*You said:* ");
  expect(server.typings).toContain(ann.jid);

  server.endStream(401);
  await state("halted");
  const needs = JSON.stringify(await ask("/api/needs"));
  expect(needs).toContain("Link it again: earshot channels link whatsapp-linked");

  expect(logged.join("")).toContain("connection.live");
  const plain = shown.replace("-", "");
  const seen = [...logged, filesIn(stateDir), needs, JSON.stringify(await account())].join("\n");
  for (const secret of [shown, plain]) expect(seen).not.toContain(secret);
});

test("what cannot be linked is refused with what to do", async () => {
  const { stateDir } = await started();
  const run = (...args: string[]) =>
    earshot(["channels", "link", ...args, "--state-dir", stateDir], {});
  expect(await run("telegram")).toMatchObject({
    code: 2,
    err: expect.stringContaining("earshot channels add telegram"),
  });
  expect(await run("webhook")).toMatchObject({
    code: 2,
    err: expect.stringContaining("nothing to confirm"),
  });
});
