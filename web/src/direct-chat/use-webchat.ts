/**
 * The direct chat as a hook
 * =========================
 * One connection for the page and the state reduced from its frames. Lines that were not taken yet
 * survive a reload in the tab's storage.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import { ask } from "../lib/api.ts";
import type { Link } from "../lib/connection-state.ts";
import { filesIn } from "../lib/file-facts.ts";
import {
  discard,
  emptyTalk,
  hangUp,
  hear,
  type Pending,
  resumeAfter,
  type Talk,
  write,
} from "./chat-reducer.ts";
import { type Offer, offersIn } from "./commands.ts";
import { Webchat } from "./webchat-socket.ts";

const storageKey = "earshot.unsent";

export interface Direct {
  readonly talk: Talk;
  readonly link: Link;
  readonly say: (text: string, files: Pending["files"]) => void;
  /** Presses a button of a question. */
  readonly press: (label: string, question: string) => void;
  /** Gives up a line that the daemon will not take. */
  readonly discard: (id: string) => void;
  /** What may be typed behind a slash. */
  readonly commands: () => Promise<readonly Offer[]>;
}

/** Connects at once, and until the page is left. */
export function useWebchat(token: string): Direct {
  const [talk, setTalk] = useState<Talk>(emptyTalk);
  const [link, setLink] = useState<Link>({ state: "connecting" });
  const current = useRef(talk);
  const chat = useRef<Webchat | null>(null);
  const change = (next: Talk) => {
    if (next.pending !== current.current.pending) keepUnsent(next.pending);
    current.current = next;
    setTalk(next);
  };
  useEffect(() => {
    change(readUnsent().reduce(write, emptyTalk));
    chat.current = new Webchat({
      url: `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws`,
      token,
      after: () => resumeAfter(current.current),
      pending: () => current.current.pending,
      onFrame: (frame) => change(hear(current.current, frame)),
      onLink: (next) => {
        if (next.state === "lost") change(hangUp(current.current));
        setLink(next);
      },
    });
    return () => chat.current?.close();
  }, [token]);
  const send = (words: Omit<Pending, "id">) => {
    const line: Pending = { id: crypto.randomUUID(), ...words };
    change(write(current.current, line));
    chat.current?.send(line);
  };
  const say: Direct["say"] = (text, files) => send({ text, replyTo: null, files });
  const press: Direct["press"] = (text, replyTo) => send({ text, replyTo, files: [] });
  const commands = async () => offersIn(await ask("/api/commands", { token }));
  const giveUp = (id: string) => change(discard(current.current, id));
  return { talk, link, say, press, discard: giveUp, commands };
}

function keepUnsent(pending: readonly Pending[]): void {
  if (pending.length === 0) sessionStorage.removeItem(storageKey);
  else sessionStorage.setItem(storageKey, JSON.stringify(pending));
}

function readUnsent(): readonly Pending[] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(storageKey) ?? "[]");
    return Array.isArray(kept) ? kept.filter(isPending).map(withFiles) : [];
  } catch {
    return [];
  }
}

/** Files may be missing: an older page kept the line. */
function withFiles(line: Pending): Pending {
  const files = filesIn(line.files).flatMap((file) =>
    file.id === undefined ? [] : [{ ...file, id: file.id }],
  );
  return { ...line, files };
}

function isPending(value: unknown): value is Pending {
  if (typeof value !== "object" || value === null) return false;
  const line = value as Record<string, unknown>;
  return (
    typeof line.id === "string" &&
    typeof line.text === "string" &&
    (line.replyTo === null || typeof line.replyTo === "string")
  );
}
