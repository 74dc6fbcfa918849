/**
 * `/attach` in `earshot chat`
 * ===========================
 * Uploads a file of this machine to the daemon and sends it to the agent with the next line; an
 * empty line sends it alone. Only a person at the keyboard can attach files: lines from a pipe are
 * text, whatever they say.
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
  /** Takes an order to attach a file. False: the line is something to say. */
  takes(line: string): boolean;
  /** The files of the line that is said now, once all of them are there. */
  forLine(): Promise<readonly string[]>;
}

export interface AttachPorts {
  readonly find: () => Promise<DaemonAddress | null>;
  readonly tell: (line: string) => void;
}

const order = /^\/attach(?:\s+(.*))?$/su;
const answerSchema = z.object({
  id: z.string(),
  kind: z.string(),
  bytes: z.number(),
  name: z.string().nullable(),
});
const errorSchema = z.object({ error: z.object({ message: z.string() }) });

export function createAttacher({ find, tell }: AttachPorts): Attacher {
  let files: string[] = [];
  let work: Promise<void> = Promise.resolve();

  async function attach(given: string): Promise<void> {
    const path = pathOf(given);
    const name = basename(path);
    const found = await stat(path).catch(() => null);
    if (found?.isFile() !== true) return tell(`(no file at ${oneLine(path, 200)})`);
    const daemon = await find();
    if (daemon === null) return tell("(not attached: the daemon is not there)");
    const answer = await fetch(
      `${daemon.base}/api/webchat/uploads?name=${encodeURIComponent(name)}`,
      {
        method: "POST",
        headers: { authorization: `Bearer ${daemon.token}` },
        body: Readable.toWeb(createReadStream(path)) as unknown as ReadableStream,
        duplex: "half",
      } as RequestInit,
    );
    const told: unknown = await answer.json();
    if (!answer.ok) {
      const error = errorSchema.safeParse(told);
      return tell(`(not attached: ${error.data?.error.message ?? answer.status})`);
    }
    const { id, bytes } = answerSchema.parse(told);
    files.push(id);
    tell(`(attached ${oneLine(name, 120)}, ${bytes} bytes; it goes with your next line)`);
  }

  return {
    takes(line) {
      const path = order.exec(line)?.[1]?.trim();
      if (!order.test(line)) return false;
      if (path === undefined || path === "") tell("(/attach wants the path of a file)");
      else
        work = work
          .then(() => attach(path))
          .catch((error: unknown) => tell(`(not attached: ${oneLine(String(error), 200)})`));
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

/** As a shell would read it: quotes around it go, and `~` is home. */
function pathOf(given: string): string {
  const bare = /^(["'])(.*)\1$/su.exec(given)?.[2] ?? given;
  return resolve(bare === "~" || bare.startsWith("~/") ? `${homedir()}${bare.slice(1)}` : bare);
}

const kinds: Readonly<Record<AttachedFile["kind"], string>> = {
  image: "picture",
  audio: "sound",
  video: "video",
  file: "file",
};

/** The files of a message in words: "[picture hat.png]". */
export function inWords(files: readonly AttachedFile[] | undefined): string {
  return (files ?? [])
    .map(({ kind, name }) =>
      name === undefined ? `[${kinds[kind]}]` : `[${kinds[kind]} ${oneLine(name, 120)}]`,
    )
    .join(" ");
}
