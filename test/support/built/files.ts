/** The bundled programs and modules of this run: see setup.ts. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { inject } from "vitest";
import type { FurtherEntry } from "./setup.ts";

type Entry =
  | FurtherEntry
  | "actors/host"
  | "adapters/host-ports"
  | "daemon/cli/main"
  | "daemon/quality-worker"
  | "daemon/what-if-worker";

/** The path of an entry. */
export const builtFile = (entry: Entry): string =>
  join(inject("builtFolder"), "dist", `${entry}.js`);

/** The same as an address. */
export const builtUrl = (entry: Entry): URL => pathToFileURL(builtFile(entry));

/** The folder of the pages. */
export const builtPages = join(inject("builtFolder"), "dist", "web");

/** `earshot` itself. */
export const builtMain = builtFile("daemon/cli/main");
