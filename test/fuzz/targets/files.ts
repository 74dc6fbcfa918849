/**
 * What is read from files: the config with its environment, scenarios, labelled rooms.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { configFromText } from "../../../src/adapters/files/config-file.ts";
import { createRegistry } from "../../../src/daemon/config/registry.ts";
import { configValues, secretValues } from "../../../src/domain/config/index.ts";
import { EarshotError } from "../../../src/domain/errors.ts";
import { LabelledRoomReader } from "../../../src/domain/quality/labelled-room.ts";
import { parseScenario } from "../../../src/domain/scenario/read-scenario.ts";
import { canary, frames, type Seed, type Target } from "../harness/target.ts";

const root = resolve(import.meta.dirname, "../../..");
const refusesWith = (prefix: string) => (error: unknown) =>
  error instanceof EarshotError && error.code.startsWith(prefix);

const fullConfig = {
  engagement: {
    stickiness: { mode: "one-shot" },
    judge: {
      kind: "model",
      model: "openai:gpt-5-mini",
      baseUrl: "http://127.0.0.1:1/v1",
      apiKey: `${canary}-1`,
    },
  },
  access: { dmPolicy: "allowlist", allowFrom: ["telegram:1"], groupPolicy: "open" },
  agents: {
    defaults: { driver: { kind: "scripted" } },
    list: [
      { id: "main", aliases: ["Ada"], driver: { kind: "command", command: "cat" } },
      {
        id: "two",
        driver: {
          kind: "webhook",
          url: "https://agent.example/turn",
          secret: `${canary}-2-long-enough`,
        },
      },
    ],
  },
  bindings: [{ agentId: "two", match: { channel: "telegram" } }],
  channels: {
    telegram: {
      groups: { "-100": { aliases: ["Ada"], topics: { "7": { enabled: false } } } },
      accounts: {
        default: { botToken: `${canary}-3` },
        off: { enabled: false, botToken: `\${NONE}` },
      },
    },
    slack: { accounts: { default: { botToken: `\${SLACK}`, appToken: `xapp-${canary}-4` } } },
    webhook: { accounts: { default: { secret: `${canary}-5-long-enough` } } },
  },
  conversations: { "agent:main:telegram:group:-100": { aliases: ["Bo"] } },
  messages: { inbound: { debounceMs: 100, debounceMaxMs: 1_000, byChannel: { telegram: 0 } } },
  turn: { idleMs: 1_000, maxMs: 10_000 },
  session: { identityLinks: { ann: ["telegram:1", "slack:U1"] } },
  server: { port: 0 },
};

const registry = createRegistry();
const config: Target = {
  name: "config",
  claim: "a config and its environment are read, or refused with EAR_CONFIG_*",
  seeds: [
    {
      name: "every section",
      frames: frames(JSON.stringify(fullConfig), JSON.stringify({ SLACK: `xoxb-${canary}-6` })),
    },
    {
      name: "JSON5",
      frames: frames(
        `\ufeff// mine\n{ context: { size: 3, }, /* more */ log: { level: 'debug' },\n` +
          ` channels: { telegram: { accounts: { default: { botToken: "${canary}-7" } } } } }`,
        "{}",
      ),
    },
    { name: "nothing", frames: frames("{}", "{}") },
  ],
  read([text = Buffer.alloc(0), env = Buffer.alloc(0)]) {
    const options = {
      env: environmentOf(env.toString("utf8")),
      parse: { channels: registry.channels, drivers: registry.drivers },
    };
    const read = configFromText(text.toString("utf8"), "earshot.json5", options);
    return configValues(read.config, read.raw, {}, read.lineOf).map(({ path, line }) => [
      path,
      line,
    ]);
  },
  refuses: refusesWith("EAR_CONFIG_"),
  // One that a change has put in another field is not known as one.
  secretsOf([text = Buffer.alloc(0)]) {
    try {
      return secretValues(JSON.parse(text.toString("utf8"))).filter((one) => one.includes(canary));
    } catch (error) {
      if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error;
      return [canary];
    }
  },
  // The defaults, whatever the file.
  unitsMax: 262_144,
};

/** What of a text can be an environment: values are texts. */
function environmentOf(text: string): Readonly<Record<string, string>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error;
    return { SLACK: text };
  }
  const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
  return Object.fromEntries(
    entries.flatMap(([name, one]) => (typeof one === "string" ? [[name, one]] : [])),
  );
}

const linesOf = (path: string) =>
  frames(
    ...readFileSync(path, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .slice(0, 12),
  );
const filesIn = (folder: string): Seed[] =>
  readdirSync(join(root, folder)).map((name) => ({
    name,
    frames: linesOf(join(root, folder, name)),
  }));
const textOf = (lines: readonly Buffer[]) =>
  Buffer.concat(lines.flatMap((line) => [line, Buffer.from("\n")])).toString("utf8");

const scenario: Target = {
  name: "scenario",
  claim: "a scenario's lines are read, or refused with EAR_SCENARIO_INVALID and the line",
  seeds: filesIn("test/fixtures/rooms"),
  read: (lines) => parseScenario(textOf(lines), "room.jsonl"),
  refuses: refusesWith("EAR_SCENARIO_INVALID"),
};

const labelledRoom: Target = {
  name: "labelled-room",
  claim: "labelled rooms are read, or refused with EAR_SCENARIO_INVALID and the line",
  seeds: [
    {
      name: "two rooms",
      frames: frames(
        '{"room":"kitchen","agents":["Scout"],"from":"2","bots":["relay"]}',
        '{"id":"1","at":0,"by":"ann","text":"lunch?"}',
        '{"id":"2","at":10,"by":"bo","text":"Scout, a table please","to":["Scout"],"answers":["1"]}',
        '{"id":"3","at":20,"by":"ann","text":"and you?","meant":[],"judged":{"engage":false,"confidence":0.5}}',
        '{"room":"garden","agents":["Scout","Ada"]}',
        '{"id":"1","at":0,"by":"ann","text":"roses"}',
      ),
    },
  ],
  read(lines) {
    const reader = new LabelledRoomReader("rooms.jsonl");
    const rooms = textOf(lines)
      .split("\n")
      .flatMap((line) => reader.add(line) ?? []);
    return [...rooms, reader.end()];
  },
  refuses: refusesWith("EAR_SCENARIO_INVALID"),
};

export const fileTargets: readonly Target[] = [config, scenario, labelledRoom];
