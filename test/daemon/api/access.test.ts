/**
 * Letting people in as an operator does: the program's own commands beside a daemon that is killed in
 * between, on a Telegram.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { telegramDaemon } from "../../support/telegram/telegram-daemon.ts";

type Daemon = Awaited<ReturnType<typeof telegramDaemon>>;
const answers = (daemon: Daemon, who: "ann" | "bob") =>
  daemon.server.world.answers(daemon.rooms[who]).map(({ text }) => text ?? "");
/** A daemon that answers is not yet one that takes messages. */
async function begin(daemon: Daemon, start: () => Promise<void>): Promise<void> {
  await start();
  const isReady = () => daemon.get("/api/pairings").then(Boolean, () => false);
  while (!(await isReady())) await new Promise((go) => setTimeout(go, 50));
}
/** Words may come twice where the daemon was killed while it said them. */
const hear = (daemon: Daemon, who: "ann" | "bob", words: RegExp) => {
  const heard = () => answers(daemon, who).some((text) => words.test(text));
  return daemon.server.until(heard, `${who} to hear ${words}`);
};
const codesSent = (daemon: Daemon) =>
  new Set(answers(daemon, "ann").flatMap((text) => text.match(/\b[A-HJ-NP-Z2-9]{8}\b/g) ?? []));

test("a stranger is let in, an owner made and a claim redeemed, across kill -9", async () => {
  const daemon = await telegramDaemon({ access: { dmPolicy: "pairing" } });
  const ann = `telegram:${daemon.rooms.ann.chat.id}`;
  const unreachable = await daemon.run("pair", "list");
  expect(unreachable).toMatchObject({ code: 2 });
  expect(unreachable.err).toContain("earshot start");
  await begin(daemon, () => daemon.start());
  daemon.say("ann", "hello?");
  await hear(daemon, "ann", /I do not know you yet/);
  await daemon.kill();
  await begin(daemon, () => daemon.start());

  const listed = JSON.parse((await daemon.run("pair", "list", "--json")).out);
  expect(listed).toMatchObject({
    pairings: [{ id: String(daemon.rooms.ann.chat.id), name: "Ann" }],
  });
  const [{ code }] = listed.pairings as [{ code: string }];
  expect([...codesSent(daemon)]).toEqual([code]);
  expect((await daemon.run("pair", "list")).out).toMatch(/ until \(UTC\) .*\n[A-Z2-9]{8} /);
  const wrong = await daemon.run("pair", "approve", "AAAAAAAA");
  expect(wrong).toMatchObject({ code: 1 });
  expect(wrong.err).toContain("no request has this code");
  const id = String(daemon.rooms.ann.chat.id);
  const annWrites = JSON.stringify({
    channel: "telegram",
    chat: { id, kind: "direct" },
    author: { id },
  });
  expect(await daemon.run("route", annWrites)).toMatchObject({ code: 1 });
  const approved = await daemon.run("pair", "approve", code.toLowerCase());
  expect(approved).toMatchObject({ code: 0 });
  expect(approved.out.replace(/\s+/g, " ")).toContain("they are now the OWNER");
  const routed = await daemon.run("route", annWrites);
  expect(routed).toMatchObject({ code: 0, out: expect.stringContaining("the sender is an owner") });
  await guessUntilLocked(daemon);
  const made = await daemon.run("claim", "new", "--role", "member", "--json");
  const claim = JSON.parse(made.out) as { code: string; label: string; role: string };
  expect(claim).toMatchObject({ role: "member" });
  expect(claim.code).toMatch(/^claim-[A-HJ-NP-Z2-9]{6}-[A-HJ-NP-Z2-9]{6}$/);
  await daemon.kill();
  await begin(daemon, () => daemon.start());

  daemon.say("ann", "/whoami");
  await hear(daemon, "ann", /you are an owner/);
  const { locks } = JSON.parse((await daemon.run("pair", "list", "--json")).out);
  expect(locks).toMatchObject([{ until: expect.any(Number) }]);
  const claims = JSON.parse((await daemon.run("claim", "list", "--json")).out);
  expect(claims).toMatchObject([{ label: claim.label, role: "member" }]);
  daemon.say("bob", claim.code);
  await hear(daemon, "bob", /You are a member/);
  await daemon.quiet();
  await daemon.kill();
  await begin(daemon, () => daemon.startHere());
  // The code is gone with its use, in whatever the daemon keeps.
  expect(JSON.parse((await daemon.run("claim", "list", "--json")).out)).toEqual([]);
  for (const file of filesIn(daemon.stateDir))
    for (const group of claim.code.split("-").slice(1))
      expect(readFileSync(file, "latin1"), file).not.toContain(group);

  expect(await daemon.run("pair", "revoke", ann)).toMatchObject({ code: 0 });
  expect(await daemon.run("pair", "revoke", ann)).toMatchObject({ code: 1 });
  expect(await daemon.run("pair", "revoke", "telegram:")).toMatchObject({ code: 2 });
  daemon.say("ann", "/whoami");
  await daemon.server.until(() => codesSent(daemon).size === 2, "a new code");
  await operatorLearns(daemon);
});

/** One wrong code was given before: four more are looked at. */
async function guessUntilLocked(daemon: Daemon): Promise<void> {
  const guess = () => daemon.post("/api/pairings/AAAAAAAA/approve");
  for (let n = 0; n < 4; n += 1) expect(await guess()).toBeNull();
  await expect(guess()).rejects.toThrow("too many wrong codes");
}

/** Who writes to the operator's own channel learns when a code is not open. */
async function operatorLearns(daemon: Daemon): Promise<void> {
  const { code } = (await daemon.post<{ code: string }>("/api/claims", { role: "member" })) ?? {
    code: "",
  };
  const say = (id: string, text: string) =>
    daemon.post("/api/inbound?wait=decision", {
      id,
      text,
      chat: { id: "desk", kind: "direct" },
      author: { id: "me" },
    });
  const decided = (decision: string) => ({ taken: [{ decision, rule: "claim" }] });
  expect(await say("1", "claim-AAAAAA-BBBBBB")).toMatchObject(decided("denied"));
  expect(await say("2", code)).toMatchObject(decided("claim"));
  const said = async () =>
    (await daemon.get<{ outbound: { text: string }[] }>("/api/outbound")).outbound;
  while ((await said()).length < 2) await new Promise((go) => setTimeout(go, 50));
  expect((await said()).map(({ text }) => text.slice(0, 20))).toEqual([
    "That code is not ope",
    "You are a member her",
  ]);
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesIn(path) : entry.isFile() ? [path] : [];
  });
}
