/**
 * IRC's wire format
 * =================
 * One line (RFC 2812, section 2.3.1, with the tags of https://ircv3.net/specs/extensions/message-tags),
 * parsed by irc-framework and checked here once. A line that does not fit is logged and passed over.
 */
import { z } from "zod";
import { limits } from "../../../domain/limits.ts";

/** A line's tags and its text have at most 8,191 and 512 bytes; servers may allow more (LINELEN). */
export const lineBytesMax = 32_768;

const lineSchema = z.object({
  tags: z.record(z.string().max(limits.idUnitsMax), z.string().max(lineBytesMax)),
  prefix: z.string().max(limits.idUnitsMax),
  command: z.string().regex(/^(?:[A-Z]{1,32}|\d{3})$/),
  params: z.array(z.string().max(lineBytesMax)).max(64),
});

/** Who a line is from: a person with user and host, or a server (both are null). */
export interface IrcSource {
  readonly nick: string;
  readonly user: string | null;
  readonly host: string | null;
}

export interface IrcLine {
  readonly tags: Readonly<Record<string, string>>;
  readonly source: IrcSource;
  readonly command: string;
  readonly params: readonly string[];
}

/** Checks a parsed line; null: it has not the form of one. */
export function readLine(parsed: unknown): IrcLine | null {
  const given = parsed as { tags?: object } | null;
  const checked = lineSchema.safeParse(given && { ...given, tags: { ...given.tags } });
  if (!checked.success) return null;
  const { tags, prefix, command, params } = checked.data;
  return { tags, source: sourceOf(prefix), command, params };
}

/** The time that the server gives a line, ms; null: none. */
export function sentAtOf({ time }: IrcLine["tags"]): number | null {
  const at = Date.parse(time ?? "");
  return Number.isNaN(at) || at < 0 ? null : at;
}

/** `nick!user@host`, or a server's name. */
export function sourceOf(prefix: string): IrcSource {
  const found = /^([^!@]+)(?:!([^@]*))?@(.+)$/.exec(prefix);
  if (found === null) return { nick: prefix, user: null, host: null };
  const [, nick = "", user, host = ""] = found;
  return { nick, user: user ?? null, host };
}

/** A tag's value as it stands in a line. */
export function escapeTag(value: string): string {
  const escapes: Readonly<Record<string, string>> = {
    ...{ ";": "\\:", " ": "\\s", "\\": "\\\\", "\r": "\\r", "\n": "\\n" },
  };
  return value.replace(/[; \\\r\n]/g, (char) => escapes[char] as string);
}

/** Formatting codes of text: bold, italic, colours (https://modern.ircdocs.horse/formatting). */
const formatting =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the codes
  /[\u0002\u000f\u0011\u0016\u001d-\u001f]|\u0003(?:\d{1,2}(?:,\d{1,2})?)?|\u0004(?:[\dA-Fa-f]{6}(?:,[\dA-Fa-f]{6})?)?/g;

/** Text without formatting codes. */
export const withoutFormatting = (text: string): string => text.replace(formatting, "");
