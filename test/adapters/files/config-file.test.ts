/**
 * The config file on a real disk: what is refused, what is reported, and what is followed.
 */
import { existsSync } from "node:fs";
import { chmod, chown, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  type ConfigWatch,
  readConfigFile,
  watchConfigFile,
} from "../../../src/adapters/files/config-file.ts";
import { lineFinder } from "../../../src/adapters/files/json5-lines.ts";
import { loadPlugins, pluginsNamedIn } from "../../../src/adapters/files/plugins.ts";
import { EarshotError } from "../../../src/domain/errors.ts";

let folder: string;
let path: string;
let watching: ConfigWatch | null = null;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "earshot-config-"));
  path = join(folder, "earshot.json5");
});
afterEach(async () => {
  await watching?.close();
  watching = null;
  await rm(folder, { recursive: true });
});

const write = (text: string, mode = 0o600) => writeFile(path, text, { mode });
const refusal = async (text: string, env: Record<string, string> = {}) => {
  await write(text);
  try {
    await readConfigFile(path, { env });
  } catch (error) {
    if (error instanceof EarshotError) return { code: error.code, message: error.message };
    throw error;
  }
  throw new Error(`was taken: ${text}`);
};
const telegram = (token: string, more = "") =>
  `{ channels: { telegram: { accounts: { default: { botToken: ${JSON.stringify(token)}${more} } } } } }`;

describe("reading", () => {
  test("JSON5 with comments and a byte order mark is read", async () => {
    await write("\ufeff// mine\n{ context: { size: 3, }, /* more */ log: { level: 'debug' } }");
    const { config, warnings } = await readConfigFile(path, { env: {} });
    expect([config.context.size, config.log.level, warnings]).toEqual([3, "debug", []]);
  });

  test("a slip of the pen is told with file, line and column", async () => {
    const { code, message } = await refusal("{\n  context: { size: 3 ]\n}");
    expect(code).toBe("EAR_CONFIG_SYNTAX");
    expect(message).toBe(`Cannot read ${path}, line 2, column 22: unexpected character ']'`);
  });

  test("a problem is told with file, place, fix and line", async () => {
    const { message } = await refusal("{\n  // rules\n  engagment: {\n    trigger: [],\n  },\n}");
    expect(message).toBe(
      `Cannot read ${path}, line 3: unknown section "engagment". Did you mean "engagement"?`,
    );
    expect(
      (await refusal("{ agents: { list: [\n{ id: 'a' },\n{ id: 'b c' }] } }")).message,
    ).toContain("agents.list[1].id is invalid");
    expect(
      (await refusal("{ agents: { list: [\n{ id: 'a' },\n{ id: 'b c' }] } }")).message,
    ).toContain(", line 3: ");
  });

  test("A37: a file that is a link, a folder or not there is refused by name", async () => {
    const target = join(folder, "target.json5");
    await writeFile(target, "{}", { mode: 0o600 });
    await symlink(target, path);
    await expect(readConfigFile(path, { env: {} })).rejects.toThrow("symbolic link");
    await expect(readConfigFile(folder, { env: {} })).rejects.toThrow("not a file");
    await expect(readConfigFile(join(folder, "none"), { env: {} })).rejects.toThrow(
      "there is no such file",
    );
  });

  test("A37: prototype keys are refused before anything is made of them", async () => {
    const { code } = await refusal('{ access: { "__proto__": { dmPolicy: "open" } } }');
    expect(code).toBe("EAR_CONFIG_UNSAFE");
  });
});

