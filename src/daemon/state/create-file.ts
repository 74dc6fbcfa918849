/**
 * Creates a file of the state directory, whole or not at all: a process that is killed meanwhile must not
 * leave an empty one, which the next start would refuse.
 */
import { randomBytes } from "node:crypto";
import { link, open, rm } from "node:fs/promises";

/**
 * Creates a file for its owner only, on disk when this resolves. Does nothing when there is one.
 * @throws the system's error when it cannot be written.
 */
export async function createFile(path: string, text: string): Promise<void> {
  const beside = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    const file = await open(beside, "wx", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await link(beside, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
  } finally {
    await rm(beside, { force: true });
  }
}
