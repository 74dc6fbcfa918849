/**
 * What a server says when it refuses, with the disposition that the outbox and the gateway act on.
 * The numbers: https://modern.ircdocs.horse/#numerics.
 */
import { EarshotError } from "../../../domain/errors.ts";
import { redactSecrets } from "../../../domain/redact-secrets.ts";
import { oneLine } from "../../../domain/sanitize.ts";
import type { IrcLine } from "./wire.ts";

/** A line was written, and the connection broke before the server had read it. */
export class IrcLostError extends Error {
  public override readonly name = "IrcLostError";
}

/** Numbers that refuse a message, where the first parameter after our nick is its target. */
const refusals: ReadonlySet<string> = new Set([
  ...["401", "403", "404", "405", "407", "408", "411", "412", "413", "414", "415", "417"],
  ...["437", "442", "477", "482", "486", "489", "492", "494", "531", "716"],
]);
/** Numbers that ask to write slower or later: RPL_TRYAGAIN, ERR_TARGETTOOFAST. */
const waits: ReadonlySet<string> = new Set(["263", "439"]);
const waitMs = 10_000;

/** What refused a message to this target, among the lines that came after it; null: nothing did. */
export function refusalOf(lines: readonly IrcLine[], target: string): EarshotError | null {
  const named = target.toLowerCase();
  const line = lines.find(({ command, params }) => {
    if (command === "FAIL") return params[0] === "PRIVMSG" || params[0] === "TAGMSG";
    if (!refusals.has(command) && !waits.has(command)) return false;
    return params.length < 3 || params[1]?.toLowerCase() === named || waits.has(command);
  });
  if (line === undefined) return null;
  const why = `${line.command} ${reasonOf(line)}`;
  if (waits.has(line.command))
    return new EarshotError("EAR_CHANNEL_RATE", `Cannot send on IRC: it asks to wait (${why})`, {
      retryAfterMs: secondsIn(reasonOf(line)) ?? waitMs,
    });
  return new EarshotError("EAR_CHANNEL_REJECTED", `Cannot send on IRC: it was refused (${why})`);
}

/** A line's last parameter: what it says to people. */
export const reasonOf = ({ params }: IrcLine): string => oneLine(params.at(-1) ?? "", 200);

const secondsIn = (text: string): number | null => {
  const found = /(\d{1,3}) seconds?/.exec(text);
  return found === null ? null : Number(found[1]) * 1_000;
};

/** Why a connection cannot be or ended. `secrets` are redacted in case the server repeats one. */
export function connectionError(
  code: "EAR_CHANNEL_UNAVAILABLE" | "EAR_CHANNEL_AUTH",
  host: string,
  why: string,
  secrets: readonly string[],
): EarshotError {
  const shown = redactSecrets(why, secrets);
  return new EarshotError(code, `Cannot stay connected to the IRC server ${host}: ${shown}`);
}
