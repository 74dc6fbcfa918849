/**
 * The access store in a runtime: a message's change is stored with the message, applies from the
 * next message on, and survives every end of the process.
 */
import { expect, test } from "vitest";
import { seededRandom } from "../../../src/actors/simulation/simulated-platforms.ts";
import { openSqliteStore } from "../../../src/adapters/stores/sqlite-store.ts";
import { limits } from "../../../src/domain/limits.ts";
import type { Store } from "../../../src/domain/ports/index.ts";
import { newFolder } from "../../support/daemon/folder.ts";
import { World, type WorldOptions } from "../../support/runtime/world.ts";

const pairing = { access: { dmPolicy: "pairing", groupPolicy: "open" } };
const started = async (config: Record<string, unknown> = pairing, options: WorldOptions = {}) => {
  const random = seededRandom(7);
  return new World({ config, random: () => random.next(), ...options }).start();
};
const dm = (world: World, id: string, text = "hi", account = "default") =>
  world.say(text, { chat: { id, kind: "direct" }, author: { id, name: `N${id}` }, account });
const verdicts = (world: World) =>
  world.decisions().map(({ decision, rule }) => `${decision} ${rule}`);
const codeIn = (text: string | undefined) => /\b[A-HJ-NP-Z2-9]{8}\b/.exec(text ?? "")?.[0] ?? "";
const accessStore = (world: World) => world.runtime.access();
const claim = async (world: World, role: "owner" | "member" = "member") => {
  const issued = await accessStore(world).issue({ role, ttlMs: 60_000, by: "console" });
  return issued?.code ?? "";
};
const wait = { wait: "decision" } as const;

test("a stranger is told a code once, and is heard once it was approved", async () => {
  const world = await started();
  for (const text of ["hi", "hello?", "anyone?"]) await dm(world, "7", text);
  await world.pass(10);
  expect(world.sent.map(({ chat }) => chat)).toEqual(["7"]);
  expect(verdicts(world)).toEqual(Array(3).fill("denied dm-policy"));
  const code = codeIn(world.sent[0]?.text);
  expect(await accessStore(world).approve(code, "console")).toMatchObject({
    outcome: "approved",
    owner: true,
    person: { channel: "telegram", account: "default", id: "7", name: "N7" },
  });
  await dm(world, "7", "now?");
  await world.pass(2_000);
  expect(verdicts(world).at(-1)).toBe("engage dm");
  expect(world.sent.at(-1)?.text).toBe("ok");
  expect(await world.store.conversations({ limit: 5 })).toHaveLength(1);
});

test("the code is an ordinary row of the outbox, and a platform that fails gets it later", async () => {
  const world = await started();
  world.fates.push("fail");
  await dm(world, "7");
  await world.pass(10);
  expect(world.sent).toEqual([]);
  await world.pass(120_000);
  expect(world.sent).toHaveLength(1);
  expect(world.sends()).toMatchObject([{ status: "sent", chat: "7" }]);
  expect(await world.store.outboxCounts()).toEqual({ sent: 1 });
});

test("who is taken back is a stranger from the next message on", async () => {
  const world = await started();
  const person = { channel: "telegram", account: "default", id: "7" };
  await accessStore(world).allow({ ...person, scope: "direct" }, "telegram:1");
  await dm(world, "7");
  expect(verdicts(world)).toEqual([]);
  expect(await accessStore(world).revoke({ channel: "telegram", id: "7" })).toBe(true);
  await dm(world, "7");
  await world.pass(2_000);
  expect(verdicts(world).sort()).toEqual(["denied dm-policy", "engage dm"]);
  expect(await accessStore(world).revoke({ channel: "telegram", id: "8" })).toBe(false);
});

test("an approval and a claim outlive the process, on a disk too", async () => {
  const store: Store = await openSqliteStore({ path: `${newFolder()}/earshot.db` });
  const world = await started(pairing, { store });
  await dm(world, "7");
  await world.pass(10);
  const waits = accessStore(world).list().pairings[0]?.code ?? "";
  const code = await claim(world, "owner");
  await world.restart();
  expect(await accessStore(world).approve(waits, "console")).toMatchObject({ outcome: "approved" });
  await dm(world, "8", code);
  await world.restart();
  expect(
    accessStore(world).has("paired", { channel: "telegram", account: "default", id: "7" }),
  ).toBe(true);
  expect(
    accessStore(world).has("owner", { channel: "telegram", account: "default", id: "8" }),
  ).toBe(true);
  await dm(world, "9", code);
  expect(verdicts(world).at(-1)).toBe("denied claim");
  await world.runtime.stop();
  await store.close();
});

