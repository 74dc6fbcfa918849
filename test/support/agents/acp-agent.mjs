/**
 * An agent that speaks ACP
 * ========================
 * Written with the protocol library's agent side, so the driver is tested against the real thing.
 * What it does in a prompt depends on the prompt's last line, `do: <act> <rest>`, or by the first
 * argument for every prompt.
 */
import { appendFileSync } from "node:fs";
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";

const [, , always = "", log] = process.argv;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const forever = () => new Promise(() => setInterval(() => undefined, 1_000));
const note = (what) => {
  if (log !== undefined) appendFileSync(log, `${JSON.stringify(what)}\n`);
};

if (always === "stray") process.stdout.write("Welcome to the agent!\n[debug] {not json}\n{}\n");
if (always === "mute") await forever();
if (always === "chatter") for (;;) process.stdout.write("tick tock\n") || (await pause(5));
if (always === "early") {
  process.stderr.write("config file not found\n");
  process.exit(2);
}

const sessions = new Map();
let turns = 0;

const acts = {
  async echo(turn) {
    await turn.text("heard ");
    await turn.text(turn.words.at(-1));
  },
  async blocks(turn) {
    await turn.text(JSON.stringify(turn.prompt));
  },
  async think(turn) {
    await turn.update({
      sessionUpdate: "agent_thought_chunk",
      content: { type: "text", text: "hm" },
    });
    await turn.text("so");
  },
  async tools(turn) {
    await turn.text("Looking.");
    const toolCallId = "t1";
    await turn.update({
      sessionUpdate: "tool_call",
      ...{ toolCallId, title: "Read file", status: "pending", rawInput: { path: "a.txt" } },
    });
    await turn.update({ sessionUpdate: "tool_call_update", toolCallId, status: "in_progress" });
    await turn.update({ sessionUpdate: "tool_call_update", toolCallId, status: "completed" });
    await turn.update({
      sessionUpdate: "tool_call",
      ...{ toolCallId: "t2", title: "Write file", status: "failed" },
      content: [{ type: "content", content: { type: "text", text: "a.txt is read-only" } }],
    });
    await turn.update({ sessionUpdate: "plan", entries: [] });
    await turn.text("Found.");
  },
  async ask(turn) {
    const answer = await turn.client.request("session/request_permission", {
      sessionId: turn.sessionId,
      toolCall: {
        ...{ toolCallId: "t1", title: "rm -rf" },
        ...(/^(?:execute|read|edit)$/.test(turn.rest) ? { kind: turn.rest } : {}),
      },
      options: [
        { optionId: "yes", name: "Yes", kind: "allow_once" },
        { optionId: "always", name: "Always", kind: "allow_always" },
        ...(turn.rest === "only-yes" ? [] : [{ optionId: "no", name: "No", kind: "reject_once" }]),
      ],
    });
    await turn.text(JSON.stringify(answer.outcome));
  },
  async file(turn) {
    const asked = turn.client.request("fs/read_text_file", {
      ...{ sessionId: turn.sessionId, path: "/etc/passwd" },
    });
    await turn.text(
      await asked.then(
        ({ content }) => content,
        ({ message }) => message,
      ),
    );
  },
  async hang(turn) {
    await turn.text("one moment");
    await turn.cancelled;
    return "cancelled";
  },
  async deaf(turn) {
    await turn.text("what?");
    await forever();
  },
  async babble(turn) {
    while (!turn.signal.aborted) {
      await turn.text("and on ");
      await pause(2);
    }
    return "cancelled";
  },
  async crash(turn) {
    await turn.text("half an ans");
    await pause(30);
    process.stderr.write("fatal: out of cheese\n");
    process.exit(3);
  },
  async error() {
    throw new acp.RequestError(-32_603, "no luck");
  },
  async stop(turn) {
    return turn.rest;
  },
  async slow(turn) {
    for (const word of ["one ", "two ", "three"]) {
      await turn.text(word);
      await pause(40);
    }
  },
  async remember(turn) {
    await turn.text(`${turn.sessionId} ${turn.session.turns}`);
  },
  async config(turn) {
    await turn.text(JSON.stringify(turn.session.values));
  },
  async flood(turn) {
    for (let line = 0; line < 5_000; line += 1) await turn.text("x".repeat(20));
  },
  async garbage(turn) {
    await turn.text("before");
    process.stdout.write("\u001b[31mTraceback (most recent call last)\n\n[1,2]\n");
    process.stdout.write('{"jsonrpc":"2.0","id":"not ours","result":{}}\n');
    await turn.text(" after");
  },
  async monster() {
    process.stdout.write(`${"z".repeat(3_000_000)}\n`);
    await forever();
  },
};

