/**
 * The Stately inspector's wire format
 * ===================================
 * What `@statelyai/inspect` 0.7 sends and receives: one JSON object per frame, `@xstate.actor`,
 * `@xstate.event` or `@xstate.snapshot`, with the machine's definition as a JSON string in each
 * actor frame. The package's own server is not used: it listens on every address of the machine
 * without authentication.
 *
 * XState's session ids are unique only within a thread, so host and epoch are prepended. States and
 * events arrive as JSON and are inserted unchanged.
 */
import type { Millis } from "../../domain/message.ts";
import type { InspectFrame, InspectReport } from "../../domain/ports/index.ts";

/** The version of the package that defines these frames. */
const wireVersion = "0.7.2";

export interface StatelyFrame {
  readonly readers: readonly number[];
  readonly json: string;
}

/**
 * A machine's config for the Stately editor, made once per machine. Functions are left out: the
 * chart refers to them by name.
 */
export function statelyDefinition(config: object): string {
  return JSON.stringify(config, (_, value: unknown) =>
    typeof value === "function" ? undefined : value,
  );
}

/** Converts reports of hosts to frames, numbered in order. */
export function createStatelyWire(
  definition: string,
): (report: InspectReport, now: Millis) => StatelyFrame[] {
  const definitionJson = JSON.stringify(definition);
  let count = 0;
  return ({ host, epoch, frames }, now) =>
    frames.map((frame) => {
      count += 1;
      const session = JSON.stringify(`${host}.${epoch}/${frame.actor}`);
      const json =
        `{"type":"@xstate.${frame.kind}","_version":"${wireVersion}","id":"${count}",` +
        `"createdAt":"${now}","rootId":${session},"sessionId":${session},` +
        `${restOf(frame, definitionJson)}}`;
      return { readers: frame.readers, json };
    });
}

function restOf(frame: InspectFrame, definitionJson: string): string {
  switch (frame.kind) {
    case "actor":
      return (
        `"name":${JSON.stringify(frame.key)},"definition":${definitionJson},` +
        `"snapshot":${frame.snapshotJson}`
      );
    case "event":
      return `"event":${frame.eventJson}`;
    case "snapshot":
      return `"event":${frame.eventJson},"snapshot":${frame.snapshotJson}`;
  }
}
