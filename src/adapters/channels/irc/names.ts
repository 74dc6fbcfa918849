/**
 * Names on IRC
 * ============
 * Nicks and rooms are the same in upper and lower case, by the server's rule. A nick is nobody's:
 * anybody may take it. So a person is the account that the network's services report, and else
 * user and host, which the server reports; a nick grants nothing.
 */
import type { IrcSource } from "./wire.ts";

/** The server's rule of upper and lower case (ISUPPORT CASEMAPPING). */
export type Fold = (name: string) => string;

const ascii: Fold = (name) => name.replace(/[A-Z]/g, (char) => char.toLowerCase());
/** `{|}^` are the lower case of `[\]~`: RFC 2812, section 2.2. */
const rfc1459: Fold = (name) =>
  ascii(name).replace(/[[\]\\~]/g, (char) => "{}|^"["[]\\~".indexOf(char)] as string);
const strict: Fold = (name) =>
  ascii(name).replace(/[[\]\\]/g, (char) => "{}|"["[]\\".indexOf(char)] as string);

/** The rule of that name; RFC 1459's where the server says none. */
export function foldOf(casemapping: string | undefined): Fold {
  switch (casemapping?.toLowerCase()) {
    case "ascii":
      return ascii;
    case "strict-rfc1459":
    case "rfc1459-strict":
      return strict;
    case undefined:
    case "rfc1459":
      return rfc1459;
    default:
      return (name) => name.toLowerCase();
  }
}

/** A person's id: `account:<name>`, else `<user>@<host>`. Null: a server. */
export function identityOf(
  { user, host }: Pick<IrcSource, "user" | "host">,
  account: string | null,
): string | null {
  if (account !== null && account !== "" && account !== "*")
    return `account:${account.toLowerCase()}`;
  return host === null ? null : `${user ?? ""}@${host.toLowerCase()}`;
}

/** Whether a target is a room, or those of a room with a rank (`@#name`). */
export const isRoom = (target: string): boolean => /^[~&@%+!]{0,5}[#&+!][^\s,]/.test(target);

/** Whether a text has this name as a word of its own; `-` and brackets are parts of nicks. */
export function namesNick(text: string, nick: string, fold: Fold): boolean {
  const all = fold(text);
  const wanted = fold(nick);
  const isPart = (char: string | undefined) => char !== undefined && /[\w[\]\\`^{|}-]/.test(char);
  for (let at = all.indexOf(wanted); at >= 0; at = all.indexOf(wanted, at + 1))
    if (!isPart(all[at - 1]) && !isPart(all[at + wanted.length])) return true;
  return false;
}

/** The nicks that a line is addressed to: `ann: hi`, `ann, bob: hi`. */
export function addressed(text: string): readonly string[] {
  const found: string[] = [];
  const name = /([^\s,:]{1,64})[,:](?:\s+|$)/y;
  while (found.length < 16) {
    const match = name.exec(text);
    if (match === null) break;
    found.push(match[1] as string);
  }
  return found;
}
