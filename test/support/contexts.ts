/**
 * Asynchronous contexts
 * =====================
 * In Node 20 a context, once entered, costs a little for each promise of the process from then on: a twentieth of
 * the processor time of the files that come after. Plugins and the library of linked WhatsApp accounts enter some.
 */
import { AsyncLocalStorage } from "node:async_hooks";

const entered = new Set<AsyncLocalStorage<unknown>>();
const { run, enterWith } = AsyncLocalStorage.prototype;

Object.assign(AsyncLocalStorage.prototype, {
  run(this: AsyncLocalStorage<unknown>, ...given: Parameters<typeof run>) {
    entered.add(this);
    return run.apply(this, given);
  },
  enterWith(this: AsyncLocalStorage<unknown>, store: unknown) {
    entered.add(this);
    enterWith.call(this, store);
  },
});

/** Ends all contexts; code that enters one again has it as before. */
export function endContexts(): void {
  for (const context of entered) context.disable();
  entered.clear();
}
