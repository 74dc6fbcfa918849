/**
 * The composer's files as a hook: one queue for the page, resumed when the daemon is back, and the
 * ways a file may come: chosen, dropped or pasted.
 */
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Link } from "../lib/connection-state.ts";
import type { Talk } from "./chat-reducer.ts";
import { Uploads, type UploadsOptions, type UploadsView } from "./uploads.ts";

export interface FilesOfDraft extends UploadsView {
  readonly uploads: Uploads;
}

export function useUploads(token: string, talk: Talk, link: Link): FilesOfDraft {
  const limits = useMemo<{ now: Talk["uploads"] }>(() => ({ now: null }), []);
  limits.now = talk.uploads;
  const [view, setView] = useState<UploadsView>({ chosen: [], note: null });
  const uploads = useMemo(() => {
    const options: UploadsOptions = { token, limits: () => limits.now, changed: setView };
    return new Uploads(options);
  }, [token]);
  useEffect(() => {
    setView(uploads.view());
    return () => uploads.close();
  }, [uploads]);
  useEffect(() => {
    if (link.state === "live") uploads.resume();
  }, [uploads, link.state]);
  useEffect(() => {
    addEventListener("dragover", missed);
    addEventListener("drop", missed);
    return () => {
      removeEventListener("dragover", missed);
      removeEventListener("drop", missed);
    };
  }, []);
  return { ...view, uploads };
}

/** A file that misses the composer does not take the place of the page. */
function missed(event: DragEvent): void {
  if (event.defaultPrevented || !hasFiles(event.dataTransfer)) return;
  event.preventDefault();
  if (event.dataTransfer !== null) event.dataTransfer.dropEffect = "none";
}

/** Whether what is dragged has files in it. */
export const hasFiles = (data: DataTransfer | null): boolean =>
  data?.types.includes("Files") === true;

/** Attaches what was dropped. A folder has no bytes of its own. */
export function takeDropped(data: DataTransfer, uploads: Uploads): void {
  const items = [...data.items].filter(({ kind }) => kind === "file");
  const folders = items.filter((item) => item.webkitGetAsEntry()?.isDirectory === true);
  const files = items
    .filter((item) => !folders.includes(item))
    .flatMap((item) => item.getAsFile() ?? []);
  uploads.add(files);
  if (folders.length > 0) uploads.setNote("A folder cannot be attached. Attach its files instead.");
}

/** Attaches what was pasted. False: there are words, which are what is meant. */
export function takePasted(data: DataTransfer | null, uploads: Uploads): boolean {
  const files = [...(data?.files ?? [])];
  if (files.length === 0 || data?.types.includes("text/plain") === true) return false;
  uploads.add(files);
  return true;
}
