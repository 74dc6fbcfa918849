/**
 * The n-th call of each method of the store fails, for every n that a small story makes: once, and
 * from then on until the process is started again. A call that fails is refused visibly, or tried
 * again; when the faults are over everybody has one answer. `npm test` takes some n by chance,
 * EARSHOT_ROUNDS=full all of them. EARSHOT_SEED repeats a run's choices.
 */
import { expect, test } from "vitest";
import { openTemporaryStore } from "../../src/adapters/stores/sqlite-store.ts";
import { EarshotError } from "../../src/domain/errors.ts";
import type { Store } from "../../src/domain/ports/index.ts";
import { createTestStore, type StoreFault } from "../support/runtime/test-store.ts";
import { World } from "../support/runtime/world.ts";
import { parentDriver } from "./agents.ts";
import { chance } from "./world.ts";

const seed = Number(process.env.EARSHOT_SEED ?? Math.floor(Math.random() * 2 ** 31));
const share = process.env.EARSHOT_ROUNDS === "full" ? 1 : 0.1;
const chats = ["ann", "bob"];
const rounds = 2;
const triesMax = 60;
/** Without them nothing goes on, so the status has to say that they fail. */
const needed: ReadonlySet<keyof Store> = new Set(["commit", "tail"]);
const driver = parentDriver(async ({ text }) => `re ${text}`);
const notice = "Something went wrong while I was answering. Please try again.";
const config = {
  agents: { defaults: { driver: { kind: driver.kind } } },
  session: { dmScope: "per-peer" },
};
const ids = Array.from({ length: rounds }, (_, round) => chats.map((chat) => `${chat}${round}`));

/** A store that counts the calls of each method. */
function counting(counts: Map<keyof Store, number>): Store {
  return new Proxy(openTemporaryStore(), {
    get(store, name: keyof Store) {
      const method = Reflect.get(store, name) as unknown;
      if (typeof method !== "function") return method;
      return (...values: readonly unknown[]) => {
        counts.set(name, (counts.get(name) ?? 0) + 1);
        return Reflect.apply(method, store, values) as unknown;
      };
    },
  });
}

interface Played {
  readonly world: World;
  /** Errors that reached somebody, or stand in the status. */
  readonly visible: readonly string[];
}

/** Two people say two things each, and the process is ended and started in between. */
async function play(store: Store, fault: StoreFault | null): Promise<Played> {
  const disk = createTestStore(store);
  const world = new World({ store: disk, config, drivers: [driver] });
  const visible: string[] = [];
  const note = (error: unknown) => {
    expect(error).toBeInstanceOf(EarshotError);
    expect((error as EarshotError).message).toMatch(/store|journal|stored/i);
    visible.push((error as EarshotError).message);
  };
  const look = () => {
    const { problem, quarantined } = world.runtime.status();
    if (problem !== null) visible.push(problem);
    visible.push(...quarantined.map(({ error }) => error));
  };
  /** Until it works; who starts it frees the disk after the first failure. */
  const start = async () => {
    for (let tries = 0; tries < 3; tries += 1) {
      try {
        await world.start();
        return;
      } catch (error) {
        note(error);
        await world.runtime.stop();
        disk.heal();
      }
    }
    throw new Error("it never starts");
  };
  /** As a platform that was not acknowledged. Somebody frees the disk after a while. */
  const say = async (id: string, chat: string) => {
    for (let tries = 0; tries < triesMax; tries += 1) {
      if (tries === triesMax / 2) disk.heal();
      try {
        await world.say(id, { id, chat: { id: chat, kind: "direct" }, author: { id: chat } });
        return;
      } catch (error) {
        note(error);
        look();
        await world.pass(1_000);
      }
    }
    throw new Error(`${id} was never taken`);
  };
  if (fault !== null) disk.fail(fault);
  await start();
  for (const round of ids) {
    await Promise.all(round.map((id, index) => say(id, chats[index] as string)));
    await world.pass(200);
    look();
    await world.pass(3_000);
    look();
    if (round === ids[0]) {
      await world.runtime.stop();
      await start();
    }
  }
  // The faults are over. Where the status still has a problem, its owner restarts it.
  const isBroken = world.runtime.status().problem !== null;
  disk.heal();
  await world.pass(20_000);
  if (isBroken && world.runtime.status().problem !== null) {
    await world.runtime.stop();
    await start();
    await world.pass(20_000);
  }
  return { world, visible };
}

