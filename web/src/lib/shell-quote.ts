/** Ids in commands that a person may paste into a shell. */
import { shownText } from "./sanitize.ts";

/** An id as one word of a shell, so that pasting the command runs nothing else. */
export const shellWord = (id: string): string =>
  /^[\w:.@-]+$/.test(id) ? id : `'${shownText(id).replaceAll("'", "'\\''")}'`;
