/**
 * examples/write-a-channel is a whole channel: it keeps the contract, and a daemon that is given its
 * plugin hears a loft and answers there.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type ChannelDefinition, createEarshot, type Plugin } from "../../src/index.ts";
import { newFolder } from "../support/daemon/folder.ts";
import { root } from "../support/docs.ts";

interface Said {
  readonly from: { readonly id: string };
  readonly answers: { readonly id: string } | null;
}
interface Loft {
  readonly port: number;
  readonly said: readonly Said[];
  readonly bots: number;
  open(): Promise<Loft>;
  close(): Promise<void>;
  say(what: { readonly text: string; readonly calls?: readonly string[] }): string;
}

// biome-ignore lint/suspicious/noTemplateCurlyInString: as a config file names the environment
const inEnvironment = "${PIGEON_TOKEN}";
const folder = join(root, "examples/write-a-channel");
const load = (name: string) => import(/* @vite-ignore */ join(folder, name)) as Promise<unknown>;

await load("pigeon.test.mjs");

test("a daemon with the plugin's channel hears a loft, and answers on the message", async () => {
  const { Loft } = (await load("loft.mjs")) as { Loft: new (token: string) => Loft };
  const { default: plugin } = (await load("plugin.mjs")) as { default: Plugin };
  const loft = await new Loft("secret").open();
  onTestFinished(() => loft.close());
  const stateDir = newFolder();
  const config = {
    channels: {
      pigeon: {
        accounts: { default: { port: loft.port, token: inEnvironment } },
        groups: { roof: {} },
      },
    },
  };
  writeFileSync(join(stateDir, "earshot.json5"), JSON.stringify(config), { mode: 0o600 });
  const daemon = await createEarshot({
    stateDir,
    port: 0,
    workers: 0,
    env: { PIGEON_TOKEN: "secret" },
    writeLog: () => undefined,
    channels: plugin.channels as readonly ChannelDefinition[],
  });
  onTestFinished(() => daemon.stop());
  await expect.poll(() => loft.bots).toBe(1);
  const asked = loft.say({ text: "pidge, are you there?", calls: ["pidge"] });
  const answer = () => loft.said.find(({ from }) => from.id === "pidge");
  await expect.poll(answer, { timeout: 60_000 }).toMatchObject({ answers: { id: asked } });
  const [why] = await daemon.runtime.why(asked);
  expect(why?.recorded).toMatchObject({ decision: "engage", rule: "mention" });
});
