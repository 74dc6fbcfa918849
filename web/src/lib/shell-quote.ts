/** Ids in commands that somebody may paste into a shell. */
import { shownText } from "./sanitize.ts";

/** An id as one word of a shell: whoever made it, pasting the command runs nothing else. */
export const shellWord = (id: string): string =>
  /^[\w:.@-]+$/.test(id) ? id : `'${shownText(id).replaceAll("'", "'\\''")}'`;
