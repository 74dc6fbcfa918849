/**
 * Calls to the running daemon
 * ===========================
 * The daemon writes its address beside its token, so a command needs only the state directory. If
 * no daemon is running, the error says so and how to start one.
 */
import { EarshotError } from "../../../domain/errors.ts";
import { readAddress } from "../../state/address-file.ts";
import { readToken } from "../../state/token.ts";
import { type StateOptions, stateDirFor } from "./command.ts";

export interface DaemonAddress {
  /** For example http://127.0.0.1:4747. */
  readonly base: string;
  readonly token: string;
}

/** A daemon is there, and says nothing: it was stopped, or hangs. */
export class DaemonSilent extends EarshotError {
  constructor(stateDir: string, base: string) {
    super(
      "EAR_USAGE",
      `Cannot reach the daemon of ${stateDir}: ${base} does not answer within ${answerMsMax / 1_000} s. ` +
        "It is stopped, hangs, or has too much to do. Try again, or end it and start it again",
    );
  }
}

/** A daemon that does not answer within this time hangs, ms; it answers this call whatever else it does. */
const answerMsMax = 10_000;

/**
 * The running daemon of a state directory, or null when none runs.
 * @throws DaemonSilent when one does not answer.
 */
export async function findDaemon(stateDir: string): Promise<DaemonAddress | null> {
  const base = await readAddress(stateDir);
  if (base === null) return null;
  const token = await readToken(stateDir);
  const signal = AbortSignal.timeout(answerMsMax);
  const alive = await fetch(`${base}/healthz`, { signal }).then(
    (answer) => answer.ok,
    () => {
      if (!signal.aborted) return false;
      throw new DaemonSilent(stateDir, base);
    },
  );
  return alive ? { base, token } : null;
}

/** @throws EarshotError EAR_USAGE when no daemon is running on that state directory, or it does not answer. */
export async function needDaemon(stateDir: string): Promise<DaemonAddress> {
  const found = await findDaemon(stateDir);
  if (found !== null) return found;
  throw new EarshotError(
    "EAR_USAGE",
    `Cannot reach a daemon: none runs on ${stateDir}. Start one with \`earshot start\`, or name ` +
      "another state directory with --state-dir",
  );
}

interface CallOptions {
  readonly method?: "GET" | "POST" | "PATCH";
  readonly body?: unknown;
}

/** The daemon refused a call. */
export class ApiRefused extends EarshotError {
  public readonly status: number;

  constructor(status: number, message: string) {
    super("EAR_USAGE", message);
    this.status = status;
  }
}

/** A command of another version than its daemon asks for what that one does not have. */
const unknownRoute: ReadonlySet<string> = new Set(["unknown-path", "wrong-method"]);

/**
 * Calls the API. Null: not found (404).
 * @throws ApiRefused with the daemon's error, or when it has no such route.
 */
export async function callApi<Answer>(
  daemon: DaemonAddress,
  path: string,
  init: CallOptions = {},
): Promise<Answer | null> {
  const answer = await fetch(`${daemon.base}${path}`, {
    method: init.method ?? "GET",
    headers: {
      authorization: `Bearer ${daemon.token}`,
      ...(init.body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(init.body === undefined ? {} : { body: JSON.stringify(init.body) }),
  });
  const body = (await answer.json()) as Answer & { error?: { code: string; message: string } };
  if (answer.ok) return body;
  if (unknownRoute.has(body.error?.code ?? ""))
    throw new ApiRefused(
      answer.status,
      `Cannot ask the daemon at ${daemon.base} for this: it runs another version, which has no ` +
        `${path.split("?", 1)}. Start it again, so that it runs the version of this command`,
    );
  if (answer.status === 404) return null;
  throw new ApiRefused(
    answer.status,
    body.error?.message ?? `the daemon answered ${answer.status}`,
  );
}

/** Calls the API of the daemon that the options of a command name. */
export async function askDaemon<Answer>(
  options: StateOptions,
  path: string,
  init?: CallOptions,
): Promise<Answer | null> {
  return callApi<Answer>(await needDaemon(stateDirFor(options)), path, init);
}
