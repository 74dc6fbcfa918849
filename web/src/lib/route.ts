/**
 * Routes
 * ======
 * One document shows every page, by the path. A link inside the pages changes address and page
 * without loading the document again, so that streams stay connected.
 */
import { useEffect, useState } from "preact/hooks";

export type Route =
  | { readonly page: "rooms" }
  /**
   * `message`: the id of the message to open with; null: the newest decided one. `at`: its journal
   * number, where it may be further up than what is loaded first.
   */
  | {
      readonly page: "room";
      readonly key: string;
      readonly message: string | null;
      readonly at: number | null;
    }
  | { readonly page: "search" }
  | { readonly page: "chat" }
  | { readonly page: "replay" }
  | { readonly page: "health" }
  | { readonly page: "setup" }
  | { readonly page: "settings" };

const paths = {
  "/chat": "chat",
  "/replay": "replay",
  "/search": "search",
  "/health": "health",
  "/setup": "setup",
  "/settings": "settings",
} as const;
const roomPath = "/room/";

/** The page of a path; whatever is not known is the list of rooms. */
export function routeOf(path: string, search = ""): Route {
  if (path.startsWith(roomPath)) {
    const key = decoded(path.slice(roomPath.length));
    const params = new URLSearchParams(search);
    const at = /^\d{1,15}$/u.test(params.get("at") ?? "") ? Number(params.get("at")) : null;
    if (key !== "") return { page: "room", key, message: params.get("message"), at };
  }
  const page = paths[path as keyof typeof paths];
  return { page: page ?? "rooms" };
}

/** The address of one room's page. */
export function roomHref(key: string, message?: string, at?: number): string {
  const params = [
    ...(message === undefined ? [] : [`message=${encodeURIComponent(message)}`]),
    ...(at === undefined ? [] : [`at=${at}`]),
  ];
  const query = params.length === 0 ? "" : `?${params.join("&")}`;
  return `${roomPath}${encodeURIComponent(key)}${query}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const moved = "earshot.moved";

/** Shows another page of ours. */
export function navigate(href: string): void {
  history.pushState(null, "", href);
  dispatchEvent(new Event(moved));
}

/** A plain click on a link to a page of ours; null: the browser should do what it does. */
function ownLink(event: MouseEvent): HTMLAnchorElement | null {
  if (event.defaultPrevented || event.button !== 0) return null;
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return null;
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (link === null || link.target !== "" || link.hasAttribute("download")) return null;
  const own = link.origin === location.origin && !link.getAttribute("href")?.startsWith("#");
  return own ? link : null;
}

/** The page to show now. Called once, by the frame. */
export function useRoute(): Route {
  const now = () => routeOf(location.pathname, location.search);
  const [route, setRoute] = useState(now);
  useEffect(() => {
    const look = () => setRoute(now());
    const clicked = (event: MouseEvent) => {
      const link = ownLink(event);
      if (link === null) return;
      event.preventDefault();
      if (link.href !== location.href) navigate(link.href);
    };
    addEventListener("popstate", look);
    addEventListener(moved, look);
    document.addEventListener("click", clicked);
    return () => {
      removeEventListener("popstate", look);
      removeEventListener(moved, look);
      document.removeEventListener("click", clicked);
    };
  }, []);
  return route;
}
