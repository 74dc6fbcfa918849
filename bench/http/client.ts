/**
 * A client that costs little, so that a bench of the server measures the server: HTTP/1.1 over one
 * open socket, one request at a time, and of the answer only its status and its body.
 */
import { connect } from "node:net";

export interface Answer {
  readonly status: number;
  readonly body: string;
}

export interface Connection {
  /** Posts JSON. One at a time. @throws Error if the connection ends before the answer. */
  post(path: string, body: string, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  close(): void;
}

/** Opens one connection to a server on this machine. */
export async function openConnection(port: number): Promise<Connection> {
  const socket = connect({ host: "127.0.0.1", port, noDelay: true });
  let arrived = Buffer.alloc(0);
  let waiting: { done: (answer: Answer) => void; failed: (error: Error) => void } | null = null;
  const fail = (error: Error) => {
    waiting?.failed(error);
    waiting = null;
  };
  socket.on("data", (part) => {
    arrived = arrived.length === 0 ? part : Buffer.concat([arrived, part]);
    const answer = wholeAnswer(arrived);
    if (answer === null) return;
    arrived = Buffer.alloc(0);
    const { done } = waiting ?? {};
    waiting = null;
    done?.(answer);
  });
  socket.on("close", () => fail(new Error("the server closed the connection")));
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });
  socket.on("error", fail);
  return {
    post(path, body, headers = {}) {
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(
        `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n` +
          `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n` +
          `${lines.join("")}\r\n${body}`,
      );
      return new Promise((done, failed) => {
        waiting = { done, failed };
      });
    },
    close: () => void socket.end(),
  };
}

/** The answer if all of it is there: with a length, or in chunks. */
function wholeAnswer(bytes: Buffer): Answer | null {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return null;
  const head = bytes.toString("latin1", 0, end);
  const status = Number(head.slice(9, 12));
  const length = /\r\ncontent-length: (\d+)/iu.exec(head)?.[1];
  const from = end + 4;
  if (length === undefined)
    return bytes.subarray(-5).toString("latin1") === "0\r\n\r\n"
      ? { status, body: bytes.toString("utf8", from) }
      : null;
  const until = from + Number(length);
  return bytes.length < until ? null : { status, body: bytes.toString("utf8", from, until) };
}
