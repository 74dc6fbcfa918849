/**
 * Where an account of a channel keeps what it needs besides its cursor, such as the keys of a device that a
 * platform knows: `channels/<channel>/<account>` in the state directory.
 */
import { join } from "node:path";
import { sha256 } from "../../adapters/system/digest.ts";

export const accountFolder = (stateDir: string, channel: string, account: string): string =>
  join(stateDir, "channels", nameOf(channel), nameOf(account));

/** Ids may have any character; one that means something in a path is not written there. */
const nameOf = (id: string): string => (/^[\w-]{1,64}$/.test(id) ? id : `~${sha256(id)}`);
