/** Rooms: every conversation the agent can hear, and what it decided there. */
import type { PageProps } from "./page.ts";

export function RoomsPage(_props: PageProps) {
  return (
    <main id="main" class="page" tabIndex={-1}>
      <div class="head">
        <h1>Rooms</h1>
      </div>
    </main>
  );
}
