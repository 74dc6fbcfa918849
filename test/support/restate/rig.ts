/** A real Restate with what a test asks of it, and nodes in processes that can be killed. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { type ConversationView, conversationService } from "../../../src/engines/restate/wire.ts";

const program = new URL("node-program.ts", import.meta.url).pathname;

/** Calls a handler of a conversation as any client can. */
export async function ask(
  ingress: string,
  key: string,
  handler: string,
  input?: unknown,
): Promise<{ readonly status: number; readonly body: unknown }> {
  const answer = await fetch(
    `${ingress}/${conversationService}/${encodeURIComponent(key)}/${handler}`,
    {
      method: "POST",
      headers: input === undefined ? {} : { "content-type": "application/json" },
      ...(input === undefined ? {} : { body: JSON.stringify(input) }),
    },
  );
  return { status: answer.status, body: await answer.json() };
}

export const stateOf = async (ingress: string, key: string): Promise<ConversationView> =>
  (await ask(ingress, key, "state")).body as ConversationView;

export interface NodeProcess {
  readonly pid: number;
  readonly performed: { readonly key: string; readonly seqs: readonly number[] }[];
  /** Resolves when it has begun to perform the event with this number. */
  performing(seq: number): Promise<void>;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
}

/** Starts a node; resolves when it listens. `hangOn`: the event whose performance never ends. */
export async function startNode(port: number, hangOn?: number): Promise<NodeProcess> {
  const more = hangOn === undefined ? [] : [String(hangOn)];
  const child = spawn(process.execPath, ["--import", "tsx", program, String(port), ...more], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const performed: NodeProcess["performed"] = [];
  const waiting: (() => void)[] = [];
  const lines = createInterface({ input: child.stdout });
  const listening = new Promise<void>((resolve, reject) => {
    child.once("exit", () => reject(new Error("The node has ended before it listened")));
    lines.on("line", (line) => {
      const said = JSON.parse(line) as { performed?: NodeProcess["performed"][number] };
      if (said.performed === undefined) resolve();
      else performed.push(said.performed);
      for (const look of waiting.splice(0)) look();
    });
  });
  await listening;
  return {
    pid: child.pid ?? 0,
    performed,
    async performing(seq) {
      while (!performed.some(({ seqs }) => seqs.includes(seq)))
        await new Promise<void>((resolve) => waiting.push(resolve));
    },
    kill: () => killed(child),
  };
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}
