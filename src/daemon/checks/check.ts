/**
 * Checks of a config
 * ==================
 * A check looks at a config that is valid and finds what its author is unlikely to want, what this machine
 * lacks for it, or what it gives away. config-checks.ts is the table of all checks.
 */

import type { EarshotConfig } from "../../domain/config/index.ts";
import { localChannels } from "../../domain/config/index.ts";
import type { ConfigFinding } from "../../domain/config-finding.ts";
import type { TlsFacts } from "./tls-facts.ts";

/**
 * `mistake`: probably not what the author wants; shown at the start, by `config check` and `doctor`.
 * `missing`: this machine lacks something; shown by `config check` and `doctor`.
 * `risk`: it gives somebody more than the defaults do; shown by `doctor`.
 */
export type CheckKind = "mistake" | "missing" | "risk";

/** `wrong`: it cannot be meant, and `doctor` ends with 1. */
export type CheckLevel = "warning" | "wrong";

/** What a check needs to know beside the config. */
export interface CheckFacts {
  /** Whether all senders of a channel are the operator. */
  readonly local: (channel: string) => boolean;
  /** Folder at which relative paths of agents start. */
  readonly baseDir: string;
  /** The files of `server.tls`; null: there are none, or nobody looked. */
  readonly tls: TlsFacts | null;
  /** People whom a code let into direct chats, as `telegram:7`. */
  readonly approved: readonly string[];
}

/** Facts for checks where nothing has been looked at. */
export const noFacts: CheckFacts = {
  local: (channel) => localChannels.some((name) => name === channel),
  baseDir: "",
  tls: null,
  approved: [],
};

export type Findings = Iterable<ConfigFinding>;

export interface ConfigCheck {
  readonly id: string;
  readonly kind: CheckKind;
  readonly level: CheckLevel;
  find(config: EarshotConfig, facts: CheckFacts): Findings | Promise<Findings>;
}

/** Fields of a section whose form its driver or channel decides. */
export type Fields = Readonly<Record<string, unknown>>;
