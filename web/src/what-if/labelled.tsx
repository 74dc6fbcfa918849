/**
 * How right both configs are
 * ==========================
 * Precision and recall on the messages that somebody labelled by hand, each with the counts behind
 * it.
 */
import type { WhatIfLabelled } from "../../../src/daemon/api-types/what-if.ts";
import { amount } from "../lib/format.ts";

type Side = WhatIfLabelled["before"];

const rows = [
  ["Precision", "share of engaged messages that should have engaged", part("precision", "engaged")],
  ["Recall", "share of messages that should have engaged and did", part("recall", "meant")],
] as const;

function part(share: "precision" | "recall", of: "engaged" | "meant") {
  return (side: Side): string =>
    side[of] === 0
      ? "none"
      : `${(side[share] * 100).toFixed(1)} % (${amount(side.right)} of ${amount(side[of])})`;
}

export function Labelled({ labelled }: { readonly labelled: WhatIfLabelled | null }) {
  if (labelled === null) return null;
  const { messages, undecided, before, after } = labelled;
  return (
    <table class="labelled">
      <caption>
        On {amount(messages)} labelled {messages === 1 ? "message" : "messages"}
        {undecided > 0 && `. ${amount(undecided)} more need the judge`}
      </caption>
      <thead>
        <tr>
          <td />
          <th scope="col">Current</th>
          <th scope="col">New</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, meaning, cell]) => (
          <tr key={name}>
            <th scope="row" title={meaning}>
              {name}
            </th>
            <td class="num">{cell(before)}</td>
            <td class="num">{cell(after)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
