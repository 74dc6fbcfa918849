/**
 * Calls to the daemon
 * ===================
 * JSON over HTTP with the token of the page. An error has the daemon's message, which says what to
 * do; a network failure has its own.
 */

/** The daemon said no, or could not be asked. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  /** HTTP status, 0 if there was no answer. */
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

interface Asking {
  readonly token: string;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/** @throws ApiError, or the AbortError of `signal`. */
export async function ask(path: string, asking: Asking): Promise<unknown> {
  const response = await send(path, asking);
  const answer: unknown = await response.json().catch((error: unknown) => {
    if (asking.signal?.aborted) throw error;
    return null;
  });
  if (response.ok) return answer;
  throw refusalOf(response, answer);
}

/** As `ask`, for JSON Lines: `onLine` has each as it comes. */
export async function askLines(
  path: string,
  asking: Asking,
  onLine: (line: unknown) => void,
): Promise<void> {
  const response = await send(path, asking);
  if (!response.ok || response.body === null)
    throw refusalOf(response, await response.json().catch(() => null));
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = `${rest}${value}`.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) onLine(JSON.parse(line));
  }
}

async function send(path: string, { token, body, signal }: Asking): Promise<Response> {
  const headers: Record<string, string> = { authorization: `Bearer ${token}` };
  if (body !== undefined) headers["content-type"] = "application/json";
  try {
    return await fetch(path, {
      method: body === undefined ? "GET" : "POST",
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, "earshot is not responding. This page retries until it is back.");
  }
}

const refusalOf = ({ status }: Response, answer: unknown): ApiError =>
  new ApiError(status, messageOf(answer) ?? `earshot responded with ${status}.`);

function messageOf(answer: unknown): string | null {
  if (typeof answer !== "object" || answer === null || !("error" in answer)) return null;
  const { error } = answer;
  if (typeof error !== "object" || error === null || !("message" in error)) return null;
  return typeof error.message === "string" ? error.message : null;
}

const firstWaitMs = 1_000;
const lastWaitMs = 15_000;

/**
 * Asks again, ever more seldom, while earshot does not answer or does not know yet what is asked for
 * (404: a line may be shown before it can be explained). `onError` has each failure. Resolves to null
 * when it is refused or `signal` ends it.
 */
export async function askAgain(
  path: string,
  asking: Asking & { readonly signal: AbortSignal },
  onError: (message: string) => void,
): Promise<{ readonly answer: unknown } | null> {
  for (let wait = firstWaitMs; ; wait = Math.min(2 * wait, lastWaitMs)) {
    try {
      return { answer: await ask(path, asking) };
    } catch (error) {
      if (asking.signal.aborted) return null;
      onError(error instanceof ApiError ? error.message : "Cannot reach earshot.");
      const status = error instanceof ApiError ? error.status : 0;
      if (status !== 0 && status !== 404 && status < 500) return null;
    }
    await new Promise((done) => setTimeout(done, wait));
    if (asking.signal.aborted) return null;
  }
}

/**
 * Asks so that only the newest question counts: a new one aborts the one before, and an answer that
 * was overtaken is never delivered.
 */
export function newestOnly<Question, Answer>(
  asking: (question: Question, signal: AbortSignal) => Promise<Answer>,
) {
  let running: AbortController | null = null;
  return {
    /** Resolves to null if overtaken or cancelled. */
    async ask(question: Question): Promise<Answer | null> {
      running?.abort();
      const mine = new AbortController();
      running = mine;
      try {
        const answer = await asking(question, mine.signal);
        return running === mine ? answer : null;
      } catch (error) {
        if (running !== mine) return null;
        throw error;
      }
    },
    cancel() {
      running?.abort();
      running = null;
    },
  };
}
