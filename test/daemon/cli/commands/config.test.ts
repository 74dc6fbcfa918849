/**
 * `earshot config` and `earshot route` as a person calls them: what they print and how they end.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { schemaFiles } from "../../../../scripts/reference/schemas.ts";
import { addConfigCommand } from "../../../../src/daemon/cli/commands/config.ts";
import { addRouteCommand } from "../../../../src/daemon/cli/commands/route.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "earshot-commands-"));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

/** Runs a command line in this process; what it wrote and its exit code. */
async function earshot(...args: readonly string[]) {
  const program = new Command("earshot").exitOverride();
  addConfigCommand(program);
  addRouteCommand(program);
  const wrote = { out: "", err: "" };
  const { stdout, stderr } = process;
  const kept = [stdout.write, stderr.write, process.exitCode] as const;
  const into = (name: keyof typeof wrote) => (text: string | Uint8Array) => {
    wrote[name] += String(text);
    return true;
  };
  stdout.write = into("out");
  stderr.write = into("err");
  process.env.EARSHOT_STATE_DIR = folder;
  process.exitCode = 0;
  try {
    await program.parseAsync([...args], { from: "user" });
    return { ...wrote, code: Number(process.exitCode) };
  } finally {
    [stdout.write, stderr.write, process.exitCode] = kept;
    delete process.env.EARSHOT_STATE_DIR;
  }
}

async function file(text: string): Promise<string> {
  const path = join(folder, "earshot.json5");
  await writeFile(path, text, { mode: 0o600 });
  return path;
}
/** What is looked at of a JSON Schema. */
interface Node {
  readonly description?: string;
  readonly const?: unknown;
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Node>>;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly additionalProperties?: Node | boolean;
  readonly anyOf?: readonly Node[];
}

const message = (given: object) =>
  JSON.stringify({
    channel: "telegram",
    chat: { id: "-100", kind: "group" },
    author: { id: "7" },
    ...given,
  });

test("show --origins names line, variable and file of secrets", async () => {
  const path = await file(`{
  engagement: { activation: "mention" },
  agents: { list: [{ id: "main", driver: {
    kind: "model", provider: "openai", model: "m",
    apiKey: "\${OPENAI_API_KEY}",
  } }] },
}`);
  await writeFile(join(path, "../secrets.json"), '{ "OPENAI_API_KEY": "sk-x" }', { mode: 0o600 });
  const { out } = await earshot("config", "show", "--origins");
  const rowOf = (name: string) =>
    out
      .split("\n")
      .find((line) => line.startsWith(`${name} `))
      ?.replace(/ +/gu, " ");
  expect(rowOf("engagement.activation")).toBe('engagement.activation file, line 2 "mention"');
  expect(rowOf("agents.list[0].driver.apiKey")).toBe(
    `agents.list[0].driver.apiKey secrets.json, named in line 5 "\${OPENAI_API_KEY}"`,
  );
  expect(rowOf("log.showText")).toMatch(/ default /u);
  expect(out).not.toContain("sk-x");
  const json = JSON.parse(
    (await earshot("config", "show", "engagement", "--origins", "--json")).out,
  );
  expect(json).toContainEqual({
    path: "engagement.activation",
    value: "mention",
    origin: "file",
    line: 2,
  });
});

describe("config check", () => {
  test("no file and a valid file pass, and warnings do not fail", async () => {
    expect(await earshot("config", "check")).toMatchObject({
      code: 0,
      out: "no config file: the built-in defaults apply\n",
    });
    const path = await file(
      `{ channels: { telegram: { accounts: { default: { botToken: "12:ab" } } } } }`,
    );
    const { code, out } = await earshot("config", "check", "--offline");
    expect(code).toBe(0);
    expect(out).toContain("warning: channels.telegram.accounts.default: it hears no group");
    expect(out).toContain(`${path} is valid`);
    const warnings = JSON.parse((await earshot("config", "check", "--offline", "--json")).out);
    expect(warnings).toMatchObject({
      path,
      ok: true,
      warnings: [expect.stringContaining("hears no group")],
    });
  });

  test("what the file names is tried, and what does not work is exit code 1 with its reason", async () => {
    const path = await file(
      `{ agents: { list: [{ id: "main", driver: ` +
        `{ kind: "model", model: "m", baseUrl: "http://127.0.0.1:1/v1" } }] } }`,
    );
    const { code, out } = await earshot("config", "check");
    expect(code).toBe(1);
    expect(out).toBe(
      "wrong: agents.list[0].driver: refused: 127.0.0.1:1 cannot be reached\n" +
        `${path} is valid, but not everything in it works\n`,
    );
    const json = JSON.parse((await earshot("config", "check", "--json")).out);
    expect(json).toMatchObject({
      ok: false,
      tried: [{ check: "agents.list[0].driver", state: "wrong" }],
    });
  });

  test("a problem is one line on stderr and exit code 2", async () => {
    await file(`{\n channels: { telegram: { acounts: {} } } }`);
    const { code, out, err } = await earshot("config", "check");
    expect([code, out]).toEqual([2, ""]);
    expect(err).toMatch(
      /^earshot: EAR_CONFIG_UNKNOWN_KEY: .*, line 2: .*Did you mean "accounts"\?\n$/u,
    );
  });
});

test("config check refuses a certificate that the daemon could not start with", async () => {
  await file(
    `{ server: { host: "0.0.0.0", exposed: true, tls: { cert: "c.pem", key: "k.pem" } } }`,
  );
  const { code, out, err } = await earshot("config", "check");
  expect([code, out]).toEqual([2, ""]);
  expect(err).toContain("Cannot use server.tls.cert: ");
  expect(err).toContain(join(folder, "c.pem"));
});

