/**
 * Finding the tracer
 * ==================
 * Traces go to the OpenTelemetry SDK that the user registered before the daemon started
 * (docs/operate/observe.md). Without one, nothing of OpenTelemetry is loaded.
 *
 * The SDK brings a copy of `@opentelemetry/api` of its own, which leaves what is registered under a
 * well-known symbol of the process. It is read from there and not through our copy of the API,
 * because a copy of a later minor version refuses what an earlier one has registered, although
 * tracers of all versions 1.x have the same form.
 */
import type { Tracer, TracerProvider } from "@opentelemetry/api";

const registry = Symbol.for("opentelemetry.js.api.1");

/** A tracer of the registered SDK, or null. */
export function findTracer(version: string): Tracer | null {
  const global = globalThis as { readonly [registry]?: { readonly trace?: TracerProvider } };
  return global[registry]?.trace?.getTracer("earshot", version) ?? null;
}
