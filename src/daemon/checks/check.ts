/**
 * A check examines a valid config and finds what its author probably does not want, what this
 * machine lacks, or what the config exposes. config-checks.ts is the table of all checks.
 */

import type { EarshotConfig } from "../../domain/config/index.ts";
import { localChannels } from "../../domain/config/index.ts";
import type { ConfigFinding } from "../../domain/config-finding.ts";
import type { TlsFacts } from "./tls-facts.ts";

/**
 * `mistake`: probably not what the author wants; shown at the start, by `config check` and `doctor`.
 * `missing`: this machine lacks something; shown by `config check` and `doctor`.
 * `risk`: it allows more than the defaults do; shown by `doctor`.
 */
export type CheckKind = "mistake" | "missing" | "risk";

/** `wrong`: it cannot be intended, and `doctor` exits with 1. */
export type CheckLevel = "warning" | "wrong";

/** What a check needs to know beside the config. */
export interface CheckFacts {
  /** Whether the operator is the only sender of a channel. */
  readonly local: (channel: string) => boolean;
  /** Folder at which relative paths of agents start. */
  readonly baseDir: string;
  /** The files of `server.tls`; null: not configured, or not read. */
  readonly tls: TlsFacts | null;
  /** People who got access to direct chats by a code, as `telegram:7`. */
  readonly approved: readonly string[];
}

/** Facts for checks that run before anything is read. */
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

/** Fields of a section that its driver or channel defines. */
export type Fields = Readonly<Record<string, unknown>>;
