/** Skills in agents' folders, and the commands of plugins that are loaded from files. */
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadPlugins } from "../../../src/adapters/files/plugins.ts";
import { readSkills } from "../../../src/adapters/files/skills.ts";
import { parseConfig } from "../../../src/domain/config/index.ts";

const newFolder = () => mkdtempSync(join(tmpdir(), "earshot-skills-"));
const good = { help: "Reviews a change", prompt: "Look twice." };

function withSkill(base: string, name: string, manifest: unknown): string {
  const folder = join(base, "scout", "skills", name);
  mkdirSync(folder, { recursive: true });
  const text = typeof manifest === "string" ? manifest : JSON.stringify(manifest);
  writeFileSync(join(folder, "skill.json"), text);
  return folder;
}
const config = parseConfig({
  agents: { list: [{ id: "main", default: true, workspace: "scout" }, { id: "second" }] },
});

describe("skills", () => {
  test("are read from the folders of agents that have one, in the order of their names", async () => {
    const base = newFolder();
    withSkill(base, "review", { ...good, usage: "[file]", who: "owner", menu: true });
    withSkill(base, "brief", good);
    mkdirSync(join(base, "scout", "skills", "empty"));
    writeFileSync(join(base, "scout", "skills", "notes.txt"), "x");
    const { skills, problems } = await readSkills(config, base);
    expect(problems).toEqual([]);
    expect(skills).toEqual([
      { ...good, name: "brief", agentId: "main", usage: "", who: "authorised", menu: false },
      { ...good, name: "review", agentId: "main", usage: "[file]", who: "owner", menu: true },
    ]);
    expect(await readSkills(config, newFolder())).toEqual({ skills: [], problems: [] });
  });

  test.each([
    ["no JSON", "{", /skill\.json is left out/],
    ["no prompt", { help: "x" }, /prompt/],
    ["unknown keys", { ...good, run: "rm -rf /" }, /run/],
    ["help of two lines", { ...good, help: "a\nb" }, /one line/],
    ["help with markup", { ...good, help: "`x`" }, /one line without/],
    ["a prompt without an end", { ...good, prompt: "x".repeat(16_001) }, /prompt/],
    ["more than fits", `"${"x".repeat(200_000)}"`, /plain file/],
  ])("with %s are left out, with the reason, and others stay", async (_, manifest, why) => {
    const base = newFolder();
    withSkill(base, "bad", manifest);
    withSkill(base, "fine", good);
    const { skills, problems } = await readSkills(config, base);
    expect(skills.map(({ name }) => name)).toEqual(["fine"]);
    expect(problems).toEqual([expect.stringMatching(why)]);
  });

  test("are not read through links", async () => {
    const base = newFolder();
    const real = withSkill(newFolder(), "real", good);
    const folder = withSkill(base, "fine", good);
    symlinkSync(real, join(base, "scout", "skills", "linked"));
    mkdirSync(join(base, "scout", "skills", "file"));
    symlinkSync(join(folder, "skill.json"), join(base, "scout", "skills", "file", "skill.json"));
    const { skills, problems } = await readSkills(config, base);
    expect(skills.map(({ name }) => name)).toEqual(["fine"]);
    expect(problems).toEqual([expect.stringContaining("symbolic link")]);
  });
});

describe("a plugin with commands", () => {
  const load = (text: string) => {
    const base = newFolder();
    writeFileSync(join(base, "one.mjs"), `export default ${text};`);
    return loadPlugins(["./one.mjs"], base);
  };
  const feed = "{ feed: { help: 'Feeds', run: () => 'fed' } }";

  test("is taken", async () => {
    const [plugin] = await load(`{ name: "pigeon", commands: ${feed} }`);
    expect(Object.keys(plugin?.commands ?? {})).toEqual(["feed"]);
  });

  test.each([
    [`{ name: "Big Bird", commands: ${feed} }`, /a plugin with commands needs a name/],
    [`{ name: "skill", commands: ${feed} }`, /not "skill"/],
    [`{ name: "pigeon", commands: { "Feed it": { help: "x", run() {} } } }`, /commands\.Feed it/],
    [`{ name: "pigeon", commands: { feed: { help: "x" } } }`, /run: expected a function/],
    [`{ name: "pigeon", commands: { feed: { help: "x", who: "anyone", run() {} } } }`, /who/],
  ])("is refused with the reason: %s", async (text, why) => {
    await expect(load(text)).rejects.toThrow(why);
  });
});
