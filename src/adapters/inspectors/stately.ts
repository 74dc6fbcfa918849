/**
 * The Stately inspector's wire form
 * =================================
 * What `@statelyai/inspect` 0.7 sends and receives: one JSON object a frame, `@xstate.actor`,
 * `@xstate.event` or `@xstate.snapshot`, the machine's definition as a string of JSON in each actor's
 * frame. The package's own server is not used: it listens on every address of the machine and asks
 * nobody who he is.
 *
 * Session ids of XState count within a thread, so host and incarnation go before them. States and
 * events come as JSON from where they happened and are put in as they are.
 */
import type { Millis } from "../../domain/message.ts";
import type { InspectFrame, InspectReport } from "../../domain/ports/index.ts";

/** The version of the package whose frames these are. */
const wireVersion = "0.7.2";

/** A frame on its way to readers. */
export interface StatelyFrame {
  readonly readers: readonly number[];
  readonly json: string;
}

/**
 * A machine's config as the Stately editor reads it, made once a machine. Functions have no place in
 * it: what a machine does stands there by name.
 */
export function statelyDefinition(config: object): string {
  return JSON.stringify(config, (_, value: unknown) =>
    typeof value === "function" ? undefined : value,
  );
}

/** Makes frames of what hosts report; frames are numbered in the order they are made. */
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
