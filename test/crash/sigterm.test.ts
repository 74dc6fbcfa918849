/**
 * SIGTERM in the middle of a load: the built daemon drains, and ends with nothing in doubt. After the next
 * start every accepted message is decided and answered once, and every turn has one outcome. The judge is
 * that of the crashes (check.ts), and the config is theirs.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import fc from "fast-check";
import { expect } from "vitest";
import { openSqliteStore } from "../../src/adapters/stores/sqlite-store.ts";
import { findDaemon } from "../../src/daemon/cli/lib/api-client.ts";
import type { Store } from "../../src/domain/ports/index.ts";
import { builtMain } from "../support/built/files.ts";
import { newFolder } from "../support/daemon/folder.ts";
import { property } from "../support/property.ts";
import { rounds } from "../support/rounds.ts";
import { violations } from "./check.ts";
import { crashConfig } from "./protocol.ts";
import type { Received } from "./world.ts";

const people = 12;
const perRequest = 3;

/** Some turns end at once, and some are under way when the signal comes. */
const agent = `let turns = 0;
export default async function* (turn) {
  turns += 1;
  await new Promise((next) => setTimeout(next, (turns % 8) * 10));
  yield { type: "text", text: "re " + turn.said };
}`;

/** A platform that takes a moment for each answer. */
async function openPlatform() {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += String(part);
    const { id, text, route } = JSON.parse(body);
    received.push({ id, text, chat: route.chat.id });
    setTimeout(() => response.writeHead(204).end(), received.length % 15);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return {
    received,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close,
  };
}

/** A start of the built daemon; resolves when it takes messages. */
async function start(stateDir: string): Promise<{ child: ChildProcess; base: string }> {
  const args = [builtMain, "start", "--state-dir", stateDir, "--port", "0", "--workers", "1"];
  const env = { PATH: process.env.PATH, HOME: stateDir, NO_COLOR: "1" };
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "ignore"] });
  await once(child.stdout, "data");
  const found = await findDaemon(stateDir);
  if (found === null) throw new Error("it did not start");
  return { child, base: found.base };
}

async function end(child: ChildProcess): Promise<number | NodeJS.Signals> {
  const ended = once(child, "close");
  child.kill("SIGTERM");
  const [code, signal] = await ended;
  return code ?? signal;
}

/** What the daemon left on the disk. */
async function atRest<Result>(stateDir: string, look: (store: Store) => Promise<Result>) {
  const store = await openSqliteStore({ path: join(stateDir, "earshot.db") });
  try {
    return await look(store);
  } finally {
    await store.close();
  }
}

property([fc.integer({ min: 1, max: 300 })], { numRuns: rounds(1, 6) })(
  "SIGTERM under load leaves nothing in doubt, and after the next start everything accepted is answered once",
  async (acceptedFirst) => {
    const stateDir = newFolder();
    const platform = await openPlatform();
    const account = { url: platform.url, secret: "a secret of this test" };
    writeFileSync(join(stateDir, "agent.mjs"), agent);
    const config = {
      ...crashConfig,
      agents: {
        defaults: { maxConcurrent: 50 },
        list: [{ id: "main", driver: { kind: "module", module: "./agent.mjs" } }],
      },
      channels: { webhook: { accounts: { default: account } } },
    };
    const file = join(stateDir, "earshot.json5");
    writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
    const first = await start(stateDir);
    const token = readFileSync(join(stateDir, "token"), "utf8").trim();
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };

    const acked = new Set<string>();
    /** Answered with 503: nothing of them was accepted. */
    const refused = new Set<string>();
    let next = 0;
    const enough = new Promise<void>((done) => {
      /** One person, who says the next thing when the last was accepted, until it is refused. */
      const speak = async (person: number): Promise<void> => {
        for (;;) {
          const chat = { id: `peer${person}`, kind: "direct" };
          const said = Array.from({ length: perRequest }, () => {
            next += 1;
            const id = `m${String(next).padStart(5, "0")}`;
            const author = { id: chat.id, name: chat.id };
            return { id, chat, author, text: id, sentAt: 1_700_000_000_000 + next };
          });
          const response = await fetch(`${first.base}/api/inbound`, {
            method: "POST",
            headers,
            body: JSON.stringify(said),
          }).catch(() => null);
          const answered = response?.status === 200 ? acked : refused;
          // Without an answer it may have been accepted or not.
          if (response !== null) for (const { id } of said) answered.add(id);
          if (answered === refused) return;
          if (acked.size >= acceptedFirst) done();
        }
      };
      for (let person = 0; person < people; person += 1) void speak(person);
    });
    await enough;
    expect(await end(first.child)).toBe(0);
    await atRest(stateDir, async (store) => {
      const states = (await store.outboxOpen()).map(({ state }) => state);
      expect(states.filter((state) => state !== "pending")).toEqual([]);
    });

    const second = await start(stateDir);
    const status = async () => {
      const { turns, outbox } = await (
        await fetch(`${second.base}/api/status`, { headers })
      ).json();
      const open = (outbox.pending ?? 0) + (outbox.sending ?? 0) + (outbox.waiting ?? 0);
      return turns.running + turns.waiting + open;
    };
    const texts = () => platform.received.map(({ text }) => text).join("\n");
    const unanswered = async () => {
      const said = texts();
      return [...acked].filter((id) => !said.includes(id)).length + (await status());
    };
    await expect.poll(unanswered, { timeout: 120_000, interval: 100 }).toBe(0);
    expect(await end(second.child)).toBe(0);
    platform.close();
    const { received } = platform;
    const found = await atRest(stateDir, (store) => violations(store, { acked, received }));
    expect(found).toEqual([]);
    const inDoubt = await atRest(stateDir, (store) => store.outboxByState(["in-doubt"], 10));
    expect(inDoubt).toEqual([]);
    expect([...refused].filter((id) => texts().includes(id))).toEqual([]);
    const ids = received.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  },
);
