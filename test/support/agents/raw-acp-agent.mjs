// An ACP agent that answers a prompt with the bytes that the prompt holds in base64 (behind the last
// "raw:"), whatever they are, and then ends the turn. `PROMPT` in them is the number of the request.
import { createInterface } from "node:readline";

const answer = (id, result) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") answer(id, { protocolVersion: params.protocolVersion });
  else if (method === "session/new") answer(id, { sessionId: "s" });
  else if (method === "session/prompt") {
    const text = params.prompt.map((block) => block.text ?? "").join("\n");
    const bytes = Buffer.from(text.split("raw:").at(-1).trim(), "base64").toString("latin1");
    process.stdout.write(Buffer.from(bytes.replaceAll("PROMPT", String(id)), "latin1"));
    process.stdout.write("\n");
    answer(id, { stopReason: "end_turn" });
  }
});
