/**
 * The frame of the pages
 * ======================
 * Bar, tabs, the connection state of the shown page, theme, keys. Each page is a script of its own,
 * loaded when it is first opened. Without a token the frame says where to get one.
 */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useNeeds } from "./health/use-needs.ts";
import { Help } from "./help.tsx";
import type { Link } from "./lib/connection-state.ts";
import { useKeys } from "./lib/keys.ts";
import type { PageProps } from "./lib/page-props.ts";
import { navigate, type Route, useRoute } from "./lib/route.ts";
import { switchTheme } from "./lib/theme.ts";
import { LinkBadge } from "./ui/badge.tsx";
import { Icon, Sprite } from "./ui/icons.tsx";

const tabs = [
  { page: "rooms", path: "/", title: "Rooms" },
  { page: "chat", path: "/chat", title: "Chat" },
  { page: "replay", path: "/replay", title: "What-if" },
  { page: "health", path: "/health", title: "Health" },
  { page: "settings", path: "/settings", title: "Settings" },
] as const;

/** Pages that fill the window and scroll inside; the others scroll as a whole. */
const filling: readonly Route["page"][] = ["room", "chat"];

const connecting: Link = { state: "connecting" };

export function App({ token }: { readonly token: string | null }) {
  const route = useRoute();
  const [link, setLink] = useState<Link>(connecting);
  const onLink = (next: Link) => setLink((before) => (isSame(before, next) ? before : next));
  const [help, setHelp] = useState(false);
  const onHelp = () => setHelp(true);
  useKeys({
    t: switchTheme,
    "?": onHelp,
    "g r": () => navigate("/"),
    "g c": () => navigate("/chat"),
    "g s": () => navigate("/search"),
    "g w": () => navigate("/replay"),
    "g h": () => navigate("/health"),
    "g e": () => navigate("/settings"),
    "g u": () => navigate("/setup"),
  });
  useEffect(() => setLink(connecting), [route.page]);
  const { needs, more } = useNeeds(token ?? "", token !== null && link.state === "live");
  const count = needs.length + more;
  const refused = link.state === "refused";
  const tab = tabs.find(({ page }) => page === tabOf(route))?.title ?? "";
  const title = route.page === "search" ? "Search" : route.page === "setup" ? "Setup" : tab;
  useEffect(() => {
    document.title = `${title} · earshot`;
  }, [title]);
  return (
    <div class={filling.includes(route.page) ? "frame fill" : "frame"}>
      <Sprite />
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="bar">
        <a class="mark" href="/">
          <Icon name="mark" size={20} />
          earshot
        </a>
        <nav class="tabs" aria-label="Pages">
          {tabs.map(({ page, path, title: name }) => (
            <a key={path} href={path} {...(page === tabOf(route) && { "aria-current": "page" })}>
              {name}
              {page === "health" && count > 0 && (
                <span class="need-count">
                  {count}
                  <span class="sr">{count === 1 ? " thing needs you" : " things need you"}</span>
                </span>
              )}
            </a>
          ))}
        </nav>
        <div class="bar-end">
          {token !== null && <LinkBadge link={link} up="Live" live />}
          <button
            type="button"
            class="btn quiet icon theme"
            aria-label="Switch between light and dark"
            title="Theme (t)"
            onClick={switchTheme}
          >
            <Icon name="theme" size={16} />
          </button>
        </div>
      </header>
      {token === null || refused ? (
        <NoToken title={title} refused={refused} />
      ) : (
        <Page route={route} token={token} onLink={onLink} onHelp={onHelp} />
      )}
      {help && <Help onClose={() => setHelp(false)} />}
    </div>
  );
}

/** A page may report the same state again: only a change is rendered. */
const isSame = (link: Link, other: Link): boolean => JSON.stringify(link) === JSON.stringify(other);

/** A room belongs to the list of rooms, the setup to the settings. */
function tabOf({ page }: Route): Route["page"] {
  if (page === "setup") return "settings";
  return page === "room" || page === "search" ? "rooms" : page;
}

type RoomProps = PageProps & {
  readonly roomKey: string;
  readonly message: string | null;
  readonly at: number | null;
};
const scripts = {
  rooms: () => import("./pages/rooms.tsx").then(({ RoomsPage }) => RoomsPage),
  room: () => import("./pages/room.tsx").then(({ RoomPage }) => RoomPage),
  search: () => import("./pages/search.tsx").then(({ SearchPage }) => SearchPage),
  chat: () => import("./pages/chat.tsx").then(({ ChatPage }) => ChatPage),
  replay: () => import("./pages/what-if.tsx").then(({ WhatIfPage }) => WhatIfPage),
  health: () => import("./pages/health.tsx").then(({ HealthPage }) => HealthPage),
  settings: () => import("./pages/settings.tsx").then(({ SettingsPage }) => SettingsPage),
  setup: () => import("./pages/setup.tsx").then(({ SetupPage }) => SetupPage),
} as const;

/** The page of the route; while its script is on its way, the place it will have. */
function Page({ route, ...props }: PageProps & { readonly route: Route }) {
  const [shown, setShown] = useState<{ page: string; View: ComponentType<RoomProps> } | null>(null);
  const [failed, setFailed] = useState(false);
  const { page } = route;
  useEffect(() => {
    let wanted = true;
    setFailed(false);
    scripts[page]().then(
      (View) => wanted && setShown({ page, View: View as ComponentType<RoomProps> }),
      () => wanted && setFailed(true),
    );
    return () => {
      wanted = false;
    };
  }, [page]);
  if (failed) return <NotLoaded />;
  if (shown === null || shown.page !== page) return <main id="main" tabIndex={-1} />;
  const { View } = shown;
  const roomKey = route.page === "room" ? route.key : "";
  const message = route.page === "room" ? route.message : null;
  const at = route.page === "room" ? route.at : null;
  return (
    <View
      key={page + roomKey + (at ?? "")}
      {...props}
      roomKey={roomKey}
      message={message}
      at={at}
    />
  );
}

/** The daemon went away, or was replaced by another version, before the script was fetched. */
function NotLoaded() {
  return (
    <main id="main" tabIndex={-1}>
      <div class="empty">
        <h2>This page could not be loaded</h2>
        <p>earshot does not answer, or was updated since this window was opened.</p>
        <div class="acts">
          <button type="button" class="btn" onClick={() => location.reload()}>
            Try again
          </button>
        </div>
      </div>
    </main>
  );
}

/** The way to a token. */
function NoToken({ title, refused }: { readonly title: string; readonly refused: boolean }) {
  return (
    <>
      <section class="page-bar" aria-labelledby="page-title">
        <h1 id="page-title">{title}</h1>
      </section>
      <main id="main" tabIndex={-1}>
        <div class="empty">
          <h2>{refused ? "The token was refused" : "This page needs a token"}</h2>
          <p>
            {refused
              ? "It may have been replaced since you got this address. "
              : "earshot needs a valid token. "}
            Open the address that earshot printed at start. It ends with <code>#token=…</code>
          </p>
          <p>To print it again, run:</p>
          <p>
            <code>earshot status</code>
          </p>
        </div>
      </main>
    </>
  );
}
