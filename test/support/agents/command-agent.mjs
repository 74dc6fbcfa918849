/**
 * An agent as a program
 * =====================
 * Reads one turn from standard input and does what its first argument says. The other side of the
 * `command` driver, with all the ways a program may go wrong.
 */
import { spawn } from "node:child_process";
import { appendFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [, , what, ...rest] = process.argv;
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const next = async () => JSON.parse((await lines.next()).value);
const say = (event) => process.stdout.write(`${JSON.stringify(event)}\n`);
const text = (words) => say({ type: "text", text: words });
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const forever = () => new Promise(() => setInterval(() => undefined, 1_000));

const acts = {
  async echo() {
    const turn = await next();
    text(`heard `);
    text(turn.said);
    say({ type: "message-end" });
    say({ type: "usage", inputTokens: 3, outputTokens: 2 });
  },
  /** Gives the turn back as it came. */
  async turn() {
    text(JSON.stringify(await next()));
  },
  async env() {
    text(Object.keys(process.env).sort().join(" "));
  },
  async cwd() {
    text(process.cwd());
  },
  async args() {
    text(JSON.stringify(rest));
  },
  async silent() {
    await next();
  },
  async hang() {
    await next();
    await forever();
  },
  /** Takes no hint: only SIGKILL ends it. Its child neither. */
  async stubborn() {
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP", "SIGPIPE"])
      process.on(signal, () => undefined);
    process.stdout.on("error", () => undefined);
    const code = `process.on("SIGTERM",()=>{});process.on("SIGHUP",()=>{});
      setInterval(()=>{},1000);process.stdout.write("up")`;
    const child = spawn(process.execPath, ["-e", code], { stdio: ["ignore", "pipe", "ignore"] });
    await new Promise((resolve) => child.stdout.once("data", resolve));
    text(`${process.pid} ${child.pid}`);
    if (rest[0] !== undefined) appendFileSync(rest[0], `${process.pid} ${child.pid}\n`);
    await forever();
  },
  /** Leaves a child behind that holds the pipes. */
  async litter() {
    const child = spawn(process.execPath, ["-e", "setInterval(()=>{},1000)"], {
      stdio: ["ignore", "inherit", "inherit"],
      detached: rest[0] === "detached",
    });
    child.unref();
    text(`left ${child.pid}`);
  },
  /** With a file: says there that it has begun, and goes on whatever the signal. */
  async babble() {
    await next();
    if (rest[0] !== undefined) process.on("SIGTERM", () => undefined);
    for (;;) {
      text("and on ");
      if (rest[0] !== undefined) writeFileSync(rest[0], "begun");
      await pause(2);
    }
  },
  /** Much at once, a little late for slow readers. */
  async flood() {
    for (let line = 0; line < 2_000; line += 1) text(`${"x".repeat(500)}\n`);
  },
  async tool() {
    await next();
    const [name, input] = rest;
    say({ type: "tool-call", id: "7", name, input: JSON.parse(input ?? "{}") });
    const { type, id, text: question } = await next();
    text(`${type} ${id}: ${question}`);
  },
  /** Takes the steps of its argument, a tool or a text each. */
  async plan() {
    await next();
    for (const step of JSON.parse(rest[0])) {
      if (step.text !== undefined) text(step.text);
      else {
        say({ type: "tool-call", id: 1, name: step.tool, input: step.input });
        await next();
      }
    }
  },
  async steered() {
    await next();
    text("ready");
    const { type, text: words } = await next();
    text(` ${type}: ${words}`);
  },
  async split() {
    const bytes = Buffer.from(`${JSON.stringify({ type: "text", text: "grüß 👋" })}\n`);
    for (const byte of bytes) {
      process.stdout.write(Buffer.from([byte]));
      await pause(1);
    }
  },
  async unfinished() {
    process.stdout.write('{"type":"text","text":"no line end"}');
  },
  async garbage() {
    text("before");
    process.stdout.write("Traceback \u001b[31m(most recent call last)\n");
    text("after");
  },
  async shape() {
    say({ type: "text", words: "none" });
  },
  async foreign() {
    say({ type: "weather", sun: true });
    text("dry");
  },
  async bytes() {
    process.stdout.write(Buffer.from([0x22, 0xff, 0xfe, 0x22, 0x0a]));
  },
  async long() {
    process.stdout.write(`{"type":"text","text":"${"y".repeat(3_000_000)}"}\n`);
  },
  async error() {
    say({ type: "error", message: "no luck", retryable: true });
    text("never");
    await forever();
  },
  async crash() {
    text("half an ans");
    process.stderr.write(`${"noise ".repeat(2_000)}\nfatal: out of cheese ${rest.join(" ")}\n`);
    await pause(20);
    process.exitCode = 3;
    process.stdin.destroy();
  },
  async killed() {
    process.kill(process.pid, "SIGSEGV");
    await forever();
  },
  /** Goes on for a while after it has closed its output. */
  async closes() {
    text("done");
    process.stdout.end();
    await forever();
  },
  /** Needs the end of its input to begin. */
  async eof() {
    let all = "";
    for (let line = await lines.next(); !line.done; line = await lines.next()) all += line.value;
    text(`read ${JSON.parse(all).said}`);
  },
};

await acts[what]();
// It ends after its last line, whether or not its input has ended.
if (what !== "crash") process.stdin.destroy();
