/**
 * What a browser may do with our answers: nothing from elsewhere runs, is loaded or shows us in a frame.
 */

/** Sent with every answer, pages or not. */
export const securityHeaders: Readonly<Record<string, string>> = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
    "connect-src 'self'; font-src 'self'; manifest-src 'self'; base-uri 'none'; " +
    "form-action 'none'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

/** The default inspector that our page opens. */
export const statelyInspector = "https://stately.ai/inspect";

/**
 * The page that sends frames to the inspector may show that one site in a frame or a window, but may
 * not load scripts or data from it.
 */
export function bridgeHeaders(inspectorUrl: string): Readonly<Record<string, string>> {
  const policy = securityHeaders["content-security-policy"] as string;
  return {
    "content-security-policy": `${policy}; frame-src ${new URL(inspectorUrl).origin}`,
    "cross-origin-opener-policy": "same-origin-allow-popups",
  };
}
