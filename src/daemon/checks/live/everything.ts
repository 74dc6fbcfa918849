/**
 * Everything that can be checked
 * ==============================
 * The machine, the config, what the config names, and the sessions in which an owner allowed more
 * than the config does. `earshot doctor` and the Health page show the same. It changes nothing.
 */
import type { Runtime } from "../../../actors/protocol/runtime.ts";
import type { EarshotConfig } from "../../../domain/config/index.ts";
import { EarshotError } from "../../../domain/errors.ts";
import type { Clock } from "../../../domain/ports/index.ts";
import type { Session } from "../../../domain/session.ts";
import { noFacts } from "../check.ts";
import { checkConfig } from "../config-checks.ts";
import { tlsFacts } from "../tls-facts.ts";
import { type CheckResult, type LiveSubject, liveChecks, runLiveChecks } from "./live-checks.ts";
import { machineResults } from "./machine.ts";

export interface Checked extends LiveSubject {
  readonly clock: Clock;
  /** People who got access to direct chats by a code, as `telegram:7`. */
  readonly approved: readonly string[];
  readonly sessions: readonly Pick<Session, "key" | "settings">[];
}

/** A check that has begun, or its result. A check may have several results. */
export type CheckStep = CheckResult | { readonly check: string; readonly state: "running" };

const sessionsShownMax = 20;

/** A session with more rights than the config gives, at most; the newest are looked at. */
const sessionsReadMax = 1_000;

/** What the daemon checks of itself: the config in force, in its own state directory. */
export async function ofDaemon(
  given: Pick<Checked, "clock" | "stateDir" | "baseDir" | "channels" | "drivers">,
  config: EarshotConfig,
  runtime: Pick<Runtime, "access" | "sessions">,
): Promise<Checked> {
  const { grants } = runtime.access().list();
  const direct = grants.filter(({ scope }) => scope !== "group");
  return {
    ...given,
    config,
    approved: direct.map(({ channel, id }) => `${channel}:${id}`),
    sessions: await runtime.sessions({ all: false, limit: sessionsReadMax }),
  };
}

/** `offline`: what needs a network is left out. */
export async function checkEverything(
  subject: Checked,
  offline: boolean,
  onStep: (step: CheckStep) => void,
): Promise<void> {
  const live = offline ? [] : liveChecks(subject);
  for (const result of await machineResults(subject.stateDir, subject.clock)) onStep(result);
  for (const result of await configResults(subject)) onStep(result);
  for (const result of sessionResults(subject)) onStep(result);
  for (const { check } of live) onStep({ check, state: "running" });
  await runLiveChecks(live, subject.clock, onStep);
}

async function configResults(subject: Checked): Promise<readonly CheckResult[]> {
  const { config, baseDir, approved, channels, clock } = subject;
  try {
    const found = await checkConfig(config, ["mistake", "missing", "risk"], {
      ...noFacts,
      baseDir,
      approved,
      local: (channel) => channels.get(channel)?.local ?? false,
      tls: await tlsFacts(config.server, baseDir, clock.now()),
    });
    if (found.length === 0) return [{ check: "settings", state: "ok", says: "nothing risky" }];
    return found.map(({ at, wrong, fix, level }) => ({
      check: at,
      state: level,
      says: `${wrong}: ${fix}`,
    }));
  } catch (error) {
    if (!(error instanceof EarshotError)) throw error;
    return [{ check: "settings", state: "wrong", says: error.message }];
  }
}

function sessionResults({ sessions }: Checked): readonly CheckResult[] {
  const says = "its agent may do whatever it asks for, because an owner allowed it there";
  const found = sessions.flatMap(({ key, settings: { elevated, exec } }): CheckResult[] => {
    const ends = [
      ...(elevated === "full" ? ["/elevated off"] : []),
      ...(exec?.security === "full" ? ["/exec security=deny"] : []),
    ];
    return ends.map((end) => ({
      check: key,
      state: "warning",
      says: `${says}: ${end} revokes that`,
    }));
  });
  return found.slice(0, sessionsShownMax);
}
