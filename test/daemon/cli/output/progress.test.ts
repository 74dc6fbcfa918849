/** The bar of a long replay: what stands on the screen is the last thing it said, and then nothing. */
import { PassThrough } from "node:stream";
import type { WriteStream } from "node:tty";
import { expect, test } from "vitest";
import { progressOf } from "../../../../src/daemon/cli/output/replay-output.ts";

/** A terminal of one row, as far as the bar goes: back to its beginning, and clear to its end. */
function row() {
  const stream = Object.assign(new PassThrough(), { isTTY: true });
  let cells = "";
  stream.on("data", (data) => {
    for (const part of String(data).split("\r")) {
      const cleared = part.endsWith("\u001b[K");
      const text = cleared ? part.slice(0, -3) : part;
      cells = cleared ? text : text + cells.slice(text.length);
    }
  });
  return { stream: stream as unknown as WriteStream, cells: () => cells };
}

test("what stands there is where it is now, also when it begins anew", async () => {
  const { stream, cells } = row();
  const pipe = Object.assign(new PassThrough(), { isTTY: false }) as unknown as WriteStream;
  const bar = progressOf(10_000, stream, pipe);
  bar.show(1_200);
  await expect.poll(cells).toBe("████░░░░░░░░░░░░░░░░░░░░░░░░░░ 12 % of 10000 lines");
  bar.show(900);
  await expect.poll(cells).toBe("███░░░░░░░░░░░░░░░░░░░░░░░░░░░ 9 % of 10000 lines");
  bar.end();
  await expect.poll(cells).toBe("");
});

test("a file gets a line for each tenth, once it has taken long enough", async () => {
  const pipe = Object.assign(new PassThrough(), { isTTY: false }) as unknown as WriteStream;
  const log = Object.assign(new PassThrough(), { isTTY: false });
  let time = 0;
  const lines = progressOf(10_000, log as unknown as WriteStream, pipe, "lines", () => time);
  lines.show(1_000);
  time = 6_000;
  lines.show(2_000);
  lines.show(2_500);
  lines.show(3_000);
  log.end();
  expect(String(await log.toArray().then((parts) => parts.join("")))).toBe(
    "20 % of 10000 lines\n30 % of 10000 lines\n",
  );
});
