/**
 * A node that wants the lease of one connection, in a process of its own, to be killed or stopped:
 * `lease-program.ts <port> <ingress> <name> <times as JSON>`. Serves the objects, and prints a line for each
 * thing that happens to its lease. While it holds the lease it sends all the time: a line for each send whose
 * lease was valid. Times are of the machine's monotonic clock, which is the same for all processes, ms. It ends
 * in order with SIGTERM.
 */
import { randomUUID } from "node:crypto";
import { createSystemClock } from "../../../src/adapters/system/clock.ts";
import type { Lease } from "../../../src/domain/ports/index.ts";
import { ingressCaller } from "../../../src/engines/restate/calls/ingress-call.ts";
import {
  createNodeLeases,
  type LeaseTimes,
} from "../../../src/engines/restate/leases/connection-leases.ts";
import { openTestNode } from "./node.ts";

const [, , port = "0", ingress = "", node = "", times = "{}"] = process.argv;
const at = () => Number(process.hrtime.bigint() / 1_000n) / 1_000;
const print = (line: object) => process.stdout.write(`${JSON.stringify({ at: at(), ...line })}\n`);

const served = await openTestNode({ port: Number(port) });
print({ what: "listening" });

const leases = createNodeLeases({
  node,
  boot: randomUUID(),
  call: ingressCaller(ingress),
  clock: createSystemClock(),
  log: (_level, event, fields) => print({ what: "log", event, ...fields }),
  times: JSON.parse(times) as LeaseTimes,
});

let lease: Lease | null = null;
let sending: NodeJS.Timeout | undefined;
function send(): void {
  const from = at();
  if (lease?.isValid()) print({ what: "sent", epoch: lease.holder.epoch, at: from });
}
const wanted = leases.want("telegram", "bot", {
  onHeld(given) {
    lease = given;
    print({ what: "held", epoch: given.holder.epoch });
    send();
    sending = setInterval(send, 20);
  },
  onLost(reason) {
    clearInterval(sending);
    print({ what: "lost", reason });
  },
  onHolder: (holder) => print({ what: "holder", holder: holder?.node ?? null }),
});

process.once("SIGTERM", async () => {
  clearInterval(sending);
  print({ what: "gives back" });
  await wanted.giveBack();
  await leases.close();
  await served.close();
  print({ what: "closed" });
});
