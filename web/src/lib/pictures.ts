/**
 * Pictures
 * ========
 * Thumbnails drawn by the page itself: the bytes are fetched with the token, which an address in a
 * page cannot carry, and only what the browser decodes is shown, nothing else of the file.
 * Thumbnails are kept as long as the page is open.
 */

const copiesMax = 200;
const copies = new Map<string, Promise<string>>();

/** The daemon has the file on another node, and cannot read it now. */
export class NotNow extends Error {}

/**
 * The bytes of a file that was given to the daemon.
 * @throws NotNow, Error when they are not to be had.
 */
export async function fileBytes(token: string, id: string): Promise<Blob> {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`/api/webchat/uploads/${encodeURIComponent(id)}`, { headers });
  if (answer.status === 503) throw new NotNow();
  if (!answer.ok) throw new Error(`the daemon answered ${answer.status}`);
  return answer.blob();
}

const away = new Set<() => void>();

/** Calls back once the daemon that could not be reached is there again; the answer takes it back. */
export function whenBack(look: () => void): () => void {
  away.add(look);
  return () => void away.delete(look);
}

/** The daemon is there again. */
export function isBack(): void {
  const all = [...away];
  away.clear();
  for (const look of all) look();
}

/** A copy of a kept picture with at most so many points a side, as an address for an image. */
export function pictureOf(token: string, id: string, side: number): Promise<string> {
  const key = `${id} ${side}`;
  const known = copies.get(key);
  if (known !== undefined) return known;
  const copy = fileBytes(token, id).then((blob) => copyOf(blob, side));
  copies.set(key, copy);
  // What failed may be there later.
  copy.catch(() => copies.delete(key));
  const [oldest] = copies.keys();
  if (copies.size > copiesMax && oldest !== undefined) copies.delete(oldest);
  return copy;
}

/** The same of bytes that are here. @throws Error when they are no picture. */
export async function copyOf(blob: Blob, side: number): Promise<string> {
  const picture = await createImageBitmap(blob);
  try {
    const scale = Math.min(1, side / Math.max(picture.width, picture.height));
    const canvas = document.createElement("canvas");
    canvas.width = Math.max(1, Math.round(picture.width * scale));
    canvas.height = Math.max(1, Math.round(picture.height * scale));
    const context = canvas.getContext("2d");
    if (context === null) throw new Error("nothing to draw on");
    context.imageSmoothingQuality = "high";
    context.drawImage(picture, 0, 0, canvas.width, canvas.height);
    return canvas.toDataURL("image/webp", 0.85);
  } finally {
    picture.close();
  }
}

/** Saves a file of the daemon where the browser saves files. @throws as `fileBytes`. */
export async function download(token: string, id: string, name: string): Promise<void> {
  const address = URL.createObjectURL(await fileBytes(token, id));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // The browser has begun by then.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
