/**
 * The two paths that accept a WebSocket: the web chat, and the inspector, whose path may have a query
 * (its ticket).
 */
import type { Services } from "./compose.ts";
import type { Upgrade } from "./http/server.ts";

export function websocketRoutes({
  webchat,
  inspector,
}: Pick<Services, "webchat" | "inspector">): (url: string) => Upgrade | null {
  return (url) => {
    if (url === "/ws") return webchat.upgrade;
    return url.split("?", 1)[0] === "/inspect/ws" ? inspector.upgrade : null;
  };
}
