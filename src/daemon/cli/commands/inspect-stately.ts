/**
 * `earshot inspect --stately`: prints the address of the page that sends conversations to the
 * Stately inspector. It does not open it, because the browser may be on another machine.
 */
import { EarshotError } from "../../../domain/errors.ts";
import { isSessionKey } from "../../../domain/key.ts";
import { needDaemon } from "../lib/api-client.ts";
import { print, printJson, type StateOptions, stateDirFor } from "../lib/command.ts";

export interface StatelyOptions extends StateOptions {
  readonly json?: boolean;
  readonly key?: string;
  readonly text?: boolean;
}

/** @throws EarshotError EAR_USAGE when no daemon is running, EAR_KEY_INVALID */
export async function printStately(options: StatelyOptions): Promise<void> {
  const { key, text = false } = options;
  if (key !== undefined && !isSessionKey(key))
    throw new EarshotError("EAR_KEY_INVALID", "Cannot inspect that: it is not a session key");
  const { base, token } = await needDaemon(stateDirFor(options));
  const query = new URLSearchParams({
    ...(key === undefined ? {} : { key }),
    ...(text ? { words: "1" } : {}),
  });
  const asked = query.size === 0 ? "" : `?${query}`;
  const address = `${base}/inspect${asked}#token=${token}`;
  if (options.json === true) return printJson({ address });
  print(address);
  process.stderr.write(
    "Open it in a browser on this machine. It loads stately.ai/inspect and sends events to it" +
      `${text ? ", with what people and agents say" : ", without what people say"}.\n`,
  );
}
