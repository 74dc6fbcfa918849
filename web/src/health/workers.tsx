/** The worker threads that run conversations. */
import type { HostStatus } from "../../../src/daemon/api-types/runtime.ts";
import { amount } from "../lib/format.ts";

export function Workers({ hosts }: { readonly hosts: readonly HostStatus[] }) {
  const running = hosts.filter(({ state }) => state === "ready").length;
  return (
    <section class="panel" aria-labelledby="workers-title">
      <header>
        <h2 id="workers-title">Workers</h2>
        <span class="end">
          {running === hosts.length
            ? `${running} running`
            : `${running} of ${hosts.length} running`}
        </span>
      </header>
      <div class="scroll-x">
        <table class="table">
          <thead>
            <tr>
              <th>Host</th>
              <th class="num">Conversations</th>
              <th class="num">Mailbox</th>
              <th class="num opt">Turns</th>
              <th class="num">Restarts</th>
            </tr>
          </thead>
          <tbody>
            {hosts.map(({ id, state, live, mailbox, turns, restarts }) => (
              <tr key={id}>
                <td class="main">
                  host {id}
                  {state !== "ready" && <span class="flag warn"> {state}</span>}
                </td>
                <td class="num">{amount(live)}</td>
                <td class="num">{amount(mailbox)}</td>
                <td class="num opt">{amount(turns)}</td>
                <td class="num">{amount(restarts)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
