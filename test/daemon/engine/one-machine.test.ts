/** Accounts that rest on something of one machine are refused where there are several nodes. */
import { expect, test } from "vitest";
import { createRegistry } from "../../../src/daemon/config/registry.ts";
import { refuseOneMachine } from "../../../src/daemon/engine/one-machine.ts";
import { parseConfig } from "../../../src/domain/config/index.ts";

const { channels } = createRegistry([]);
const engine = { kind: "restate", nodes: "http://nodes:9080" };
const mac = { imessage: { accounts: { bot: { backend: "imsg" } } } };

test("the error names the accounts, why, and what may be done instead", () => {
  const linked = { "whatsapp-linked": { accounts: { shop: { number: "+15550109999" } } } };
  const config = parseConfig({ engine, channels: { ...mac, ...linked } });
  expect(() => refuseOneMachine(config, channels)).toThrow(
    "Cannot run channels.imessage.accounts.bot (imsg runs on one Mac; with bluebubbles any node reaches it), " +
      "channels.whatsapp-linked.accounts.shop (the keys of its device are on one machine) on several nodes",
  );
});

test("everything else runs on any number, and these on one", () => {
  const token = "123456789:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
  const bluebubbles = { backend: "bluebubbles", url: "http://mac:1234", password: "secret" };
  const others = {
    webhook: { accounts: { shop: {} } },
    telegram: { accounts: { bot: { botToken: token } } },
    irc: { accounts: { bot: { host: "irc.test", nick: "scout" } } },
    imessage: { accounts: { bot: bluebubbles } },
  };
  refuseOneMachine(parseConfig({ engine, channels: others }), channels);
  refuseOneMachine(parseConfig({ engine: { ...engine, nodes: null }, channels: mac }), channels);
  const off = { imessage: { enabled: false, ...mac.imessage } };
  refuseOneMachine(parseConfig({ engine, channels: off }), channels);
});
