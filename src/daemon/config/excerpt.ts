/**
 * A part of a config file for people
 * ==================================
 * The lines around one, without secrets. The file may be refused because it is not JSON5, so secrets
 * are found in the text: what follows the name of a secret field, also where a quote or the colon is
 * missing, and whatever has the form of a key. Rather too much is taken out than too little.
 */
import { isSecretName } from "../../domain/config/index.ts";
import { redacted } from "../../domain/redact-secrets.ts";
import { cut, plainText } from "../../domain/sanitize.ts";

export interface ExcerptLine {
  /** Counted from 1. */
  readonly line: number;
  readonly text: string;
}

const linesAround = 2;
const lineUnitsMax = 160;

const name = /[A-Za-z_$][\w$-]*/gu;
/** A string, also without its end; or with a colon before it, a list or the rest of the line. */
const value =
  /["']?\s*(?:[:=]\s*)?(?<quoted>"(?:\\[\s\S]|[^"\\\n])*"?|'(?:\\[\s\S]|[^'\\\n])*'?)|["']?\s*[:=]\s*(?<bare>\[[^\]]*\]?|[^\n]+)/uy;
const reference = /^["']\$\{[A-Za-z_]\w*\}["']$/u;
/** Passwords in addresses, and the forms that keys have at most providers. */
const userinfo = /\/\/[^/@\s"']+@/gu;
const keyForms = [
  /\b\d{6,}:[\w-]{20,}/gu,
  /\bsk-[\w-]{8,}/gu,
  /\b[0-9A-Fa-f-]{32,}\b/gu,
  /(?<![\w+=-])(?=[\w+=-]*\d)(?=[\w+=-]*[a-z])(?=[\w+=-]*[A-Z])[\w+=-]{20,}/gu,
];

/** The line of a config file and those around it. Empty: the file has no such line. */
export function excerptOf(text: string, line: number): readonly ExcerptLine[] {
  const lines = withoutSecrets(text).split("\n");
  if (line < 1 || line > lines.length) return [];
  const from = Math.max(0, line - 1 - linesAround);
  return lines.slice(from, line + linesAround).map((one, index) => ({
    line: from + 1 + index,
    text: shownLine(one),
  }));
}

/** The text of a config without secrets, with as many lines as before. */
export function withoutSecrets(text: string): string {
  const shown = withoutSecretTexts(text).replace(userinfo, `//${redacted}@`);
  return keyForms.reduce((now, form) => now.replace(form, redacted), shown);
}

function shownLine(text: string): string {
  const plain = plainText(text).replaceAll("\n", " ").trimEnd();
  return plain.length <= lineUnitsMax ? plain : `${cut(plain, lineUnitsMax - 1)}…`;
}

/** As many lines as before. */
function withoutSecretTexts(text: string): string {
  let shown = "";
  let done = 0;
  for (const { 0: field, index } of text.matchAll(name)) {
    if (index < done || !isSecretName(field)) continue;
    value.lastIndex = index + field.length;
    const found = value.exec(text);
    const secret = found?.groups?.quoted ?? found?.groups?.bare;
    if (found === null || secret === undefined || reference.test(secret)) continue;
    const begin = value.lastIndex - secret.length;
    const lines = "\n".repeat(secret.split("\n").length - 1);
    shown += `${text.slice(done, begin)}${redacted}${lines}`;
    done = begin + secret.length;
  }
  return shown + text.slice(done);
}
