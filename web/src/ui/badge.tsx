/** The connection state of the page, shown by shape, colour and word. */
import type { Link } from "../lib/connection-state.ts";
import { Icon } from "./icons.tsx";

const looks = {
  live: { look: "ok", icon: "ok" },
  connecting: { look: "wait", icon: "wait" },
  lost: { look: "wait", icon: "wait" },
  refused: { look: "bad", icon: "bad" },
} as const;

interface LinkBadgeProps {
  readonly link: Link;
  /** The word for a connection that is up. */
  readonly up: string;
  readonly live?: boolean;
}

/** A badge; with `live` its changes are announced. */
export function LinkBadge({ link, up, live = false }: LinkBadgeProps) {
  const { look, icon } = looks[link.state];
  return (
    <span class={`badge ${look}`} {...(live ? { role: "status" } : {})}>
      <Icon name={icon} />
      {wordOf(link, up, live)}
    </span>
  );
}

function wordOf(link: Link, up: string, short: boolean): string {
  if (link.state === "live") return up;
  if (link.state === "connecting") return "Connecting";
  if (link.state === "refused") return "Token refused";
  return short ? "Reconnecting" : `Reconnecting, attempt ${link.tries}`;
}
