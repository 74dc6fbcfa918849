/**
 * Where the room is shown that an answer is being written. It is shown in one place at a time, and
 * ends at the latest when attention goes back to observing.
 */
import { type Route, sameRoute } from "../../domain/message.ts";
import type { Step } from "./step.ts";

/** Shows typing, unless it is shown somewhere already. */
export function startTyping({ context, effects }: Step, route: Route): void {
  if (context.typing !== null) return;
  context.typing = route;
  effects.push({ type: "typing", on: true, route });
}

export function stopTyping({ context, effects }: Step): void {
  const route = context.typing;
  if (route === null) return;
  context.typing = null;
  effects.push({ type: "typing", on: false, route });
}

/** Keeps typing where a turn runs or somebody still waits, and moves it to where the next one does. */
export function updateTyping(step: Step): void {
  const { inbox, forming, run, typing } = step.context;
  const waiting = [...inbox, ...forming];
  const places = run === null ? waiting : [run.order, ...waiting];
  if (typing !== null && !places.some(({ route }) => sameRoute(route, typing))) stopTyping(step);
  const next = waiting.find(({ instant }) => instant);
  if (next !== undefined) startTyping(step, next.route);
}
