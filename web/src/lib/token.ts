/**
 * The token of the page
 * =====================
 * It comes in the fragment of the address that `earshot start` prints, which no server and no log
 * sees. It is removed from the address bar at once and stays in the tab's storage until the tab is
 * closed.
 */
const storageKey = "earshot.token";

/** The token, or null if this tab never had one. */
export function takeToken(): string | null {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const given = fragment.get("token");
  if (given !== null && given !== "") {
    sessionStorage.setItem(storageKey, given);
    history.replaceState(null, "", location.pathname + location.search);
    return given;
  }
  return sessionStorage.getItem(storageKey);
}
