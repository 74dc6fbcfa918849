/**
 * Settings by the API of a real daemon: where each value comes from, one change with its diff, and the way
 * back. No secret is in an answer.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startDaemon } from "../../../src/daemon/daemon.ts";
import { newFolder } from "../../support/daemon/folder.ts";

const secret = "4242:a-token-that-no-answer-may-show";
const written = `// Mine.
{
  store: { driver: "memory" },
  context: { size: 7 }, // seven
  channels: { telegram: { enabled: false, accounts: { default: { botToken: "${secret}" } } } },
}
`;

async function open(text: string | null) {
  const stateDir = newFolder();
  const file = join(stateDir, "earshot.json5");
  if (text !== null) writeFileSync(file, text, { mode: 0o600 });
  const quiet = { port: 0, workers: 0, env: {}, logLevel: "fatal" } as const;
  const daemon = await startDaemon({ ...quiet, stateDir });
  onTestFinished(() => daemon.stop({ drainMs: 0 }));
  const authorization = `Bearer ${daemon.token}`;
  // biome-ignore lint/suspicious/noExplicitAny: answers are compared as a whole
  async function ask(path: string, body?: object): Promise<{ status: number; answer: any }> {
    const response = await fetch(`${daemon.base}${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const said = await response.text();
    expect(said).not.toContain(secret);
    return { status: response.status, answer: JSON.parse(said) };
  }
  async function valueAt(path: string) {
    const { answer } = await ask("/api/config");
    return answer.values.find((value: { path: string }) => value.path === path);
  }
  return { file, ask, valueAt };
}

test("each value has what it is for, its default, and where it comes from", async () => {
  const { valueAt } = await open(written);
  expect(await valueAt("context.size")).toMatchObject({
    value: 7,
    origin: "file",
    line: 4,
    about: expect.stringMatching(/\w+/u),
    default: expect.stringMatching(/^\d+$/u),
    canEdit: true,
  });
  expect(await valueAt("engagement.trigger")).toMatchObject({
    value: expect.arrayContaining(["mention"]),
    origin: "default",
  });
  expect(await valueAt("log.showText")).toMatchObject({ value: false, origin: "default" });
  expect(await valueAt("channels.telegram.accounts.default.botToken")).toMatchObject({
    value: "[redacted]",
    origin: "file",
    canEdit: false,
  });
});

test("a change is shown, written with everything else kept, in force, and taken back", async () => {
  const { file, ask, valueAt } = await open(written);
  const change = { path: "context.size", value: "12" };
  const { answer: plan } = await ask("/api/config/plan", change);
  expect(plan.lines.filter((line: string) => /^[+-]/u.test(line))).toEqual([
    "-  context: { size: 7 }, // seven",
    "+  context: { size: 12 }, // seven",
  ]);
  expect(readFileSync(file, "utf8")).toBe(written);
  const { answer: done } = await ask("/api/config/write", { ...change, token: plan.token });
  expect(done).toMatchObject({ applied: true, copy: `${file}.bak` });
  expect(readFileSync(file, "utf8")).toBe(written.replace("size: 7", "size: 12"));
  expect((await valueAt("context.size")).value).toBe(12);
  const undone = await ask("/api/config/undo", { copy: done.copy, token: done.token });
  expect(undone).toMatchObject({ status: 200, answer: { applied: true } });
  expect(readFileSync(file, "utf8")).toBe(written);
});

test("what is not valid, not there, a secret, or shown of another file is refused", async () => {
  const { file, ask } = await open(written);
  const plan = (path: string, value: string) => ask("/api/config/plan", { path, value });
  expect(await plan("context.size", "-1")).toMatchObject({
    status: 400,
    answer: { error: { message: expect.stringContaining("context.size is invalid") } },
  });
  expect(await plan("context.size", "{")).toMatchObject({ status: 400 });
  expect(await plan("context.depth", "1")).toMatchObject({ status: 409 });
  expect(await plan("__proto__", "1")).toMatchObject({ status: 409 });
  expect(await plan("channels.telegram.accounts.default.botToken", '"x"')).toMatchObject({
    status: 409,
  });
  const change = { path: "context.size", value: "9" };
  const { answer } = await ask("/api/config/plan", change);
  writeFileSync(file, written.replace("Mine", "Yours"));
  const late = await ask("/api/config/write", { ...change, token: answer.token });
  expect(late.status).toBe(409);
  const other = join(newFolder(), "earshot.json5.bak");
  writeFileSync(other, "{}");
  const { token } = (await ask("/api/config/plan", change)).answer;
  expect((await ask("/api/config/undo", { copy: other, token })).status).toBe(409);
  expect(readFileSync(file, "utf8")).toContain("Yours");
});

test("without a file the first change creates it", async () => {
  const { file, ask, valueAt } = await open(null);
  expect(existsSync(file)).toBe(false);
  const change = { path: "log.showText", value: "true" };
  const { answer } = await ask("/api/config/plan", change);
  expect(answer).toMatchObject({ path: file, exists: false });
  const { answer: done } = await ask("/api/config/write", { ...change, token: answer.token });
  expect(done).toMatchObject({ copy: null, applied: true });
  expect(await valueAt("log.showText")).toMatchObject({ value: true, origin: "file" });
});

test("an entry is added and taken out, the last change is known after a restart, and no entry is hidden by another", async () => {
  const { file, ask } = await open(written);
  const write = async (change: object) => {
    const { status, answer } = await ask("/api/config/plan", change);
    if (status !== 200) return status;
    return (await ask("/api/config/write", { ...change, token: answer.token })).answer;
  };
  const group = { path: "access.groups", add: "telegram:-1", value: "{}" };
  await write(group);
  expect(readFileSync(file, "utf8")).toContain('access: { groups: { "telegram:-1": {} } }');
  expect(await write(group)).toBe(409);
  expect(await write({ ...group, add: "" })).toBe(409);
  expect(await write({ ...group, path: "engagement" })).toBe(409);
  const agent = { path: "agents.list", add: "", value: '{ id: "two", name: "Two" }' };
  expect(await write(agent)).toMatchObject({ applied: true });
  const { answer } = await ask("/api/config");
  expect(answer.last).toMatchObject({ what: "agents.list added" });
  const list = answer.containers.find(({ path }: { path: string }) => path === "agents.list");
  expect(list).toMatchObject({ kind: "list", entries: ["agents.list[0]", "agents.list[1]"] });
  await write({ path: "agents.list[1]", value: null });
  expect(readFileSync(file, "utf8")).not.toContain("Two");
  await write({ path: "context.size", value: null });
  expect(readFileSync(file, "utf8")).toContain("// seven");
  // Somebody else's change is not taken back.
  writeFileSync(file, readFileSync(file, "utf8").replace("Mine", "Yours"));
  expect((await ask("/api/config")).answer.last).toBe(null);
});
