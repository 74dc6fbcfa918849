/**
 * A secret may come back encoded: percent-encoded in a URL, base64 in a header, escaped in quoted
 * JSON. Text from anyone who was given a secret is redacted in all these forms. Pure, and linear in
 * the text for each form.
 */

/** Replaces a secret. */
export const redacted = "[redacted]";
/** Shorter secrets are not redacted: they would match ordinary words. */
const unitsMin = 6;

/** The distinct encodings of a secret; none for a secret that is too short. */
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

/** Replaces these forms in the order given: longer ones first. */
export function redactForms(text: string, forms: readonly string[]): string {
  let shown = text;
  for (const form of forms) if (shown.includes(form)) shown = shown.replaceAll(form, redacted);
  return shown;
}

/**
 * All forms of all secrets, longest first, so that a shorter one leaves no rest of a longer one.
 */
export function formsOfSecrets(secrets: Iterable<string>): readonly string[] {
  const forms = new Set([...secrets].flatMap((secret) => [...formsOf(secret)]));
  return [...forms].sort((a, b) => b.length - a.length);
}

/** Redacts these secrets in a text, in all their encodings. */
export function redactSecrets(text: string, secrets: Iterable<string>): string {
  return redactForms(text, formsOfSecrets(secrets));
}
