/**
 * Imports point one way
 * =====================
 * Folders are floors: a folder imports itself and the folders named before it in the lists below,
 * values and types alike. What a reviewer would have to remember, this test reads from every import
 * of src/ and web/.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { filesBelow } from "./support/files.ts";

const root = resolve(import.meta.dirname, "..");
const src = join(root, "src");
const web = join(root, "web", "src");
const filesMax = 20;

/** The folders of the channels: each has one, and no channel imports another. */
const foldersOf = (folder: string) =>
  readdirSync(join(src, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== "shared")
    .map(({ name }) => `${folder}/${name}`);

/** Each area from the ground up. A folder that is not listed fails the test. */
const floors: Readonly<Record<string, readonly string[]>> = {
  domain: [
    ...["domain", "domain/search", "domain/config/conversation", "domain/config/daemon"],
    ...["domain/ports/engine", "domain/ports"],
    ...["domain/config/parse", "domain/config/resolve", "domain/config", "domain/config/docs"],
    ...["domain/scenario", "domain/quality"],
  ],
  machines: [
    ...["machines/events", "machines/access", "machines/batching", "machines/engagement"],
    ...["machines/conversation", "machines", "machines/snapshot", "machines/output"],
    ...["machines/prompt", "machines/routing", "machines/commands", "machines/redaction"],
  ],
  actors: [
    ...["actors", "actors/util", "actors/protocol", "actors/agent-run", "actors/host"],
    ...["actors/journal", "actors/outbox", "actors/access", "actors/sessions"],
    ...["actors/commands", "actors/turns", "actors/judge", "actors/channels", "actors/effects"],
    ...[
      "actors/schedules",
      "actors/ingress",
      "actors/recording",
      "actors/supervisor",
      "actors/runtime",
    ],
    ...["actors/simulation", "actors/quality"],
  ],
  adapters: [
    ...["adapters/system", "adapters/http", "adapters/files", "adapters/inspectors"],
    ...["adapters/stores", "adapters/search", "adapters/agents/shared", "adapters/agents/command"],
    ...["adapters/agents/acp", "adapters/agents/module", "adapters/agents/model"],
    ...["adapters/agents/scripted", "adapters/agents/webhook", "adapters/agents"],
    ...["adapters/media", "adapters/channels/shared"],
    ...[...foldersOf("adapters/channels"), "adapters/channels"],
    "adapters",
  ],
  daemon: [
    ...["daemon/state", "daemon/api-types", "daemon/events", "daemon/http"],
    ...["daemon/observability", "daemon/room-view", "daemon/inspector", "daemon/room-list"],
    "daemon/search",
    ...[
      "daemon/webchat",
      "daemon/checks",
      "daemon/checks/live",
      "daemon/config",
      "daemon/config-edit",
      "daemon/replay",
      "daemon/what-if",
    ],
    ...["daemon/quality", "daemon/needs", "daemon/setup", "daemon/engine"],
    ...[
      "daemon/api/routes",
      "daemon/api/routes/unasked",
      "daemon/api/routes/search",
      "daemon/api/routes/needs",
      "daemon/api/routes/setup",
      "daemon/api",
      "daemon",
      "daemon/cli/output",
      "daemon/cli/lib",
    ],
    ...[
      "daemon/cli/setup",
      "daemon/cli/chat",
      "daemon/cli/commands",
      "daemon/cli/commands/unasked",
      "daemon/cli/commands/quality",
      "daemon/cli/commands/search",
      "daemon/cli/commands/needs",
      "daemon/cli/commands/move",
    ],
    "daemon/cli",
  ],
  engines: [
    ...["engines/restate/calls", "engines/restate/numbers", "engines/restate/feed"],
    ...["engines/restate/leases", "engines/restate/outlet", "engines/restate/shared"],
    "engines/restate/files",
    "engines/restate",
  ],
  bridges: ["bridges"],
  public: ["testing", "."],
};

/** The areas that an area may import besides itself. */
const areas: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  machines: ["domain"],
  actors: ["domain", "machines"],
  adapters: ["domain"],
  daemon: ["domain", "machines", "actors", "adapters", "engines"],
  engines: ["domain", "machines", "actors"],
  // Beside the daemon: it is given to one as any other channel.
  bridges: ["domain", "adapters"],
  public: ["domain", "machines", "actors", "adapters", "daemon"],
};

const webFloors = [
  ...["styles", "lib", "ui", "room-actions", "direct-chat", "explanation", "simulator"],
  ...["search", "room"],
  ...["room-list", "health", "setup", "settings", "what-if", "pages", ".", "inspector"],
];
/** What the pages may import from outside web/. */
const webMayKnow = ["src/daemon/api-types/", "src/domain/"];

interface Import {
  readonly from: string;
  readonly what: string;
}

