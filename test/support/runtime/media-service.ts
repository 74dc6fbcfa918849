/**
 * A media service on a real folder
 * =======================
 * With a platform that gives what a test lets it give, and a guarded client that may reach the
 * origins named.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { createHttpClient } from "../../../src/adapters/http/http-client.ts";
import { openMediaService } from "../../../src/adapters/media/media-service.ts";
import { createIds } from "../../../src/adapters/system/ids.ts";
import type { MediaSettings } from "../../../src/domain/config/conversation/media.ts";
import { parseConfig } from "../../../src/domain/config/index.ts";
import type { Attachment } from "../../../src/domain/message.ts";
import type { MediaItem } from "../../../src/domain/ports/index.ts";

export const never = new AbortController().signal;

export const settingsOf = (media: object): MediaSettings => parseConfig({ media }).media;

/** A folder that is gone after the test. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "earshot-media-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

type Source = () => AsyncIterable<Uint8Array>;

export interface ServiceRig {
  readonly service: ReturnType<typeof openMediaService>;
  readonly folder: string;
  readonly logs: string[];
  /** How often the platform was asked for a file. */
  fetched(): number;
}

/** `files`: what the platform has, by its attachment id. */
export function openService(
  files: Readonly<Record<string, Buffer | Source>> = {},
  options: { readonly folder?: string; readonly allowPrivate?: readonly string[] } = {},
): ServiceRig {
  const folder = options.folder ?? join(tempFolder(), "media");
  const logs: string[] = [];
  const ids = createIds();
  let fetched = 0;
  const service = openMediaService({
    folder,
    log: (level, event, fields) =>
      void logs.push(`${level} ${event} ${JSON.stringify(fields ?? {})}`),
    unique: () => ids.next(),
    async download(_channel, _account, attachmentId) {
      const file = files[attachmentId];
      if (file === undefined) return null;
      fetched += 1;
      if (typeof file === "function") return file();
      return (async function* () {
        yield file;
      })();
    },
    http: createHttpClient({ allowPrivate: options.allowPrivate ?? [] }),
  });
  return { service, folder, logs, fetched: () => fetched };
}

let items = 0;

/** An attachment somewhere; every one is another. */
export function item(attachment: Partial<Attachment> & Pick<Attachment, "kind">): MediaItem {
  items += 1;
  return {
    id: `item${items}`,
    channel: "telegram",
    account: "default",
    attachment: { id: "f1", ...attachment },
  };
}

/** A program of Node that runs these words; `{file}` follows as its argument. */
export const program = (code: string) => ({
  command: process.execPath,
  args: ["-e", code, "{file}"],
});
