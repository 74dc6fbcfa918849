/**
 * A whole daemon with one channel, whose agents ask: a program that speaks ACP and wants permission, or a
 * module that offers a choice, and asks an owner in anybody's turn. What became of a message can be asked
 * for by its id.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { startDaemon } from "../../../src/daemon/daemon.ts";
import { builtFile } from "../built/files.ts";
import { newFolder } from "./folder.ts";

const program = builtFile("test/acp-agent");
const module = `
export default async function* (turn) {
  if (/offer/.test(turn.said))
    yield { type: "choices", text: "Tea or coffee?", options: ["Tea", "Coffee"] };
  else if (/permission/.test(turn.said)) {
    const answer = await turn.askOwner({ kind: "execute", title: "rm -rf" });
    yield { type: "text", text: "The owner said: " + answer };
  } else yield { type: "text", text: "You chose: " + turn.said };
}
`;

interface AskingOptions {
  readonly agent: "acp" | "module";
  /** `channels` of the config; every one has the account `default`. */
  readonly channels: Readonly<Record<string, object>>;
  /** With its channel in front. */
  readonly owner: string;
  /** Who gives commands as well, in the same form. @default nobody */
  readonly commanders?: readonly string[];
}

/** What was decided about a message. */
interface Decided {
  readonly decision: string;
  readonly rule: string;
}

export async function startAsking({ agent, channels, owner, commanders = [] }: AskingOptions) {
  const stateDir = newFolder();
  const acp = { kind: "acp", command: process.execPath, args: [program, ""] };
  const driver = agent === "acp" ? acp : { kind: "module", module: "./a.mjs" };
  const config = {
    channels,
    access: { groupPolicy: "open", dmPolicy: "open" },
    commands: { ownerAllowFrom: [owner], allowFrom: { "*": [owner, ...commanders] } },
    messages: { inbound: { debounceMs: 0 } },
    agents: { list: [{ id: "main", name: "Scout", driver }] },
  };
  writeFileSync(join(stateDir, "a.mjs"), module);
  writeFileSync(join(stateDir, "earshot.json5"), JSON.stringify(config), { mode: 0o600 });
  const quiet = { port: 0, workers: 0, env: process.env, writeLog: () => undefined };
  const daemon = await startDaemon({ stateDir, ...quiet });
  onTestFinished(() => daemon.stop({ drainMs: 0 }));
  const get = async (path: string): Promise<unknown> => {
    const headers = { authorization: `Bearer ${daemon.token}` };
    return (await fetch(`${daemon.base}/api/${path}`, { headers })).json();
  };
  const [channel] = Object.keys(channels);
  const state = async () => {
    const { channels: all } = (await get("channels")) as {
      channels: readonly { id: string; accounts: readonly { state: string }[] }[];
    };
    return all.find(({ id }) => id === channel)?.accounts[0]?.state;
  };
  await expect.poll(state).toBe("live");
  return {
    base: daemon.base,
    /** Waits until it is decided. */
    async decided(id: string): Promise<Decided> {
      const about = async () => {
        const answer = await get(`why/${encodeURIComponent(id)}`);
        // Null: it was heard, and not decided yet.
        const { why = [] } = answer as { why?: { recorded: Decided | null }[] };
        return why.flatMap(({ recorded }) => recorded ?? []);
      };
      await expect.poll(about).not.toHaveLength(0);
      return (await about())[0] as Decided;
    },
  };
}