function importsOf(path: string): Import[] {
  const text = readFileSync(path, "utf8");
  const found = text.matchAll(
    /(?:^|\n)\s*(?:import|export)\b[^"';]*?from\s*"([^"]+)"|\bimport\(\s*"([^"]+)"|(?:^|\n)import\s+"([^"]+)"/g,
  );
  return [...found].map(([, a, b, c]) => ({ from: path, what: a ?? b ?? (c as string) }));
}

const sources = filesBelow(src);
const pages = filesBelow(web);
const imports = sources.flatMap(importsOf);
const webImports = pages.flatMap(importsOf);
const show = ({ from, what }: Import) => `${relative(root, from)} -> ${what}`;
const targetOf = ({ from, what }: Import) => resolve(from, "..", what);
const folderOf = (base: string, path: string) => relative(base, dirname(path)) || ".";
const areaOf = (folder: string) =>
  Object.keys(floors).find((area) => floors[area]?.includes(folder)) ?? "nowhere";
const relativeOnly = ({ what }: Import) => what.startsWith(".");

function climbs(order: readonly string[], base: string, one: Import): boolean {
  return order.indexOf(folderOf(base, targetOf(one))) > order.indexOf(folderOf(base, one.from));
}

/** Files that import one another in a circle, each circle once. */
function circles(all: readonly Import[]): string[][] {
  const next = new Map<string, string[]>();
  for (const one of all.filter(relativeOnly))
    next.set(one.from, [...(next.get(one.from) ?? []), targetOf(one)]);
  const state = new Map<string, "open" | "done">();
  const found: string[][] = [];
  const trail: string[] = [];
  const visit = (file: string) => {
    if (state.get(file) === "done") return;
    if (state.get(file) === "open") {
      found.push(trail.slice(trail.indexOf(file)).map((path) => relative(root, path)));
      return;
    }
    state.set(file, "open");
    trail.push(file);
    for (const target of next.get(file) ?? []) visit(target);
    trail.pop();
    state.set(file, "done");
  };
  for (const file of next.keys()) visit(file);
  return found;
}

describe("layering", () => {
  test("every folder of src and web has a floor", () => {
    const folders = new Set(sources.map((path) => folderOf(src, path)));
    expect([...folders].filter((folder) => areaOf(folder) === "nowhere")).toEqual([]);
    const listed = Object.values(floors).flat();
    expect(listed.filter((folder) => !folders.has(folder))).toEqual([]);
    const ofPages = new Set(pages.map((path) => folderOf(web, path)));
    expect([...ofPages].filter((folder) => !webFloors.includes(folder))).toEqual([]);
  });

  test("no folder holds more than 20 files", () => {
    const count = new Map<string, number>();
    const others = ["test", "bench", "docs", "examples", "scripts"];
    const all = [src, web, ...others.map((name) => join(root, name))].flatMap((folder) =>
      filesBelow(folder, ""),
    );
    for (const path of all) {
      const folder = relative(root, dirname(path));
      count.set(folder, (count.get(folder) ?? 0) + 1);
    }
    expect([...count].filter(([, files]) => files > filesMax)).toEqual([]);
  });

  test("no area imports an area it may not know", () => {
    const wrong = imports.filter(relativeOnly).filter((one) => {
      const area = areaOf(folderOf(src, one.from));
      const target = areaOf(folderOf(src, targetOf(one)));
      return target !== area && !areas[area]?.includes(target);
    });
    expect(wrong.map(show)).toEqual([]);
  });

  test("a folder imports only folders below it", () => {
    const wrong = imports.filter(relativeOnly).filter((one) => {
      const area = areaOf(folderOf(src, one.from));
      if (area !== areaOf(folderOf(src, targetOf(one)))) return false;
      return climbs(floors[area] as readonly string[], src, one);
    });
    expect(wrong.map(show)).toEqual([]);
    const inPages = webImports
      .filter(relativeOnly)
      .filter((one) => targetOf(one).startsWith(web) && climbs(webFloors, web, one));
    expect(inPages.map(show)).toEqual([]);
  });

  test("a channel imports no other channel", () => {
    const channels = foldersOf("adapters/channels");
    expect(channels.length).toBeGreaterThan(3);
    const wrong = imports.filter(relativeOnly).filter((one) => {
      const [from, target] = [folderOf(src, one.from), folderOf(src, targetOf(one))];
      return from !== target && channels.includes(from) && channels.includes(target);
    });
    expect(wrong.map(show)).toEqual([]);
  });

  test("the pages know the daemon by the types of its API only", () => {
    const outside = webImports.filter(relativeOnly).filter((one) => !targetOf(one).startsWith(web));
    expect(outside.length).toBeGreaterThan(0);
    const wrong = outside.filter((one) => {
      const path = relative(root, targetOf(one));
      return !webMayKnow.some((folder) => path.startsWith(folder));
    });
    expect(wrong.map(show)).toEqual([]);
  });

  test("no files import one another in a circle", () => {
    expect(circles([...imports, ...webImports])).toEqual([]);
  });

  test("domain and machines import no Node module, and domain no xstate", () => {
    const wrong = imports.filter(({ from, what }) => {
      const area = areaOf(folderOf(src, from));
      if (area !== "domain" && area !== "machines") return false;
      return what.startsWith("node:") || (area === "domain" && what.startsWith("xstate"));
    });
    expect(wrong.map(show)).toEqual([]);
  });

  test("only host/conversation-actor.ts creates conversation actors from xstate", () => {
    const users = sources
      .filter((path) => /\bcreateActor\(/.test(readFileSync(path, "utf8")))
      .map((path) => relative(src, path));
    expect(users.filter((path) => !path.startsWith("actors/"))).toEqual([]);
    expect(users).toContain("actors/host/conversation-actor.ts");
  });

  test("only the stores open a database", () => {
    const users = imports.filter(({ what }) => /sqlite/.test(what) && !what.startsWith("."));
    expect(users.filter(({ from }) => !relative(src, from).startsWith("adapters/stores/"))).toEqual(
      [],
    );
  });
});
