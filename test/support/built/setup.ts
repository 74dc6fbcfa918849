/**
 * What runs in threads and processes of its own, bundled
 * ======================================================
 * Worker hosts and programs that tests start run the sources as they are at the start of the suite,
 * laid out as the package is, with its pages. Loading them file by file, each start would cost seconds of processor
 * time; bundling all of them takes two.
 */
import { copyFileSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "vite";
import type { TestProject } from "vitest/node";
import { bundle } from "../../../scripts/build/bundle.mjs";
import { running } from "../agents/alive.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Where the bundled package of this run is. */
    readonly builtFolder: string;
  }
}

const root = resolve(import.meta.dirname, "../../..");
/** In node_modules, because what is not bundled is found from there. */
const cacheDir = join(root, "node_modules", ".cache", "earshot-tests");

/** Besides the package's own entries; one folder deep, as those are that look for others. */
const further = {
  "test/broken-host": "test/support/runtime/broken-host.ts",
  "test/busy-host": "test/support/runtime/busy-host.ts",
  "test/command-program": "test/support/built/command-program.ts",
  "test/crash-agents": "test/crash/agents.ts",
  "test/crash-child": "test/crash/child.ts",
  "test/daemon-process": "test/support/daemon/daemon-program.ts",
  "test/host-module": "test/support/runtime/host-module.ts",
  "test/lease-program": "test/support/restate/lease-program.ts",
  "test/missing-parser": "test/support/built/missing-parser.ts",
  "test/owner": "test/support/agents/owner.ts",
  "test/replay-program": "test/support/replay/program.ts",
  "test/tracing": "test/support/daemon/tracing.ts",
  "test/young-space": "src/daemon/cli/lib/young-space.ts",
  "test/poisoned-host": "test/support/runtime/poisoned-host.ts",
};

export type FurtherEntry = keyof typeof further | "test/acp-agent";

/** A program of somebody else, with the protocol's library inside: it is started some fifty times. */
function bundleAcpAgent(outDir: string): Promise<unknown> {
  const input = { "acp-agent": join(root, "test", "support", "agents", "acp-agent.mjs") };
  const output = { format: "esm", entryFileNames: "[name].js" } as const;
  const rolldownOptions = { input, output };
  const how = { ssr: true, outDir, emptyOutDir: false, minify: false, target: "node20" } as const;
  return build({
    root,
    configFile: false,
    logLevel: "warn",
    publicDir: false,
    ssr: { noExternal: true },
    build: { ...how, rolldownOptions },
  });
}

function buildPages(outDir: string): Promise<unknown> {
  const web = join(root, "web");
  const configFile = join(web, "vite.config.ts");
  return build({ root: web, configFile, logLevel: "error", build: { outDir } });
}

/**
 * Vite takes any other environment than `production`, as Vitest's `test`, for development: it would put Preact's
 * debugging into the pages, which makes them slow and keeps every row that was ever drawn.
 */
async function asShipped(work: () => Promise<unknown>): Promise<void> {
  const { NODE_ENV: before } = process.env;
  process.env.NODE_ENV = "production";
  try {
    await work();
  } finally {
    if (before === undefined) delete process.env.NODE_ENV;
    else process.env.NODE_ENV = before;
  }
}

export async function setup(project: TestProject): Promise<() => void> {
  mkdirSync(cacheDir, { recursive: true });
  // What a run that was killed has left.
  for (const name of readdirSync(cacheDir))
    if (!running(Number(name))) rmSync(join(cacheDir, name), { recursive: true, force: true });
  const folder = join(cacheDir, String(process.pid));
  await asShipped(() =>
    Promise.all([
      bundle(join(folder, "dist"), further),
      bundleAcpAgent(join(folder, "dist", "test")),
      buildPages(join(folder, "dist", "web")),
    ]),
  );
  copyFileSync(join(root, "package.json"), join(folder, "package.json"));
  project.provide("builtFolder", folder);
  return () => rmSync(folder, { recursive: true, force: true });
}
