/**
 * What the search costs for each message: bytes on disk and us of writing, beside those of the
 * journal in the same run; what an index of trigrams would cost instead; and how long a search takes
 * and blocks the event loop among 100,000 messages.
 */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { conversationOf, newEvent } from "../../src/actors/protocol/event-codec.ts";
import { openSearchIndex } from "../../src/adapters/search/search-database.ts";
import { loadDriver } from "../../src/adapters/stores/sqlite-driver.ts";
import { openSqliteStore } from "../../src/adapters/stores/sqlite-store.ts";
import { createFollower } from "../../src/daemon/search/follower.ts";
import type { MessageQuery } from "../../src/domain/ports/index.ts";
import { parseQuery } from "../../src/domain/search/query.ts";
import { assertRatio, busyMix, messages, randomFrom, report, round, short } from "../support.ts";

const count = short ? 10_000 : 100_000;
const batch = 50;
const folder = mkdtempSync(join(tmpdir(), "earshot-bench-search-"));
const random = randomFrom(7);
/** Chat has a few common words and many rare ones: by Zipf, of 20,000. */
const word = () => `w${Math.floor(20_000 ** random()).toString(36)}`;
const textOf = () => Array.from({ length: 4 + Math.floor(random() * 16) }, word).join(" ");

const store = await openSqliteStore({ path: join(folder, "journal.db") });
const next = messages(50, busyMix);
const texts: string[] = [];
let journalMs = 0;
for (let done = 0; done < count; done += batch) {
  const writes = Array.from({ length: batch }, (_, at) => {
    const n = done + at;
    const text = textOf();
    texts.push(text);
    const message = { ...next(n, n), text };
    const event = {
      type: "message.received",
      at: n,
      seq: 0,
      message,
      authority: { commandAuthorized: false, owner: false },
    } as const;
    const named = { identity: `m${n}`, sentAt: n, messageId: message.id, code: 12 };
    return newEvent(
      conversationOf(`agent:main:telegram:group:${message.chat.id}`),
      0,
      event,
      named,
    );
  });
  const from = performance.now();
  await store.commit(writes.map(({ write }) => write));
  journalMs += performance.now() - from;
}

async function build(name: string, fullText: boolean) {
  const path = join(folder, name);
  const index = openSearchIndex({ path, fullText });
  const follower = createFollower({ store, index, agentOf: () => ({ id: "main", name: "main" }) });
  const longest = watchLoop();
  const from = performance.now();
  await follower.catchUp();
  const ms = performance.now() - from;
  return { index, path, ms, blockedMs: longest() };
}

/** The longest time in which nothing else could run. */
function watchLoop(): () => number {
  let before = performance.now();
  let longest = 0;
  let watching = true;
  const look = () => {
    longest = Math.max(longest, performance.now() - before);
    before = performance.now();
    if (watching) setImmediate(look);
  };
  setImmediate(look);
  return () => {
    watching = false;
    return longest;
  };
}

const bytesOf = (path: string) =>
  statSync(path).size + (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0);

const words = await build("words.db", true);
const facts = await build("facts.db", false);

async function time(query: Partial<MessageQuery>) {
  const longest = watchLoop();
  const from = performance.now();
  await words.index.find({ terms: [], limit: 50, ...query });
  return { ms: performance.now() - from, blockedMs: longest() };
}
const common = await time({ terms: parseQuery("w12") });
const rare = await time({ terms: parseQuery('"wff8"') });
const rareFact = await time({ terms: parseQuery("w12"), author: "nobody" });
const negative = await time({ terms: parseQuery("-w") });

/** The same texts in an index of trigrams. */
function trigrams(): number {
  const { DatabaseSync } = loadDriver();
  const path = join(folder, "trigrams.db");
  const database = new DatabaseSync(path);
  database.exec(
    "CREATE VIRTUAL TABLE t USING fts5(text, content='', columnsize=0, tokenize=trigram)",
  );
  const insert = database.prepare("INSERT INTO t(rowid, text) VALUES(?, ?)");
  database.exec("BEGIN");
  for (const [at, text] of texts.entries()) insert.run(at + 1, text);
  database.exec("COMMIT");
  database.close();
  return bytesOf(path);
}
const wordsBytes = Math.max(1, bytesOf(words.path) - bytesOf(facts.path));
const perMessage = (value: number) => round(value / count, 1);
const ratios = {
  "write: index over journal": round(words.ms / journalMs),
  "bytes: index over journal": round(bytesOf(words.path) / bytesOf(join(folder, "journal.db"))),
  "bytes: words over text and facts": round(wordsBytes / bytesOf(facts.path)),
  "bytes: trigrams over words": round(trigrams() / wordsBytes),
};
report({
  bench: "search",
  figures: {
    messages: count,
    "journal, us a message": perMessage(journalMs * 1_000),
    "index, us a message": perMessage(words.ms * 1_000),
    "index, bytes a message": perMessage(bytesOf(words.path)),
    "of that words, bytes a message": perMessage(wordsBytes),
    "longest step, ms": round(words.blockedMs, 1),
    "common word, ms": round(common.ms, 1),
    "rare word, ms": round(rare.ms, 1),
    "nothing to find, ms": round(rareFact.ms, 1),
    "without a word, ms": round(negative.ms, 1),
    "longest part of a search, ms": round(
      Math.max(common.blockedMs, rare.blockedMs, rareFact.blockedMs, negative.blockedMs),
      1,
    ),
  },
  ratios,
});
words.index.close();
facts.index.close();
await store.close();
rmSync(folder, { recursive: true, force: true });
assertRatio("bytes: trigrams over words", ratios["bytes: trigrams over words"], 1.2);