describe("secrets", () => {
  test("a secret may come from the environment", async () => {
    await write(telegram(`\${BOT}`), 0o644);
    const { config, warnings } = await readConfigFile(path, { env: { BOT: "123:abc" } });
    expect(config.channels.telegram?.accounts?.default?.botToken).toBe("123:abc");
    expect(warnings).toEqual([]);
  });

  test("a variable that is not set is named with the place that needs it", async () => {
    for (const env of [{}, { BOT: "" }]) {
      const { code, message } = await refusal(telegram(`\${BOT}`), env);
      expect(code).toBe("EAR_CONFIG_SECRET_MISSING");
      expect(message).toContain("channels.telegram.accounts.default.botToken is missing: ");
      expect(message).toContain("BOT is neither set in the environment nor stored in secrets.json");
    }
    expect((await refusal(telegram(`\${toString}`))).code).toBe("EAR_CONFIG_SECRET_MISSING");
  });

  test("an account that is switched off needs no secret", async () => {
    await write(telegram(`\${BOT}`, ", enabled: false"));
    await expect(readConfigFile(path, { env: {} })).resolves.toBeDefined();
  });

  test("nothing but a whole secret comes from the environment", async () => {
    expect(
      (await refusal(`{ messages: { responsePrefix: '\${HOME}' } }`, { HOME: "/" })).message,
    ).toContain("messages.responsePrefix cannot refer to the environment");
    expect((await refusal(telegram(`x-\${BOT}`), { BOT: "1" })).message).toContain("or exactly");
  });

  test.each([0o644, 0o640, 0o604])(
    "A37: a secret in a file of mode %o, which others may read, is refused with its place",
    async (mode) => {
      await write(telegram("123:abcdef"));
      expect((await readConfigFile(path, { env: {} })).warnings).toEqual([]);
      await chmod(path, mode);
      const refused = await readConfigFile(path, { env: {} }).catch((error: unknown) => error);
      expect(refused).toMatchObject({ code: "EAR_CONFIG_UNSAFE" });
      expect(String(refused)).toContain(
        `others may read it, and it contains channels.telegram.accounts.default.botToken. Run chmod 600 ${path}`,
      );
      expect(String(refused)).not.toContain("abcdef");
    },
  );

  test("A37: a file that everybody may write is refused, secrets or not", async () => {
    await write("{}");
    await chmod(path, 0o646);
    await expect(readConfigFile(path, { env: {} })).rejects.toThrow("everyone may write it");
    await chmod(path, 0o644);
    await expect(readConfigFile(path, { env: {} })).resolves.toBeDefined();
  });

  test("A37: a file of another user is refused, one of root is not", async () => {
    const ofRoot = await readConfigFile("/etc/hostname", { env: {} }).catch(String);
    expect(String(ofRoot)).not.toContain("belongs to");
    // Only root can give a file away.
    if (process.getuid?.() !== 0) return;
    await write("{}");
    await chown(path, 4_242, 4_242);
    await expect(readConfigFile(path, { env: {} })).rejects.toThrow("it belongs to user 4242");
  });

  test("A37: a plugin named by a file that is refused is never loaded", async () => {
    const marker = join(folder, "ran");
    const code = `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(marker)}, "");
      export default { name: "evil" };`;
    await writeFile(join(folder, "evil.mjs"), code);
    await write("{ plugins: ['./evil.mjs'] }");
    const load = async () => {
      const named = await pluginsNamedIn(path);
      await loadPlugins(named, folder);
      return named;
    };
    await chmod(path, 0o666);
    expect([await load(), existsSync(marker)]).toEqual([[], false]);
    await chmod(path, 0o600);
    expect([await load(), existsSync(marker)]).toEqual([["./evil.mjs"], true]);
  });
});

