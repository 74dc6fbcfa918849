/**
 * The config reference
 * ====================
 * Every key of the config file as tables for docs/reference/config.md. Sections that may be overridden
 * at more specific levels say so once; their keys are listed at the top level.
 */
import { overrideFields } from "../../src/domain/config/conversation/overrides.ts";
import { configSchema } from "../../src/domain/config/daemon/schema.ts";
import { type ConfigKey, configKeys } from "../../src/domain/config/docs/config-keys.ts";
import { jsonSchemaOf } from "../../src/domain/config/docs/json-schema.ts";
import { isPlain } from "../../src/domain/config/parse/overlay.ts";

type Json = Readonly<Record<string, unknown>>;

/** The page that explains a section, relative to the reference's folder. */
const pages: Readonly<Record<string, string>> = {
  agents: "../agents/README.md",
  bindings: "../guide/routing.md",
  broadcast: "../guide/routing.md",
  channels: "../guide/access.md",
  access: "../guide/access.md",
  engagement: "../guide/engagement.md",
  context: "../guide/engagement.md",
  loopGuard: "../guide/engagement.md",
  messages: "../guide/turns.md",
  stream: "../guide/replies.md",
  typing: "../guide/replies.md",
  silent: "../guide/replies.md",
  media: "../guide/media.md",
  heartbeat: "../guide/heartbeat.md",
  plugins: "../guide/plugins.md",
  turn: "../guide/turns.md",
  session: "../guide/sessions.md",
  commands: "commands.md",
  errors: "../guide/turns.md",
  workers: "../operate/operating.md",
  server: "../operate/security.md",
  store: "../operate/operating.md",
  log: "../operate/operating.md",
};

const objectOf = (value: unknown): Json => (isPlain(value) ? (value as Json) : {});
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
const code = (text: string): string => `\`${text}\``;

const cell = (text: string) => text.replaceAll("|", "\\|").replaceAll("\n", " ");

function row({ path, type, default: value, required, about }: ConfigKey): string {
  const otherwise = required ? "required" : value === null ? "" : code(value);
  return `| ${[code(path), type, otherwise, about].map(cell).join(" | ")} |`;
}

/** The tables, one heading per section. */
function tables(schema: Json): string {
  const keys = configKeys(schema);
  const sections = Object.entries(objectOf(schema.properties));
  return sections
    .filter(([name]) => name !== "$schema")
    .map(([name, section]) => {
      const about = textOf(objectOf(section).description);
      const page = pages[name];
      const more = page === undefined ? "" : ` More: [${page}](${page}).`;
      const also = Object.hasOwn(overrideFields, name)
        ? " May be overridden for an agent, a channel, an account, a group, a topic or a conversation."
        : "";
      const own = keys.filter(({ path }) => path.split(/[.[]/u)[0] === name);
      const head = ["| key | type | default | |", "|---|---|---|---|"];
      return [`### ${name}`, "", `${about}${also}${more}`, "", ...head, ...own.map(row)].join("\n");
    })
    .join("\n\n");
}

const begin = "<!-- made by `node scripts/schema.mjs` -->\n";
const end = "<!-- end -->";

/** Inserts the generated reference into docs/reference/config.md. */
export function withConfigReference(page: string): string {
  const schema = jsonSchemaOf(configSchema);
  const from = page.indexOf(begin) + begin.length;
  const to = page.indexOf(end, from);
  return `${page.slice(0, from)}\n${tables(schema)}\n\n${page.slice(to)}`;
}
