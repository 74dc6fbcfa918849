/**
 * What an install brings in (A42): the packages named in SECURITY.md with a reason each, at one
 * version, with a checksum, and without a script that npm would run. `.ci/run` installs the packed
 * program with `--ignore-scripts` and puts a message through it.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

interface Locked {
  readonly version: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly peer?: boolean;
  readonly optional?: boolean;
  readonly hasInstallScript?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
}

const root = new URL("../../", import.meta.url).pathname;
const read = (name: string) => readFileSync(join(root, name), "utf8");
const { dependencies } = JSON.parse(read("package.json")) as {
  dependencies: Record<string, string>;
};
const { packages } = JSON.parse(read("package-lock.json")) as { packages: Record<string, Locked> };
const { "": top, ...locked } = packages;
/** What somebody gets who installs earshot. */
const shipped = Object.entries(locked).filter(
  ([, { dev, devOptional, peer }]) => !dev && !devOptional && !peer,
);

test("A42 every package that an install brings is named with its reason, and no other is", () => {
  const named = [...read("SECURITY.md").matchAll(/^\| `([^`]+)` \| (.+) \|$/gm)];
  expect(named.map(([, name]) => name)).toEqual(Object.keys(dependencies).toSorted());
  for (const [, , reason] of named) expect(reason?.length).toBeGreaterThan(5);
});

test("A42 what those need in turn is what somebody has looked at", () => {
  const direct = new Set(Object.keys(dependencies));
  const names = shipped.map(([place]) => place.replace(/^.*node_modules\//, ""));
  const indirect = names.filter((name) => !direct.has(name) && !name.startsWith("@napi-rs/nice"));
  expect(indirect.toSorted()).toEqual(["node-addon-api", "node-gyp-build"]);
});

test("A42 each is one version; all that is locked, for every system, has its checksum and the registry's address", () => {
  for (const version of Object.values(dependencies)) expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  expect(top?.dependencies).toEqual(dependencies);
  for (const [place, { integrity, resolved, link }] of Object.entries(locked)) {
    expect(link, place).toBeUndefined();
    expect(integrity, place).toMatch(/^sha512-/);
    if (resolved !== undefined) expect(resolved).toMatch(/^https:\/\/registry\.npmjs\.org\//);
  }
});

test("A42 what lies in node_modules is what the lock file says", () => {
  for (const [place, { version }] of shipped.filter(([at]) => existsSync(join(root, at))))
    expect(JSON.parse(read(join(place, "package.json"))).version, place).toBe(version);
});

test("A42 no package runs a script at its install, but SQLite, which has its binary with it", () => {
  const scripts = shipped.filter(([, { hasInstallScript }]) => hasInstallScript);
  expect(scripts.map(([place]) => place)).toEqual(["node_modules/@photostructure/sqlite"]);
  expect(existsSync(join(root, "node_modules/@photostructure/sqlite/prebuilds"))).toBe(true);
});
