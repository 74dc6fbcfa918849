/**
 * The channels that ship with earshot: known at once, loaded when an account needs one.
 */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { platformChannels } from "../../../src/adapters/channels/index.ts";

test.for(platformChannels.map((channel) => [channel.id, channel] as const))(
  "%s is opened only once it is loaded",
  async ([, channel]) => {
    expect(() => channel.open({} as never)).toThrow("loaded before");
    await channel.load?.();
    // It gets as far as its own code, which has no account here.
    expect(() => channel.open({ config: null } as never)).not.toThrow("loaded before");
  },
);

test("the registry imports of a channel only what is known of it", () => {
  const file = new URL("../../../src/adapters/channels/index.ts", import.meta.url);
  const text = readFileSync(file, "utf8");
  const imported = [...text.matchAll(/from "\.\/(.+)"/gu)].map(([, path]) => path);
  expect(imported).toHaveLength(platformChannels.length);
  for (const path of imported) expect(path).toMatch(/\/config\.ts$/u);
});