describe("config show", () => {
  test("says of each value where it comes from, and of no secret what it is", async () => {
    await file(
      `{ context: { size: 4 }, channels: { telegram: { accounts: { default: { botToken: "12:canary" } } } } }`,
    );
    const context = await earshot("config", "show", "context");
    expect(context.out).toMatch(/context\.size +file +4/u);
    expect(context.out).toMatch(/context\.maxAgeMs +default +21600000/u);
    const all = await earshot("config", "show", "--json", "--port", "99");
    expect(all.out).not.toContain("canary");
    const values = JSON.parse(all.out) as { path: string; origin: string; value: unknown }[];
    expect(values.find(({ path }) => path === "server.port")).toMatchObject({
      origin: "flag",
      value: 99,
    });
    expect(values.find(({ path }) => path.endsWith("botToken"))).toMatchObject({ origin: "file" });
  });

  test("a path that is nothing ends with 1", async () => {
    expect((await earshot("config", "show", "contexts")).code).toBe(1);
  });
});

describe("route", () => {
  test("tells agent, tier, key and reason, and ends with 0 when the sender is heard", async () => {
    await file(`{ access: { groupPolicy: "open" }, agents: { list: [{ id: "main" }, { id: "ops" }] },
      bindings: [{ match: { channel: "telegram" }, agentId: "ops" }] }`);
    const { code, out } = await earshot("route", message({}));
    expect(code).toBe(0);
    expect(out).toContain("admitted: groups are open");
    expect(out).toMatch(/^agent +ops$/mu);
    expect(out).toMatch(/^session +agent:ops:telegram:group:-100$/mu);
    expect(out).toMatch(/^because +bindings\[0\] matches by channel \(tier 8\)$/mu);
    expect(out).toMatch(/^1 +peer +passed +no binding is of this kind$/mu);
    expect(out).toMatch(/^8 +channel +matched +bindings\[0\] matches by channel$/mu);
    const answer = JSON.parse((await earshot("route", message({}), "--json")).out);
    expect(answer.routes).toEqual([
      expect.objectContaining({
        agentId: "ops",
        tier: 8,
        bindingIndex: 0,
        sessionKey: "agent:ops:telegram:group:-100",
      }),
    ]);
    expect(answer.tiers[4]).toEqual({
      tier: 5,
      name: "guild",
      outcome: "passed",
      fact: "no binding is of this kind",
    });
    expect(answer.tiers[8].outcome).toBe("not-reached");
  });

  test("tells which levels of the room set something, the most specific first", async () => {
    await file(`{ channels: { telegram: { accounts: { default: { botToken: "1:x" } }, groups: {
      "-100": { model: "a", aliases: ["chef"], topics: { "7": { system: "s" } } } } } } }`);
    const { out } = await earshot("route", message({ thread: { id: "7", kind: "topic" } }));
    expect(out).toMatch(
      /^settings +system from channels\.telegram\.groups\["-100"\]\.topics\["7"\]\n +model, aliases from channels\.telegram\.groups\["-100"\]$/mu,
    );
  });

  test("tells what would admit a sender who is not heard, and ends with 1", async () => {
    const { code, out } = await earshot("route", message({}));
    expect(code).toBe(1);
    expect(out).toContain(
      'denied: the group is not listed: add "telegram:-100": {} to access.groups',
    );
  });

  test("the operator's own channel is heard whatever the lists say", async () => {
    expect((await earshot("route", message({ channel: "terminal" }))).code).toBe(0);
  });

  test("what is no message is answer and ends with 2", async () => {
    for (const given of ['{"channel":', '{"channel":"x"}', "5", "null"]) {
      const { code, err } = await earshot("route", given);
      expect(code).toBe(2);
      expect(err).toContain("EAR_INBOUND_INVALID");
    }
  });
});

describe("the published schemas", () => {
  test("know every section, the built-in channels and their secrets by reference", async () => {
    const [[name, text] = ["", "{}"]] = schemaFiles();
    expect(name).toBe("earshot.schema.json");
    const { properties } = JSON.parse(text);
    expect(Object.keys(properties)).toEqual(
      expect.arrayContaining(["agents", "engagement", "conversations"]),
    );
    const { accounts } = properties.channels.properties.telegram.properties;
    expect(accounts.additionalProperties.additionalProperties).toBe(false);
    expect(accounts.additionalProperties.properties.botToken.anyOf).toHaveLength(2);
    expect(accounts.additionalProperties.required).toEqual(["botToken"]);
    expect((await earshot("config", "schema")).out).toBe(text);
  });

  test("say of every key of a section what it is for, with its unit and default", () => {
    const schema = JSON.parse(schemaFiles()[0]?.[1] ?? "{}") as Node;
    const undescribed: string[] = [];
    const visit = (node: Node, path: string): void => {
      for (const [name, child] of Object.entries(node.properties ?? {})) {
        const named = schema.$defs?.[child.$ref?.split("/").at(-1) ?? ""];
        const help = child.description ?? named?.description ?? "";
        if (!/^\S/.test(help) && child.const === undefined) undescribed.push(`${path}.${name}`);
        // What a driver understands is its own affair.
        if (name !== "driver") visit(child, `${path}.${name}`);
      }
      for (const inner of [node.items, node.additionalProperties, ...(node.anyOf ?? [])])
        if (typeof inner === "object") visit(inner, path);
    };
    visit(schema, "");
    for (const [name, node] of Object.entries(schema.$defs ?? {})) visit(node, name);
    expect(undescribed).toEqual([]);
    const turn = schema.properties?.turn?.properties?.idleMs?.description;
    expect(turn).toMatch(/In milliseconds\. Default: 120000\.$/);
  });
});
