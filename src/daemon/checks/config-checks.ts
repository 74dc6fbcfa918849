/**
 * `earshot config check`, `earshot doctor` and the warnings at the start of the daemon come from this
 * table; each prints the kinds that concern it (check.ts). A new check is one entry. Nothing here is
 * forbidden: forbidden values are refused by the config's schema.
 */

import type { EarshotConfig } from "../../domain/config/index.ts";
import type { ConfigFinding } from "../../domain/config-finding.ts";
import { accessWarnings } from "../../machines/access/admission.ts";
import { routingWarnings } from "../../machines/routing/routing.ts";
import { accessChecks } from "./access.ts";
import { channelChecks } from "./channels.ts";
import type { CheckFacts, CheckKind, CheckLevel, ConfigCheck } from "./check.ts";
import { judgeChecks } from "./judges.ts";
import { reservedWords, unknownNames } from "./names.ts";
import { programChecks } from "./programs.ts";
import { serverChecks } from "./server.ts";

export interface CheckedFinding extends ConfigFinding {
  readonly id: string;
  readonly level: CheckLevel;
}

export const configChecks: readonly ConfigCheck[] = [
  { id: "routing", kind: "mistake", level: "warning", find: routingWarnings },
  { id: "access.no-group", kind: "mistake", level: "warning", find: accessWarnings },
  { id: "unknown-name", kind: "mistake", level: "warning", find: unknownNames },
  { id: "reserved-word", kind: "mistake", level: "warning", find: reservedWords },
  ...accessChecks,
  ...programChecks,
  ...channelChecks,
  ...judgeChecks,
  {
    id: "plugin",
    kind: "risk",
    level: "warning",
    *find({ plugins }) {
      for (const [index, name] of plugins.entries())
        yield {
          at: `plugins[${index}]`,
          wrong: `"${name}" runs with all rights of the daemon`,
          fix: "make sure you trust it, and pin its version",
        };
    },
  },
  {
    id: "loop-guard.off",
    kind: "risk",
    level: "warning",
    *find({ loopGuard }) {
      if (loopGuard.hardLimit === 0)
        yield {
          at: "loopGuard.hardLimit",
          wrong: "bots that answer each other are never stopped, whatever the cost",
          fix: "set a limit",
        };
    },
  },
  {
    id: "store.memory",
    kind: "risk",
    level: "warning",
    *find({ store }) {
      if (store.driver === "memory")
        yield {
          at: "store.driver",
          wrong: "everything is lost when the daemon stops",
          fix: 'set it to "sqlite" unless this is a trial',
        };
    },
  },
  {
    id: "log.text",
    kind: "risk",
    level: "warning",
    *find({ log }) {
      if (log.showText)
        yield {
          at: "log.showText",
          wrong: "the log contains what people write",
          fix: "set it to false",
        };
    },
  },
  ...serverChecks,
];

/** The findings of the checks of some kinds, in the order of the table. */
export async function checkConfig(
  config: EarshotConfig,
  kinds: readonly CheckKind[],
  facts: CheckFacts,
): Promise<readonly CheckedFinding[]> {
  const found = configChecks
    .filter(({ kind }) => kinds.includes(kind))
    .map(async ({ id, level, find }) =>
      [...(await find(config, facts))].map((finding) => ({ id, level, ...finding })),
    );
  return (await Promise.all(found)).flat();
}
