/**
 * A stand-in for the Stately inspector's page: the receiver of @statelyai/inspect itself, which says
 * `@statelyai.connected` to the page that opened it and reads what is posted. What it has read stands in the
 * page, for tests to look at. Built and served by inspector.ts.
 */
import { createBrowserReceiver, type StatelyInspectionEvent } from "@statelyai/inspect";

/** Of the browser it is built for. */
const { document } = globalThis as unknown as { document: { body: { textContent: string } } };
const seen: StatelyInspectionEvent[] = [];
createBrowserReceiver().subscribe((event) => {
  seen.push(event);
  document.body.textContent = JSON.stringify(seen);
});
