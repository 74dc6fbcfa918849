// The same agent as a program: the turn is a line on standard input, its events are lines on standard
// output. `driver: { kind: "command", command: "node", args: ["faq-command.mjs", "entries.json"] }`
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { find } from "./search.mjs";

const entries = JSON.parse(readFileSync(process.argv[2], "utf8"));
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const read = async () => JSON.parse((await lines.next()).value);
const write = (event) => console.log(JSON.stringify(event));

const turn = await read();
const answer = find(entries, turn.said);
if (answer !== null) write({ type: "text", text: answer });
else {
  write({ type: "tool-call", id: 1, name: "channel_react", input: { emoji: "🤷" } });
  await read(); // { type: "tool-result", id: 1, text: "Reacted." }
}
process.stdin.destroy(); // otherwise it stays open for results of tools
