/**
 * `/attach` in `earshot chat`
 * ===========================
 * Uploads a file of this machine to the daemon and sends it to the agent with the next line; an
 * empty line sends it alone. Only a person at the keyboard can attach files: lines from a pipe are
 * always text.
 */
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, resolve } from "node:path";
import { Readable } from "node:stream";
import { z } from "zod";
import type { AttachedFile } from "../../../adapters/channels/webchat/protocol.ts";
import { oneLine } from "../../../domain/sanitize.ts";
import type { DaemonAddress } from "../lib/api-client.ts";

export interface Attacher {
  /** Handles an `/attach` command. False: the line is a message. */
  takes(line: string): boolean;
  /** The files for the next message, once all are uploaded. */
  forLine(): Promise<readonly string[]>;
}

export interface AttachPorts {
  readonly find: () => Promise<DaemonAddress | null>;
  readonly print: (line: string) => void;
}

const order = /^\/attach(?:\s+(.*))?$/su;
const answerSchema = z.object({
  id: z.string(),
  kind: z.string(),
  bytes: z.number(),
  name: z.string().nullable(),
});
const errorSchema = z.object({ error: z.object({ message: z.string() }) });

export function createAttacher({ find, print }: AttachPorts): Attacher {
  let files: string[] = [];
  let work: Promise<void> = Promise.resolve();

  async function attach(argument: string): Promise<void> {
    const path = pathOf(argument);
    const name = basename(path);
    const found = await stat(path).catch(() => null);
    if (found?.isFile() !== true) return print(`(no file at ${oneLine(path, 200)})`);
    const daemon = await find();
    if (daemon === null) return print("(not attached: the daemon does not answer)");
    const answer = await fetch(
      `${daemon.base}/api/webchat/uploads?name=${encodeURIComponent(name)}`,
      {
        method: "POST",
        headers: { authorization: `Bearer ${daemon.token}` },
        body: Readable.toWeb(createReadStream(path)) as unknown as ReadableStream,
        duplex: "half",
      } as RequestInit,
    );
    const body: unknown = await answer.json();
    if (!answer.ok) {
      const error = errorSchema.safeParse(body);
      return print(`(not attached: ${error.data?.error.message ?? answer.status})`);
    }
    const { id, bytes } = answerSchema.parse(body);
    files.push(id);
    print(`(attached ${oneLine(name, 120)}, ${bytes} bytes; it goes with your next line)`);
  }

  return {
    takes(line) {
      const path = order.exec(line)?.[1]?.trim();
      if (!order.test(line)) return false;
      if (path === undefined || path === "") print("(/attach needs the path of a file)");
      else
        work = work
          .then(() => attach(path))
          .catch((error: unknown) => print(`(not attached: ${oneLine(String(error), 200)})`));
      return true;
    },
    async forLine() {
      await work;
      const taken = files;
      files = [];
      return taken;
    },
  };
}

/** Like a shell: removes quotes, expands `~`. */
function pathOf(argument: string): string {
  const bare = /^(["'])(.*)\1$/su.exec(argument)?.[2] ?? argument;
  return resolve(bare === "~" || bare.startsWith("~/") ? `${homedir()}${bare.slice(1)}` : bare);
}

const kinds: Readonly<Record<AttachedFile["kind"], string>> = {
  image: "picture",
  audio: "sound",
  video: "video",
  file: "file",
};

/** The files of a message as text: "[picture hat.png]". */
export function filesText(files: readonly AttachedFile[] | undefined): string {
  return (files ?? [])
    .map(({ kind, name }) =>
      name === undefined ? `[${kinds[kind]}]` : `[${kinds[kind]} ${oneLine(name, 120)}]`,
    )
    .join(" ");
}
