// The program of the campaign, bundled: loading its sources one by one would take longer than fifty seeds.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { build } from "vite";
import { root } from "../prepare.mjs";

/** In node_modules, because what is not bundled is found from there. */
const cacheDir = join(root, "node_modules", ".cache", "earshot-sim");

/**
 * Bundles it, with a mistake in the sources if one is given. Returns the file, and what removes it.
 * @throws Error when the mistake's line is not in the sources (any more), or more than once.
 */
export async function buildProgram(mistake = null) {
  mkdirSync(cacheDir, { recursive: true });
  const folder = mkdtempSync(join(cacheDir, "program-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  let isPlanted = mistake === null;
  const plant = {
    name: "plant-a-mistake",
    enforce: "pre",
    transform(code, id) {
      if (mistake === null || !id.endsWith(mistake.file)) return null;
      const parts = code.split(mistake.line);
      if (parts.length !== 2)
        throw new Error(`${mistake.file} has ${parts.length - 1} times: ${mistake.line}`);
      isPlanted = true;
      return { code: parts.join(mistake.instead), map: null };
    },
  };
  try {
    await build({
      root,
      configFile: false,
      logLevel: "error",
      publicDir: false,
      plugins: [plant],
      build: {
        ssr: true,
        outDir: folder,
        minify: false,
        target: "node20",
        rolldownOptions: {
          input: { program: join(root, "test/sim/campaign/program.ts") },
          output: { entryFileNames: "[name].mjs" },
        },
      },
    });
    if (!isPlanted) throw new Error(`${mistake.file} is not a part of the program`);
  } catch (error) {
    remove();
    throw error;
  }
  return { file: join(folder, "program.mjs"), remove };
}
