/**
 * WebSocket routes
 * ================
 * The two paths that take a WebSocket: the chat, and the inspector, which alone may carry a query
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
