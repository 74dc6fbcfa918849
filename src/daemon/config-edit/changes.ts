/**
 * Changes of the config file
 * ==========================
 * The one way in which pages change it: what was shown is what is written, only if the config is valid
 * with it, and the last change can be taken back, also after a restart of the page or the daemon, as
 * long as nobody changed the file since.
 */
import { existsSync } from "node:fs";
import { readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { configFromText, readConfigText } from "../../adapters/files/config-file.ts";
import type { ParseOptions } from "../../domain/config/index.ts";
import { EarshotError } from "../../domain/errors.ts";
import type { Clock } from "../../domain/ports/index.ts";
import type { LastConfigChange } from "../api-types/settings.ts";
import type { SetupPlanAnswer, SetupWritten } from "../api-types/setup.ts";
import type { AppliedFile } from "../config/config-source.ts";
import { withStoredSecrets } from "../state/secrets-file.ts";
import { diffOf, tokenOf } from "./diff.ts";
import { changeConfigFile, emptyConfig } from "./file.ts";

const applyMsMax = 5_000;
const applyLookMs = 50;
const undoFileName = "config-undo.json";
const labelUnitsMax = 400;

export interface ConfigChangesPorts {
  readonly clock: Clock;
  readonly env: NodeJS.ProcessEnv;
  readonly stateDir: string;
  /** The config file, which may not exist yet. */
  readonly path: string;
  /** What the watcher of that file last put in force. */
  readonly applied: () => AppliedFile;
  readonly parse: ParseOptions;
}

/** The new text of the file. */
export type TextChange = (text: string) => string | Promise<string>;

export interface ConfigChanges {
  /** @throws EarshotError EAR_CONFIG_* when the config would not be valid. */
  plan(change: TextChange): Promise<SetupPlanAnswer>;
  /**
   * `what`: for people, what it changes.
   * @throws EarshotError EAR_USAGE when the file is not the one that `token` was made of.
   */
  write(change: TextChange, token: string, what: string): Promise<SetupWritten>;
  /** Puts a copy back, null: the file was new; if the file is still as `token` says. */
  undo(copy: string | null, token: string): Promise<SetupWritten>;
  /** The last change, if it can still be taken back. */
  last(): Promise<LastConfigChange | null>;
}

const undoSchema = z.object({
  copy: z.string().nullable(),
  token: z.string(),
  what: z.string(),
  at: z.number(),
});

export function createConfigChanges(ports: ConfigChangesPorts): ConfigChanges {
  const { clock, stateDir, path, applied, parse } = ports;
  const undoFile = join(stateDir, undoFileName);
  const textNow = async () => (existsSync(path) ? await readConfigText(path) : emptyConfig);

  async function checked(text: string): Promise<string> {
    configFromText(text, path, { env: withStoredSecrets(ports.env, stateDir), parse });
    return text;
  }

  async function replace(change: TextChange, token: string): Promise<SetupWritten> {
    const before = applied();
    let after = "";
    let differs = false;
    const copy = await changeConfigFile(path, async (text) => {
      if (tokenOf(text) !== token)
        throw new EarshotError(
          "EAR_USAGE",
          `Cannot write ${path}: it has changed meanwhile. Look at the change again`,
        );
      after = await checked(await change(text));
      differs = after !== text;
      return after;
    });
    const isInForce = !differs || (await isApplied(ports, after, before));
    return { path, copy, token: tokenOf(after), applied: isInForce };
  }

  async function remember(change: LastConfigChange | null): Promise<void> {
    await writeFile(`${undoFile}.new`, `${JSON.stringify(change)}\n`, { mode: 0o600 });
    await rename(`${undoFile}.new`, undoFile);
  }

  return {
    async plan(change) {
      const text = await textNow();
      const after = await checked(await change(text));
      return { path, exists: existsSync(path), ...(await diffOf(text, after)) };
    },
    async write(change, token, what) {
      const written = await replace(change, token);
      const { copy } = written;
      const at = clock.now();
      await remember({ copy, token: written.token, what: what.slice(0, labelUnitsMax), at });
      return written;
    },
    async undo(copy, token) {
      const isOurs =
        copy === null ||
        (dirname(copy) === dirname(path) && copy.startsWith(path) && /\.bak\d*$/u.test(copy));
      if (!isOurs)
        throw new EarshotError("EAR_USAGE", "Cannot undo: that is no copy of the config file");
      const written = await replace(
        () => (copy === null ? emptyConfig : readConfigText(copy)),
        token,
      );
      await remember(null);
      return written;
    },
    async last() {
      const stored = undoSchema.safeParse(await readJson(undoFile));
      if (!stored.success) return null;
      const { copy, token } = stored.data;
      if (copy !== null && !existsSync(copy)) return null;
      return tokenOf(await textNow()) === token ? stored.data : null;
    },
  };
}

/** Undefined: it is not there, or nobody can read it; nothing can be taken back then. */
async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch {
    return undefined;
  }
}

/** Waits for the watcher of the file; false: it has refused this text, or it takes long. */
export async function isApplied(
  { clock, applied }: Pick<ConfigChangesPorts, "clock" | "applied">,
  text: string,
  before: AppliedFile,
): Promise<boolean> {
  const isInForce = () => applied().times > before.times && applied().text === text;
  for (let waited = 0; !isInForce(); waited += applyLookMs) {
    if (waited >= applyMsMax) return false;
    await new Promise<void>((done) => clock.setLimit(applyLookMs, done));
  }
  return true;
}
