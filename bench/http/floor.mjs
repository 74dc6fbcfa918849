// An example for `npm run bench -- heard --against bench/http/floor.mjs`: the least that a server can do
// for the same load and the same promise. It parses the JSON, appends the line to a file and answers once
// the file is synced, one sync for all lines that wait. It decides nothing and has no journal: how far we
// are above it is the price of everything else.
import { execFile } from "node:child_process";
import { mkdtemp, open, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";

// What bench/README.md describes: our cases, and the program that speaks.
const { given } = JSON.parse(await text(process.stdin));
const [program, ...args] = given.load;
const folder = await mkdtemp(join(tmpdir(), "floor-"));
const file = await open(join(folder, "lines"), "a");
let waiting = [];
let writing = false;

async function write() {
  writing = true;
  while (waiting.length > 0) {
    const batch = waiting;
    waiting = [];
    await file.write(batch.map(({ line }) => line).join(""));
    await file.datasync();
    for (const { done } of batch) done();
  }
  writing = false;
}

const server = createServer(async (request, response) => {
  const body = JSON.parse(await text(request));
  const durable = new Promise((done) => {
    waiting.push({ line: `${JSON.stringify(body)}\n`, done });
  });
  if (!writing) void write();
  await durable;
  response.setHeader("content-type", "application/json");
  response.end('{"taken":[]}');
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));

const figures = {};
for (const [name, load] of Object.entries(given.cases)) {
  // It answers nobody.
  if (load.answersAt !== undefined) continue;
  const before = process.cpuUsage();
  const { port } = server.address();
  const { stdout } = await promisify(execFile)(program, [
    ...args,
    JSON.stringify({ ...load, port }),
  ]);
  const { perSecond, p50, p99 } = JSON.parse(stdout);
  const { user, system } = process.cpuUsage(before);
  figures[`${name}: lines/s`] = perSecond * load.lines;
  figures[`${name}: p50 ms`] = p50;
  figures[`${name}: p99 ms`] = p99;
  figures[`${name}: CPU us each`] = (user + system) / (load.lines * (load.requests + load.warm));
}
server.close();
await file.close();
await rm(folder, { recursive: true });
process.stdout.write(`${JSON.stringify({ figures })}\n`);