test("a claim is redeemed once, however often its message is delivered", async () => {
  const world = await started();
  const code = await claim(world);
  const id = "same";
  const say = () => world.say(code, { id, chat: { id: "7", kind: "direct" }, author: { id: "7" } });
  await Promise.all([say(), say()]);
  await world.restart();
  await say();
  await world.pass(10);
  const reported = ["claim claim", "duplicate duplicate", "duplicate duplicate"];
  expect(verdicts(world).sort()).toEqual(reported);
  expect(world.sent).toHaveLength(1);
  expect(world.sent[0]?.text).toContain("You are a member here now");
  // The copy after the restart was no guess either.
  expect(accessStore(world).list()).toMatchObject({ claims: [], guesses: [] });
});

test("of two who say one code at the same moment one gets the role", async () => {
  const world = await started();
  const code = await claim(world);
  await Promise.all([dm(world, "7", code), dm(world, "8", code)]);
  await world.pass(10);
  expect(verdicts(world)).toEqual(["claim claim", "denied claim"]);
  expect(accessStore(world).list().grants).toHaveLength(1);
});

test("a claim whose message could not be stored was not said, and may be said again", async () => {
  const world = await started();
  const code = await claim(world);
  world.disk.fail({ at: 1 });
  await expect(dm(world, "7", code)).rejects.toMatchObject({ code: "EAR_STORE_FAILED" });
  expect(accessStore(world).list()).toMatchObject({ grants: [], claims: [{ role: "member" }] });
  await world.pass(1_000);
  await dm(world, "7", code);
  await world.pass(10);
  expect(verdicts(world)).toEqual(["claim claim"]);
  await world.restart();
  expect(accessStore(world).list()).toMatchObject({
    grants: [{ id: "7", scope: "member" }],
    claims: [],
  });
});

test("an approval that cannot be stored has not been given", async () => {
  const world = await started();
  await dm(world, "7");
  const code = accessStore(world).list().pairings[0]?.code ?? "";
  world.disk.fail({ at: 1 });
  await expect(accessStore(world).approve(code, "console")).rejects.toMatchObject({
    code: "EAR_STORE_FAILED",
  });
  expect(accessStore(world).list()).toMatchObject({ grants: [], pairings: [{ code }] });
  await world.pass(1_000);
  expect(await accessStore(world).approve(code, "console")).toMatchObject({ outcome: "approved" });
});

test("a claim in a group gives its role to its sender, is answered there, and opens no group", async () => {
  const world = await started({ access: { dmPolicy: "allowlist", groupPolicy: "allowlist" } });
  const code = await claim(world, "owner");
  await world.say(`@bot ${code}`, { id: "c1" });
  await world.pass(10);
  expect(verdicts(world)).toEqual(["claim claim"]);
  expect(world.sent).toMatchObject([{ chat: "room", replyTo: "c1" }]);
  await world.say("earshot, hello");
  expect(verdicts(world).at(-1)).toBe("denied group-policy");
  await world.say("hello", { direct: true });
  await world.pass(2_000);
  expect(verdicts(world).at(-1)).toBe("engage dm");
});

test("what an owner by claim may do, a member may not, and another account knows neither", async () => {
  const world = await started({ ...pairing, commands: { ownerAllowFrom: ["telegram:boss"] } });
  await dm(world, "1", await claim(world, "owner"));
  await dm(world, "2", await claim(world, "member"));
  for (const id of ["1", "2"]) {
    await dm(world, id, "/config get log.level");
    await dm(world, id, "/whoami");
  }
  await world.pass(10);
  const said = (chat: string) =>
    world.sent.filter((one) => one.chat === chat).map(({ text }) => text);
  expect(said("1").slice(1).join()).toContain("you are an owner");
  expect(said("2").slice(1).join()).toContain("You may give commands");
  // An owner's command is a text like any other when somebody else says it.
  expect(said("1").join()).toContain('"info"');
  expect(said("2").join()).not.toContain('"info"');
  await dm(world, "1", "/whoami", "work");
  expect(verdicts(world).at(-1)).toBe("denied dm-policy");
});

test("a role may give commands in a group that hears it, and a pairing may not", async () => {
  const world = await started();
  await dm(world, "1", await claim(world, "member"));
  await dm(world, "2");
  await accessStore(world).approve(accessStore(world).list().pairings[0]?.code ?? "", "console");
  const room = (id: string) => world.say("/status", { author: { id } });
  expect((await room("1"))[0]?.receivers[0]?.verdict?.decision).toBe("command");
  // The first approval made an owner of 2: that is taken away, the pairing stays.
  await accessStore(world).revoke({ channel: "telegram", id: "2", scope: "owner" });
  expect((await room("2"))[0]?.receivers[0]?.verdict).toBeNull();
});

