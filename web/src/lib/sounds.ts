/**
 * Sounds
 * ======
 * Plays one sound at a time, decoded by the page: the browser's player would need an address
 * without a token, and an exception in the content policy.
 */
import { fileBytes } from "./pictures.ts";

let playing: AbortController | null = null;

/**
 * Plays a kept sound from its beginning, instead of whatever else plays. Resolves when it is over,
 * by itself or by `stop`.
 * @throws Error when its bytes are not to be had, or are no sound this browser knows.
 */
export async function playSound(token: string, id: string, stop: AbortController): Promise<void> {
  playing?.abort();
  playing = stop;
  const { signal } = stop;
  const context = new AudioContext();
  try {
    const data = await (await fileBytes(token, id)).arrayBuffer();
    const buffer = await context.decodeAudioData(data);
    if (signal.aborted) return;
    const source = new AudioBufferSourceNode(context, { buffer });
    source.connect(context.destination);
    source.start();
    await new Promise<void>((over) => {
      source.addEventListener("ended", () => over());
      signal.addEventListener("abort", () => over());
    });
  } finally {
    if (playing === stop) playing = null;
    void context.close();
  }
}