describe("following", () => {
  /** The reports of a watcher, in order, and a way to wait for more. */
  async function follow() {
    const reported: (readonly string[] | string)[] = [];
    let wake = () => {};
    const send = (what: readonly string[] | string) => {
      reported.push(what);
      wake();
    };
    const first = await readConfigFile(path, { env: {} });
    watching = watchConfigFile(first, {
      env: {},
      settleMs: 30,
      changed: (_loaded, paths) => send(paths),
      refused: (error) => send(error instanceof EarshotError ? error.code : String(error)),
    });
    const until = async (count: number) => {
      while (reported.length < count)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      return reported;
    };
    return { reported, until };
  }

  test("a change is told by its paths, a broken file is refused and the last good one stays", async () => {
    await write("{ context: { size: 3 } }");
    const { until } = await follow();
    await write("{ context: { size: 4 }, log: { level: 'warn' } }");
    await until(1);
    await write("{ context: { siez: 5 } }");
    await until(2);
    await write("{ context: { size: 5 }, log: { level: 'warn' } }");
    expect(await until(3)).toEqual([
      ["context.size", "log.level"],
      "EAR_CONFIG_UNKNOWN_KEY",
      ["context.size"],
    ]);
  });

  test("a new file renamed over the old one is followed; the same words again are no change", async () => {
    await write("{ context: { size: 3 } }");
    const { until } = await follow();
    await write("{ context: { size: 3 } } // only a comment");
    const other = join(folder, "new");
    await writeFile(other, "{ context: { size: 6 } }", { mode: 0o600 });
    await rename(other, path);
    await until(1);
    await rm(path);
    await write("{ context: { size: 7 } }");
    expect(await until(2)).toEqual([["context.size"], ["context.size"]]);
  });

  test("a change that could not be taken over is told, and offered again", async () => {
    await write("{ context: { size: 3 } }");
    const first = await readConfigFile(path, { env: {} });
    const reported: string[] = [];
    let done = () => {};
    const taken = new Promise<void>((resolve) => {
      done = resolve;
    });
    await write("{ context: { size: 4 } }");
    watching = watchConfigFile(first, {
      env: {},
      settleMs: 30,
      async changed() {
        reported.push("changed");
        if (reported.length === 1) throw new Error("the store is full");
        done();
      },
      refused: async (error) => {
        reported.push(String(error));
        await write("{ context: { size: 4 } }\n");
      },
    });
    await taken;
    expect(reported).toEqual(["changed", "Error: the store is full", "changed"]);
  });

  test("where a change was taken over in part, the file as it was before is taken over again", async () => {
    await write("{ context: { size: 3 } }");
    const first = await readConfigFile(path, { env: {} });
    const sizes: number[] = [];
    let done = () => {};
    const taken = new Promise<void>((resolve) => {
      done = resolve;
    });
    await write("{ context: { size: 4 } }");
    watching = watchConfigFile(first, {
      env: {},
      settleMs: 30,
      async changed({ config }) {
        sizes.push(config.context.size);
        if (sizes.length === 1) throw new Error("the store is full");
      },
      applied: () => done(),
      refused: async () => write("{ context: { size: 3 } }"),
    });
    await taken;
    expect(sizes).toEqual([4, 3]);
  });
});

describe("lines", () => {
  test("every place of a text is found, or the nearest around it", () => {
    const text = `// a
{
  a: 1, 'b c': { // {
    "d\\u0065": [
      "x: {", 2,
      { e: /* , */ null },
    ],
  },
  "f": 'it''
}`.replace("'it''", "'it'");
    const line = lineFinder(text);
    for (const [place, expected] of [
      [[], 1],
      [["a"], 3],
      [["b c"], 3],
      [["b c", "de"], 4],
      [["b c", "de", 0], 5],
      [["b c", "de", 1], 5],
      [["b c", "de", 2], 6],
      [["b c", "de", 2, "e"], 6],
      [["f"], 9],
      [["f", "unknown"], 9],
      [["none"], 1],
    ] as const)
      expect([place, line(place)]).toEqual([place, expected]);
  });

  test("a hundred thousand lists within each other take time in proportion to the text", () => {
    const depth = 100_000;
    const line = lineFinder(`[\n${"[".repeat(depth)}${"]".repeat(depth)}, 7]`);
    expect(line([])).toBe(1);
    expect(line(Array.from({ length: depth }, () => 0))).toBe(2);
    expect(line([1])).toBe(2);
  });
});
