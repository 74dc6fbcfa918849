/**
 * The frame of the pages: bar, tabs of the pages there are, the page's own connection, theme, keys.
 * Without a token it says where to get one.
 */
import { useState } from "preact/hooks";
import { ChatPage } from "./chat-page.tsx";
import { useWebchat } from "./direct/use-webchat.ts";
import { Help } from "./help.tsx";
import { useKeys } from "./keys.ts";
import { LinkBadge } from "./parts/badge.tsx";
import { Icon, Sprite } from "./parts/icons.tsx";
import { switchTheme } from "./theme.ts";

const pages = [{ path: "/chat", title: "Chat" }] as const;

export function App({ token }: { readonly token: string | null }) {
  const direct = useWebchat(token);
  const [help, setHelp] = useState(false);
  useKeys({
    t: switchTheme,
    "?": () => setHelp(true),
    "g c": () => document.querySelector("main")?.focus(),
  });
  const refused = direct.link.state === "refused" ? direct.link.message : null;
  return (
    <div class="frame">
      <Sprite />
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="bar">
        <a class="mark" href="/chat">
          <Icon name="mark" size={20} />
          earshot
        </a>
        <nav class="tabs" aria-label="Pages">
          {pages.map(({ path, title }) => (
            <a key={path} href={path} aria-current="page">
              {title}
            </a>
          ))}
        </nav>
        <div class="bar-end">
          {token !== null && <LinkBadge link={direct.link} up="Live" live />}
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
      {token === null || refused !== null ? (
        <NoToken refused={refused !== null} />
      ) : (
        <ChatPage token={token} direct={direct} onHelp={() => setHelp(true)} />
      )}
      {help && <Help onClose={() => setHelp(false)} />}
    </div>
  );
}

/** The way to a token. */
function NoToken({ refused }: { readonly refused: boolean }) {
  return (
    <>
      <div class="page-bar">
        <h1>Chat</h1>
      </div>
      <main id="main" tabIndex={-1}>
        <div class="empty">
          <h2>{refused ? "The token was refused" : "This page needs a token"}</h2>
          <p>
            {refused
              ? "It may have been replaced since this address was printed. "
              : "earshot only talks to whoever holds its token. "}
            Open the address that was printed at start: it ends in <code>#token=…</code>
          </p>
          <p>In a terminal, this prints it again:</p>
          <p>
            <code>earshot status</code>
          </p>
        </div>
      </main>
    </>
  );
}