test("no word of a claim code is left anywhere", async () => {
  const world = await started(
    { access: { dmPolicy: "open", groupPolicy: "open" } },
    {
      prompts: true,
    },
  );
  const code = await claim(world);
  const other = await claim(world, "owner");
  const place = { channel: "telegram", account: "default", thread: null } as const;
  const author = { id: "ann", name: "Ann", isBot: false, isSelf: false };
  const chat = { id: "ann", kind: "direct" } as const;
  await dm(world, "7", code);
  await world.say(`take ${other.toLowerCase()}, friend`, { id: "m1", direct: true });
  await world.say("what was that?", {
    direct: true,
    replyTo: { id: "x", text: `> ${other.replaceAll("-", "–")}` },
  });
  const edit = { ...place, chat, id: "m1", text: `no: ${other}`, author };
  await world.runtime.ingest("telegram", "default", [{ type: "edit", edit }]);
  await world.pass(5_000);
  expect(world.events("prompt").length).toBeGreaterThan(0);
  const rows = await world.store.scan(0, 1_000);
  const sinks = JSON.stringify([world.lines, rows, world.sent, await world.store.access()]);
  for (const secret of [code, other])
    for (const group of secret.split("-").slice(1))
      expect(sinks.toUpperCase()).not.toContain(group);
  expect(sinks).toContain("take claim-••••••-••••••, friend");
  // Said beside other words it was no claim: it is still good.
  await dm(world, "9", other);
  expect(verdicts(world).at(-1)).toBe("claim claim");
});

test("guesses lock one account, not another, and not for ever", async () => {
  const world = await started();
  const code = await claim(world);
  for (let n = 0; n < 30; n += 1) await dm(world, `x${n}`, "claim-AAAAAA-BBBBBB");
  await dm(world, "7", code);
  expect(verdicts(world)).toEqual(Array(31).fill("denied claim"));
  await dm(world, "7", code, "work");
  expect(verdicts(world).at(-1)).toBe("claim claim");
  expect(accessStore(world).list().guesses).toMatchObject([{ count: limits.codeGuessesMax }]);
  await world.pass(limits.codeLockMs);
  await dm(world, "8", await claim(world));
  expect(verdicts(world).at(-1)).toBe("claim claim");
  expect(accessStore(world).list().guesses).toEqual([]);
});

test("a bot, a chat's name and what is passed on claim nothing and ask for nothing", async () => {
  const world = await started();
  const code = await claim(world);
  const say = (more: object) =>
    world.say(code, { chat: { id: "7", kind: "direct" }, author: { id: "7" }, ...more });
  await say({ author: { id: "7", isBot: true } });
  await say({ author: { id: "chat:-1", isChat: true } });
  await world.pass(10);
  expect(world.sent).toEqual([]);
  await say({ forwarded: true });
  await world.pass(10);
  expect(verdicts(world)).toEqual(["denied dm-policy", "denied no-author", "denied dm-policy"]);
  expect(accessStore(world).list()).toMatchObject({ claims: [{}], grants: [] });
});

test("nothing is claimed where nobody may be heard", async () => {
  const world = await started({ access: { dmPolicy: "disabled", groupPolicy: "disabled" } });
  const code = await claim(world);
  await dm(world, "7", code);
  await world.say(code);
  expect(verdicts(world)).toEqual(["denied dm-policy", "denied group-policy"]);
  expect(accessStore(world).list()).toMatchObject({ claims: [{}], grants: [] });
});

test("the policy of a list knows nobody who was only paired", async () => {
  const world = await started();
  await dm(world, "6");
  await dm(world, "7");
  for (const { code } of accessStore(world).list().pairings)
    await accessStore(world).approve(code, "console");
  await world.restart({ access: { dmPolicy: "allowlist" } });
  await dm(world, "7");
  expect(verdicts(world).at(-1)).toBe("denied dm-policy");
  // The first of them is the owner, and owners are on every list.
  await dm(world, "6");
  await world.pass(2_000);
  expect(verdicts(world).at(-1)).toBe("engage dm");
});

test("why tells what a claim was, and what admits whom it turned away", async () => {
  const world = await started();
  const id = "w1";
  await world.say(await claim(world), {
    id,
    chat: { id: "7", kind: "direct" },
    author: { id: "7" },
  });
  await world.say("claim-AAAAAA-BBBBBB", { id: "w2", author: { id: "8" } });
  const why = async (message: string) => (await world.runtime.why(message))[0];
  expect(await why(id)).toMatchObject({
    recorded: { decision: "claim" },
    admission: "a claim code, which gave its sender a role",
    message: { text: "claim-••••••-••••••" },
  });
  expect((await why("w2"))?.admission).toContain("not open");
});

test("who asks for the decision of a claim gets it at once", async () => {
  const world = await started();
  const text = await claim(world);
  const chat = { id: "7", kind: "direct" } as const;
  const author = { id: "7", name: "Ann", isBot: false, isSelf: false };
  const message = {
    channel: "telegram",
    account: "default",
    thread: null,
    id: "q",
    text,
    chat,
    author,
    mentions: [],
    mentionsEveryone: false,
    replyTo: null,
    attachments: [],
    explicitOnly: false,
  };
  const [outcome] = await world.runtime.ingest(
    ...(["telegram", "default", [{ type: "message", message }]] as const),
    wait,
  );
  expect(outcome?.receivers).toEqual([
    { key: null, verdict: { decision: "claim", rule: "claim", credit: "none" } },
  ]);
});
