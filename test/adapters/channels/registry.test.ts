/**
 * The channels that ship with earshot: known at once, loaded when an account needs one.
 */
import { readFileSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { platformChannels } from "../../../src/adapters/channels/index.ts";
import type { ChannelDefinition } from "../../../src/domain/ports/index.ts";

test.for(platformChannels.map(({ id }) => id))(
  "%s is opened only once it is loaded",
  async (id) => {
    // Another file of this process may have loaded it.
    vi.resetModules();
    const fresh = await import("../../../src/adapters/channels/index.ts");
    const channel = fresh.platformChannels.find((one) => one.id === id) as ChannelDefinition;
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
