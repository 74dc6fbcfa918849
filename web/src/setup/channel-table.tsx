/** What each channel can do, from the channels' own definitions. */
import { useEffect, useState } from "preact/hooks";
import {
  type ChannelAbilities,
  capabilityColumns,
} from "../../../src/domain/config/docs/capability-table.ts";
import { ask } from "../lib/api.ts";

type Row = ChannelAbilities & { readonly id: string; readonly name: string };

export function ChannelTable({ token }: { readonly token: string }) {
  const [rows, setRows] = useState<readonly Row[]>([]);
  useEffect(() => {
    const gone = new AbortController();
    ask("/api/channels", { token, signal: gone.signal }).then(
      (answer) => setRows((answer as { channels: readonly Row[] }).channels),
      () => undefined,
    );
    return () => gone.abort();
  }, [token]);
  return (
    <section class="panel" aria-labelledby="abilities">
      <header>
        <h2 id="abilities">What each channel can do</h2>
        <span class="end">{rows.length}</span>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it */}
      <section class="scroll-x" tabIndex={0} aria-label="Table of capabilities">
        <table class="table">
          <thead>
            <tr>
              <th>Channel</th>
              {capabilityColumns.map(({ title, about }) => (
                <th key={title} title={about}>
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.id}>
                <td class="main">
                  <bdi>{row.name}</bdi>
                </td>
                {capabilityColumns.map(({ title, cell }) => (
                  <td key={title}>{cell(row)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}
