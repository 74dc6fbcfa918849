/** Plugins as modules on disk: what loads, and what is said of what does not. */
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { configFromText } from "../../../src/adapters/files/config-file.ts";
import { loadPlugins, pluginsNamedIn } from "../../../src/adapters/files/plugins.ts";

const folder = () => mkdtempSync(join(tmpdir(), "earshot-plugins-"));

function put(at: string, name: string, text: string): string {
  writeFileSync(join(at, name), text);
  return `./${name}`;
}

const hooks = 'export default { name: "quiet", hooks: { "turn.ended": () => {} } };';

describe("a list of plugins", () => {
  test("is loaded in its order, from paths beside the config or absolute ones", async () => {
    const at = folder();
    const first = put(at, "first.mjs", hooks);
    put(at, "second.mjs", hooks.replace("quiet", "loud"));
    const plugins = await loadPlugins([first, join(at, "second.mjs")], at);
    expect(plugins.map(({ name }) => name)).toEqual(["quiet", "loud"]);
    expect(plugins[0]?.hooks?.["turn.ended"]).toBeTypeOf("function");
  });

  test("is read from a config file that may say anything else", async () => {
    const at = folder();
    put(at, "a.json5", '{ plugins: ["./x.mjs", "earshot-plugin-y"], nonsense: [1, } ');
    put(at, "b.json5", '{ plugins: ["./x.mjs", "earshot-plugin-y"], nonsense: 1 } ');
    put(at, "c.json5", "{ plugins: [7] }");
    put(at, "d.json5", "{}");
    const named = ["a", "b", "c", "d", "e"].map((name) =>
      pluginsNamedIn(join(at, `${name}.json5`)),
    );
    expect(await Promise.all(named)).toEqual([[], ["./x.mjs", "earshot-plugin-y"], [], [], []]);
  });
});

describe("a plugin that cannot be used is told with its place and the fix", () => {
  test.each([
    ["is not there", null, /plugins\[0\] \(.*bad\.mjs\): there is no such file. Fix the file/],
    ["throws", 'throw new Error("no luck");', /plugins\[0\] .*no luck \(.*bad\.mjs:1\)\. Fix/],
    ["is no JavaScript", "export default {", /plugins\[0\] .*(node --check|invalid JS)/],
    ["exports nothing", "export const a = 1;", /plugins\[0\] .*default export is not a plugin/],
    ["exports a function", "export default () => {};", /default export is not a plugin/],
    ["has no name", "export default { hooks: {} };", /not a plugin \(name: .*definePlugin/],
    [
      "misspells a hook",
      'export default { name: "a", hooks: { "message.recieved": () => {} } };',
      /not a plugin \(hooks/,
    ],
    [
      "has a hook that is none",
      'export default { name: "a", hooks: { "turn.ended": 7 } };',
      /not a plugin \(hooks\.turn\.ended: expected a function\)/,
    ],
    [
      "brings a channel that is none",
      'export default { name: "a", channels: [{ id: "x" }] };',
      /not a plugin \(channels\.0/,
    ],
  ])("%s", async (_, text, said) => {
    const at = folder();
    if (text !== null) put(at, "bad.mjs", text);
    const loading = loadPlugins(["./bad.mjs"], at);
    await expect(loading).rejects.toMatchObject({ code: "EAR_PLUGIN" });
    await expect(loading).rejects.toThrow(said);
  });

  test("a package that is not installed", async () => {
    await expect(loadPlugins(["earshot-plugin-nowhere"], folder())).rejects.toThrow(
      /plugins\[0\] \(earshot-plugin-nowhere\): .*npm install earshot-plugin-nowhere/s,
    );
  });

  test("two of the same name", async () => {
    const at = folder();
    const names = [put(at, "a.mjs", hooks), put(at, "b.mjs", hooks)];
    await expect(loadPlugins(names, at)).rejects.toThrow(
      /plugins\[1\] .*another plugin has the name/,
    );
  });

  test("and once it is mended it loads without a new process", async () => {
    const at = folder();
    const name = put(at, "bad.mjs", 'throw new Error("no");');
    await expect(loadPlugins([name], at)).rejects.toThrow("no");
    await new Promise((resolve) => setTimeout(resolve, 20));
    put(at, "bad.mjs", hooks);
    expect(await loadPlugins([name], at)).toMatchObject([{ name: "quiet" }]);
  });
});

describe("the docs", () => {
  const page = (name: string) =>
    readFileSync(join(import.meta.dirname, "../../../docs/guide", name), "utf8");
  const blocks = (text: string, language: string) =>
    [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, "gms"))].map(
      ([, block]) => block ?? "",
    );

  test("show a plugin that loads and does what they say", async () => {
    const at = folder();
    const [example = ""] = blocks(page("plugins.md"), "js");
    const local = example.replace(/import .* from "earshot";/, "const definePlugin = (it) => it;");
    const [plugin] = await loadPlugins([put(at, "footer.mjs", local)], at);
    const sending = plugin?.hooks?.["message.sending"];
    const ask = (text: string) => sending?.({ text } as never, {} as never);
    expect(ask("hi")).toEqual({ text: "hi\n-- sent by a bot" });
    expect(ask("-----BEGIN PRIVATE KEY-----")).toEqual({ refuse: "shows a private key" });
  });

  test.each(["plugins.md", "heartbeat.md", "replies.md"])(
    "%s has configs that are fine",
    (name) => {
      const examples = blocks(page(name), "json5");
      expect(examples.length).toBeGreaterThan(0);
      for (const example of examples)
        expect(() => configFromText(example, name, { env: {} })).not.toThrow();
    },
  );
});
