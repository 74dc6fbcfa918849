/**
 * The moment before a line is taken
 * =================================
 * What a person does to a fresh line may fall before or after the daemon has it. Here that moment
 * lasts as long as a test wants: while it is held the page's connection says all but `taken` and
 * what comes behind it, in order.
 */
import type { Page, WebSocketRoute } from "playwright-core";

export interface HeldConnection {
  /** From now on `taken`, and all after it, waits. */
  hold(): void;
  /** What waits goes, and what comes later as it comes. */
  release(): void;
  /** Says a frame to the page as if it came from the daemon, past what waits. */
  say(frame: Readonly<Record<string, unknown>>): void;
  /** The messages that the page sent, oldest first. */
  readonly sent: readonly { readonly id: string; readonly text: string }[];
  /** From now on messages of this text do not reach the daemon. */
  lose(text: string): void;
}

/** Puts itself on the connection of a page that is not open yet. */
export async function holdTakenFrame(page: Page): Promise<HeldConnection> {
  const waiting: (() => void)[] = [];
  const sent: { id: string; text: string }[] = [];
  const lost = new Set<string>();
  let held = false;
  let route: WebSocketRoute | null = null;
  await page.routeWebSocket("**/ws", (opened) => {
    const daemon = opened.connectToServer();
    route = opened;
    opened.onMessage((data) => {
      const { type, id, text } = JSON.parse(String(data));
      if (type === "message") sent.push({ id, text });
      if (type !== "message" || !lost.has(text)) daemon.send(data);
    });
    daemon.onMessage((data) => {
      const go = () => opened.send(data);
      const waits = waiting.length > 0 || JSON.parse(String(data)).type === "taken";
      if (held && waits) waiting.push(go);
      else go();
    });
  });
  return {
    hold: () => {
      held = true;
    },
    release: () => {
      held = false;
      for (const go of waiting.splice(0)) go();
    },
    say: (frame) => {
      if (route === null) throw new Error("the page is not connected");
      route.send(JSON.stringify(frame));
    },
    sent,
    lose: (text) => {
      lost.add(text);
    },
  };
}
