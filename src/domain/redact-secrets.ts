/**
 * Blotting secrets out
 * ====================
 * A secret comes back in other clothes: in a URL it is percent-encoded, in a header base64, in a
 * quoted answer JSON. Whoever passes on words of somebody that was sent a secret takes all of them
 * out. Pure, and linear in the text for each form.
 */

/** What stands where a secret stood. */
export const redacted = "[redacted]";
/** A shorter secret is a word that may stand anywhere. */
const unitsMin = 6;

/** How a secret may be written; each once. Nothing for what is too short to be one. */
export function formsOf(secret: string): readonly string[] {
  if (secret.length < unitsMin) return [];
  const written = secret.replace(/\p{Cs}/gu, "\ufffd");
  const url = encodeURIComponent(written);
  const base64 = btoa(String.fromCharCode(...new TextEncoder().encode(written)));
  const forms = [
    secret,
    url,
    encodeURI(written),
    JSON.stringify(secret).slice(1, -1),
    base64,
    base64.replace(/=+$/, ""),
    base64.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, ""),
  ];
  return [...new Set(forms)];
}

/** A text without these forms. They are tried in the order given: longer ones first. */
export function redactForms(text: string, forms: readonly string[]): string {
  let shown = text;
  for (const form of forms) if (shown.includes(form)) shown = shown.replaceAll(form, redacted);
  return shown;
}

/** All forms of all secrets, longest first, so that no rest of one is left by a shorter one. */
export function formsOfSecrets(secrets: Iterable<string>): readonly string[] {
  const forms = new Set([...secrets].flatMap((secret) => [...formsOf(secret)]));
  return [...forms].sort((a, b) => b.length - a.length);
}

/** A text without these secrets, however they are written in it. */
export function redactSecrets(text: string, secrets: Iterable<string>): string {
  return redactForms(text, formsOfSecrets(secrets));
}
