/** Health: what needs a person, then how everything is. */
import type { PageProps } from "./page.ts";

export function HealthPage(_props: PageProps) {
  return (
    <main id="main" class="page" tabIndex={-1}>
      <div class="head">
        <h1>Health</h1>
      </div>
    </main>
  );
}