/** Everybody has an answer, or was notified in its place that there is none; twice only in doubt. */
async function wrongAnswers({ sent, store }: World): Promise<string[]> {
  const rows = await store.outboxByState(["sent"], 10_000);
  const doubted = new Set(rows.flatMap(({ id, doubts }) => (doubts > 0 ? [id] : [])));
  const said = new Map(sent.map(({ id, text, chat }) => [id, { text, chat }]));
  const found = [...said.keys()].flatMap((id) => {
    const times = sent.filter((one) => one.id === id).length;
    return times > 1 && !doubted.has(id) ? [`${id} was sent ${times} times`] : [];
  });
  for (const [index, chat] of chats.entries()) {
    const answers = [...said.values()].flatMap((one) => (one.chat === chat ? [one.text] : []));
    const right = ids.map((round) => `re ${round[index]}`);
    const isRight = answers.every((text, at) => text === right[at] || text === notice);
    if (answers.length !== right.length || !isRight)
      found.push(`${chat} heard ${answers.join(", ")}`);
  }
  return found;
}

/** Somebody got no answer, and was notified in the room. */
const isNotified = ({ sent }: World) => sent.some(({ text }) => text === notice);

/** What is wrong when all is over; empty when everybody has one answer. */
async function wrong({ world }: Played): Promise<string[]> {
  const found: string[] = [];
  const decided = world.decisions().filter(({ decision }) => decision === "engage");
  for (const id of ids.flat()) {
    const times = decided.filter((one) => one.id === id).length;
    if (times !== 1) found.push(`${id} was engaged ${times} times`);
  }
  found.push(...(await wrongAnswers(world)));
  const rows = await world.store.scan(0, 10_000);
  found.push(...rows.flatMap(({ seq, code }) => (code === null ? [`row ${seq} waits`] : [])));
  if ((await world.store.runs()).length > 0) found.push("a turn is left");
  if ((await world.store.outboxOpen()).length > 0) found.push("a send is left");
  const { problem, quarantined, turns } = world.runtime.status();
  if (problem !== null) found.push(`problem: ${problem}`);
  if (quarantined.length > 0) found.push(`quarantined: ${JSON.stringify(quarantined)}`);
  if (turns.running + turns.waiting > 0) found.push("turns are left");
  return found;
}

test("every call of the store may fail, once or until the next start", async () => {
  const counts = new Map<keyof Store, number>();
  const clean = await play(counting(counts), null);
  expect(await wrong(clean)).toEqual([]);
  expect(clean.visible).toEqual([]);
  await clean.world.runtime.stop();
  const random = chance(seed);
  const found: string[] = [];
  let faults = 0;
  let reported = 0;
  for (const [call, count] of counts) {
    // They read and write nothing that could fail.
    if (call === "close" || call === "dirtySize") continue;
    for (let at = 1; at <= count; at += 1)
      for (const forever of [false, true]) {
        if (random() >= share) continue;
        faults += 1;
        const name = `${call} ${at}${forever ? " and all after it" : ""}`;
        try {
          const played = await play(openTemporaryStore(), { call, at, forever });
          found.push(...(await wrong(played)).map((what) => `${name}: ${what}`));
          if (played.visible.length > 0) reported += 1;
          else if (forever && needed.has(call) && !isNotified(played.world))
            found.push(`${name}: nobody was notified`);
          await played.world.runtime.stop();
        } catch (error) {
          found.push(`${name}: ${error}`);
        }
      }
  }
  console.log(`${faults} faults, ${reported} reported; calls ${JSON.stringify([...counts])}`);
  expect(found, `seed ${seed}`).toEqual([]);
  expect(reported).toBeGreaterThan(0);
});

test("a recovery that fails is in the status until the next start, and nothing waits for it without end", async () => {
  const names: string[] = [];
  const listed = new Proxy(openTemporaryStore(), {
    get(store, call: keyof Store) {
      if (call === "meta") return (name: string) => names.push(name) && store.meta(name);
      const method = Reflect.get(store, call) as unknown;
      return typeof method === "function" ? method.bind(store) : method;
    },
  });
  await (await play(listed, null)).world.runtime.stop();
  const at = names.indexOf("sweptSeq") + 1;
  expect(at).toBeGreaterThan(0);
  const played = await play(openTemporaryStore(), { call: "meta", at, forever: false });
  expect(await wrong(played)).toEqual([]);
  expect(played.visible).toContainEqual(expect.stringContaining("recovery failed"));
  await played.world.runtime.stop();
});
