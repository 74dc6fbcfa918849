/** Names of channels for people ("Webhook"), fetched from the daemon once a page. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { ask } from "./api.ts";

/** The name of a channel; its id until the daemon has answered. */
export function useChannelNames(token: string): (channel: string) => string {
  const [names, setNames] = useState<Readonly<Record<string, string>>>({});
  useEffect(() => {
    const stop = new AbortController();
    ask("/api/channels", { token, signal: stop.signal }).then(
      (answer) => {
        const { channels } = answer as { channels: readonly { id: string; name: string }[] };
        setNames(Object.fromEntries(channels.map(({ id, name }) => [id, name])));
      },
      () => undefined,
    );
    return () => stop.abort();
  }, [token]);
  return useMemo(() => (channel: string) => names[channel] ?? channel, [names]);
}
