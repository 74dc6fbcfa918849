/**
 * Imports point one way: domain <- machines <- actors; domain <- adapters; the daemon imports all.
 * A rule that only a reviewer knows is not a rule, so this test reads every import of src/.
 */
import { readFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { filesBelow } from "./support/files.ts";

const src = resolve(import.meta.dirname, "..", "src");

/** What each layer may import besides itself. `public` is index.ts, testing.ts and src/testing. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  machines: ["domain"],
  actors: ["domain", "machines"],
  adapters: ["domain"],
  daemon: ["domain", "machines", "actors", "adapters", "public"],
  public: ["domain", "machines", "actors", "adapters", "daemon"],
};

const layerOf = (path: string): string => {
  const first = relative(src, path).split("/")[0] ?? "";
  return first in allowed ? first : "public";
};

interface Import {
  readonly from: string;
  readonly what: string;
}

function importsOf(path: string): Import[] {
  const text = readFileSync(path, "utf8");
  const found = text.matchAll(
    /(?:^|\n)\s*(?:import|export)\b[^"';]*?from\s*"([^"]+)"|\bimport\(\s*"([^"]+)"/g,
  );
  return [...found].map((match) => ({ from: path, what: (match[1] ?? match[2]) as string }));
}

const imports = filesBelow(src).flatMap(importsOf);
const show = ({ from, what }: Import) => `${relative(src, from)} -> ${what}`;

describe("layering", () => {
  test("there is something to check in every layer", () => {
    expect(new Set(imports.map(({ from }) => layerOf(from)))).toEqual(
      new Set(Object.keys(allowed)),
    );
  });

  test("no layer imports a layer it may not know", () => {
    const wrong = imports.filter(({ from, what }) => {
      if (!what.startsWith(".")) return false;
      const layer = layerOf(from);
      const target = layerOf(resolve(from, "..", what));
      return target !== layer && !allowed[layer]?.includes(target);
    });
    expect(wrong.map(show)).toEqual([]);
  });

  test("domain and machines import no Node module, and domain no xstate", () => {
    const wrong = imports.filter(({ from, what }) => {
      const layer = layerOf(from);
      if (layer !== "domain" && layer !== "machines") return false;
      return what.startsWith("node:") || (layer === "domain" && what.startsWith("xstate"));
    });
    expect(wrong.map(show)).toEqual([]);
  });

  test("only actors/conversation.ts creates conversation actors from xstate", () => {
    const users = filesBelow(src)
      .filter((path) => /\bcreateActor\(/.test(readFileSync(path, "utf8")))
      .map((path) => relative(src, path));
    expect(users.filter((path) => !path.startsWith("actors/"))).toEqual([]);
    expect(users).toContain("actors/conversation.ts");
  });

  test("only the stores open a database", () => {
    const users = imports.filter(({ what }) => /sqlite/.test(what) && !what.startsWith("."));
    expect(users.filter(({ from }) => !relative(src, from).startsWith("adapters/stores/"))).toEqual(
      [],
    );
  });
});