const select = (id, category, currentValue, values) => ({
  ...{ id, name: id, type: "select", category, currentValue },
  options: values.map((value) => ({ value, name: value })),
});
const configOptions = () => [
  select("model", "model", "small", ["small", "large"]),
  select("effort", "thought_level", "medium", ["low", "medium", "high"]),
];
const open = (sessionId) => {
  sessions.set(sessionId, { turns: 0, values: {}, cancel: () => undefined });
  return { sessionId, configOptions: configOptions() };
};

acp
  .agent({ name: "test-agent" })
  .onRequest("initialize", ({ params }) => {
    note({ initialize: params.clientCapabilities });
    return {
      protocolVersion: always === "future" ? 99 : acp.PROTOCOL_VERSION,
      agentCapabilities: {
        loadSession: always === "loads",
        promptCapabilities: { image: always !== "blind" },
        sessionCapabilities: { close: {} },
      },
    };
  })
  .onRequest("session/new", async ({ params }) => {
    if (always === "stuck") await forever();
    if (always === "login") throw acp.RequestError.authRequired();
    const sessionId = `s${process.pid}-${sessions.size + 1}`;
    note({ new: sessionId, cwd: params.cwd });
    return open(sessionId);
  })
  .onRequest("session/load", async ({ params, client }) => {
    note({ load: params.sessionId });
    const content = { type: "text", text: "an old answer" };
    const update = { sessionUpdate: "agent_message_chunk", content };
    await client.notify("session/update", { sessionId: params.sessionId, update });
    const { sessionId: _, ...rest } = open(params.sessionId);
    return rest;
  })
  .onRequest("session/close", ({ params }) => {
    note({ close: params.sessionId });
    sessions.delete(params.sessionId);
    return {};
  })
  .onRequest("session/set_config_option", ({ params }) => {
    sessions.get(params.sessionId).values[params.configId] = params.value;
    return { configOptions: configOptions() };
  })
  .onNotification("session/cancel", ({ params }) => sessions.get(params.sessionId)?.cancel())
  .onRequest("session/prompt", async ({ params, client }) => {
    const { sessionId, prompt } = params;
    const session = sessions.get(sessionId);
    session.turns += 1;
    turns += 1;
    const stop = new AbortController();
    const cancelled = new Promise((resolve) => {
      session.cancel = () => {
        note({ cancel: sessionId });
        stop.abort();
        resolve();
      };
    });
    const words = prompt.filter(({ type }) => type === "text").map(({ text }) => text);
    // In a composed prompt the fence stands behind it.
    const last = words.at(-1).replace(/\n<\/room-text \w+>$/, "");
    const order = /do: (\w+) ?(.*)$/.exec(last);
    const update = (change) => client.notify("session/update", { sessionId, update: change });
    const text = (said) =>
      update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: said } });
    const act = acts[order?.[1] ?? always] ?? acts.echo;
    const rest = order?.[2] ?? "";
    const turn = { sessionId, session, prompt, words, rest, client, update, text, turns };
    const reason = await act({ ...turn, cancelled, signal: stop.signal });
    return { stopReason: typeof reason === "string" ? reason : "end_turn" };
  })
  .connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
