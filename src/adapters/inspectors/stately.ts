/**
 * The Stately inspector's wire format
 * ===================================
 * What `@statelyai/inspect` 0.7 sends and receives: one JSON object per frame, `@xstate.actor`,
 * `@xstate.event` or `@xstate.snapshot`, with the machine's definition as a JSON string in each
 * actor frame. The package's own server is not used: it listens on every address of the machine
 * without authentication.
 *
 * XState's session ids are unique only within a thread, so host and epoch are prepended; other
 * machines than a conversation have their kind before their id. States and events arrive as JSON and
 * are inserted unchanged.
 */
import type { Millis } from "../../domain/message.ts";
import type {
  InspectFrame,
  InspectReport,
  SideMachine,
  SideReport,
} from "../../domain/ports/index.ts";

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

/** Converts reports to frames, numbered in order. */
export function createStatelyWire(
  definitions: Readonly<Record<SideMachine | "conversation", string>>,
): (report: InspectReport | SideReport, now: Millis) => StatelyFrame[] {
  let count = 0;
  return (report, now) => {
    const isSide = "machine" in report;
    const definitionJson = JSON.stringify(definitions[isSide ? report.machine : "conversation"]);
    const lead = isSide ? report.machine : `${report.host}.${report.epoch}`;
    return report.frames.map((frame) => {
      count += 1;
      const session = JSON.stringify(`${lead}/${frame.actor}`);
      const json =
        `{"type":"@xstate.${frame.kind}","_version":"${wireVersion}","id":"${count}",` +
        `"createdAt":"${now}","rootId":${session},"sessionId":${session},` +
        `${restOf(frame, definitionJson)}}`;
      return { readers: frame.readers, json };
    });
  };
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
