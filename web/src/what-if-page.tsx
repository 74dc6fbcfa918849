/** What-if: the same messages under other rules. */
import type { PageProps } from "./page.ts";

export function WhatIfPage(_props: PageProps) {
  return (
    <main id="main" class="page" tabIndex={-1}>
      <div class="head">
        <h1>What-if</h1>
      </div>
    </main>
  );
}
