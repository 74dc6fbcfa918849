/**
 * Whether a page is connected to the daemon.
 */
export type Link =
  | { readonly state: "connecting" }
  | { readonly state: "live" }
  | { readonly state: "lost"; readonly tries: number }
  | { readonly state: "refused"; readonly message: string };
