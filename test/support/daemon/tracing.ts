/**
 * A small OpenTelemetry SDK: a tracer provider that is written against the API and nothing else,
 * and keeps its spans in memory. The API it is written against is a copy from another folder, and
 * may be of another version, as it is where a user installs an SDK beside earshot.
 */
import { randomBytes } from "node:crypto";
import { cp, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type * as Api from "@opentelemetry/api";

export interface SeenSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | null;
  readonly kind: number;
  readonly links: readonly string[];
  readonly start: number;
  end: number | null;
  status: string | null;
  readonly attributes: Record<string, unknown>;
}

const hex = (bytes: number) => randomBytes(bytes).toString("hex");

/** A copy of the API in `folder` that says it is of `version`; the module to import. */
export async function copyOfApi(folder: string, version: string): Promise<string> {
  const from = resolve(import.meta.dirname, "../../../node_modules/@opentelemetry/api");
  const to = join(folder, "node_modules", "@opentelemetry", "api");
  await cp(from, to, { recursive: true });
  for (const module of ["version.mjs", "internal/global-utils.mjs"]) {
    const path = join(to, "dist", module);
    const text = await readFile(path, "utf8");
    await writeFile(path, text.replaceAll(/"\d+\.\d+\.\d+"/g, `"${version}"`));
  }
  return pathToFileURL(join(to, "dist", "index.mjs")).href;
}

/** Registers the provider with its API, for the whole process. `onEnd` gets each span at its end. */
export function registerTracing(
  api: Pick<typeof Api, "trace">,
  onEnd: (span: SeenSpan) => void = () => undefined,
): readonly SeenSpan[] {
  const spans: SeenSpan[] = [];
  const { trace } = api;

  function startSpan(name: string, options: Api.SpanOptions = {}, context?: Api.Context): Api.Span {
    const parent = context === undefined ? undefined : trace.getSpanContext(context);
    const seen: SeenSpan = {
      name,
      spanId: hex(8),
      traceId: parent?.traceId ?? hex(16),
      parentId: parent?.spanId ?? null,
      kind: options.kind ?? 0,
      links: (options.links ?? []).map((link) => link.context.traceId),
      start: Number(options.startTime),
      end: null,
      status: null,
      attributes: { ...options.attributes },
    };
    spans.push(seen);
    const span: Api.Span = {
      spanContext: () => ({ traceId: seen.traceId, spanId: seen.spanId, traceFlags: 1 }),
      isRecording: () => seen.end === null,
      setAttribute: (key, value) => span.setAttributes({ [key]: value }),
      setAttributes: (more) => {
        if (seen.end === null) Object.assign(seen.attributes, more);
        return span;
      },
      setStatus: ({ message }) => {
        if (seen.end === null) seen.status = message ?? "";
        return span;
      },
      addEvent: () => span,
      addLink: () => span,
      addLinks: () => span,
      updateName: () => span,
      recordException: () => undefined,
      end(time) {
        if (seen.end !== null) throw new Error(`ended twice: ${seen.name}`);
        seen.end = Number(time);
        onEnd(seen);
      },
    };
    return span;
  }

  const startActiveSpan = (() => {
    throw new Error("nothing is ever active here");
  }) as Api.Tracer["startActiveSpan"];
  const tracer = { startSpan, startActiveSpan };
  if (!trace.setGlobalTracerProvider({ getTracer: () => tracer }))
    throw new Error("the API did not take the provider");
  return spans;
}
