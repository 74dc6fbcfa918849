/** The schedules of a runtime: its own, those of all nodes, or those of the runtime in front of it. */
import type { RuntimePorts } from "../protocol/runtime.ts";
import type { Schedules } from "../protocol/schedules.ts";
import { borrowed, ownRows } from "../schedules/schedule-rows.ts";
import { createSchedules, type SchedulePorts } from "../schedules/schedules.ts";
import type { Parts } from "./parts.ts";

export function assembleSchedules(
  ports: RuntimePorts,
  parts: () => Parts,
  onRun: SchedulePorts["onRun"],
): Schedules {
  if (ports.schedules !== undefined) return borrowed(ports.schedules);
  const { clock, log, store, wall = () => clock.now(), forward } = ports;
  return createSchedules({
    clock,
    wall,
    log,
    rows: ownRows(store, (writes) => parts().journal.keep(writes)),
    shared: forward?.schedules ?? null,
    config: () => parts().configs.current(),
    check: (spec) => parts().speaker.check(spec.to, spec.agent, "Cannot add the entry"),
    say: (speech) => parts().speaker.say(speech),
    onRun,
  });
}
