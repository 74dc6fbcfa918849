/** Accounts whose connection may exist once are refused where there are several nodes. */
import { expect, test } from "vitest";
import { createRegistry } from "../../../src/daemon/config/registry.ts";
import { refuseOnceOnly } from "../../../src/daemon/engine/once-only.ts";
import { parseConfig } from "../../../src/domain/config/index.ts";

const { channels } = createRegistry([]);
const engine = { kind: "restate", nodes: "http://nodes:9080" };
const webhook = { accounts: { shop: {} } };
const token = "123456789:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

test("the error names the accounts, and what may be set instead", () => {
  const config = parseConfig({
    engine,
    channels: { webhook, telegram: { accounts: { bot: { botToken: token } } } },
  });
  expect(() => refuseOnceOnly(config, channels)).toThrow(
    "Cannot run channels.telegram.accounts.bot on several nodes (engine.nodes)",
  );
});

test("what the platform calls runs on any number, and everything on one", () => {
  refuseOnceOnly(parseConfig({ engine, channels: { webhook } }), channels);
  const polling = { telegram: { accounts: { bot: { botToken: token } } } };
  refuseOnceOnly(parseConfig({ engine: { ...engine, nodes: null }, channels: polling }), channels);
  const off = { telegram: { enabled: false, ...polling.telegram } };
  refuseOnceOnly(parseConfig({ engine, channels: off }), channels);
});
