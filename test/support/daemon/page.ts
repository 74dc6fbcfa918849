/**
 * A page of the webchat, as far as the protocol goes: a real WebSocket that remembers every frame.
 */
import WebSocket from "ws";
import {
  type ServerFrame,
  serverFrameSchema,
} from "../../../src/adapters/channels/webchat/protocol.ts";

type FrameOf<Type extends ServerFrame["type"]> = Extract<ServerFrame, { type: Type }>;

export interface Page {
  readonly frames: ServerFrame[];
  /** Why the socket closed; resolves when it does. */
  readonly closed: Promise<number>;
  raw(text: string): void;
  say(text: string, id?: string, attachments?: readonly string[], replyTo?: string): string;
  of<Type extends ServerFrame["type"]>(type: Type): FrameOf<Type>[];
  /** Waits for a frame that fits; looks at those that are here, too. */
  wait<Type extends ServerFrame["type"]>(
    type: Type,
    fits?: (frame: FrameOf<Type>) => boolean,
  ): Promise<FrameOf<Type>>;
  close(): void;
}

/** Opens a page; with a token it says hello by itself. */
export async function openPage(base: string, token: string | null, after = 0): Promise<Page> {
  const socket = new WebSocket(`${base.replace("http", "ws")}/ws`);
  const frames: ServerFrame[] = [];
  /** Those that wait for a frame, or for the end. */
  const waiting: (() => void)[] = [];
  let isClosed = false;
  const changed = () => {
    for (const look of waiting.splice(0)) look();
  };
  socket.on("message", (data) => {
    frames.push(serverFrameSchema.parse(JSON.parse(String(data))));
    changed();
  });
  const closed = new Promise<number>((resolve) =>
    socket.on("close", (code) => {
      isClosed = true;
      changed();
      resolve(code);
    }),
  );
  await new Promise((resolve, reject) => {
    socket.on("open", resolve);
    socket.on("error", reject);
  });
  const send = (frame: unknown) => socket.send(JSON.stringify(frame));
  if (token !== null) send({ type: "hello", token, after });
  const page: Page = {
    frames,
    closed,
    raw: (text) => socket.send(text),
    say(text, id = `id-${Math.random().toString(36).slice(2)}`, attachments = [], replyTo) {
      send({ type: "message", id, text, replyTo: replyTo ?? null, attachments });
      return id;
    },
    of: <Type extends ServerFrame["type"]>(type: Type) =>
      frames.filter((frame): frame is FrameOf<Type> => frame.type === type),
    async wait(type, fits = () => true) {
      for (;;) {
        const found = page.of(type).find(fits);
        if (found !== undefined) return found;
        if (isClosed)
          throw new Error(`no ${type} came; there were ${JSON.stringify(frames).slice(0, 2_000)}`);
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
    close: () => socket.close(),
  };
  return page;
}
