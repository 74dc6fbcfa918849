/**
 * `workers`, `server`, `store`, `search`, `log`, `engine`: how the daemon runs
 * ============================================================================
 * None of these changes a decision.
 */
import { z } from "zod";
import { count, positiveMs, section } from "../conversation/section.ts";

export const workers = section(
  {
    count: z
      .union([z.literal("auto"), count(0, 64)])
      .describe(
        "Number of worker threads. `auto`: one less than the number of cores, at least 1. 0: no " +
          "threads.",
      ),
    liveConversations: count(1, 1_000_000).describe(
      "How many conversations a worker keeps in memory. Others are loaded from the store when " +
        "needed.",
    ),
    memoryMb: count(64, 65_536).describe(
      "Heap limit of a worker in MiB. A worker above it is replaced.",
    ),
    loopMs: positiveMs.describe(
      "A worker that does not respond for this long is replaced. On Linux, time it spent " +
        "waiting for a CPU does not count.",
    ),
  },
  { count: "auto", liveConversations: 30_000, memoryMb: 512, loopMs: 1_000 },
);

const path = z.string().min(1).max(4_096);
/** Every address is not a proxy. */
const proxyAddress = z
  .union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()])
  .refine((address) => !/\/0+$/u.test(address), "expected a range smaller than every address");

export const server = section(
  {
    host: z.string().min(1).max(255).describe("Address to listen on."),
    port: count(0, 65_535).describe("Port to listen on. 0: any free port."),
    exposed: z
      .boolean()
      .describe("Must be true to listen on anything but this machine. Requires `tls` or `proxy`."),
    publicUrl: z
      .url({ protocol: /^https$/ })
      .refine(
        (url) => /^https:\/\/[^/?#@]+\/?$/u.test(url),
        "expected an https:// URL without a path",
      )
      .nullable()
      .describe("The public URL of the server. Requests for its host name are accepted too."),
    tls: z
      .strictObject({
        cert: path.describe("PEM file of the certificate chain."),
        key: path.describe("PEM file of its key. Only the daemon's user may be able to read it."),
      })
      .nullable()
      .describe("Certificate for HTTPS. Changed files are reloaded."),
    proxy: z
      .strictObject({
        addresses: z
          .array(proxyAddress)
          .min(1)
          .max(100)
          .describe("Addresses or ranges of the proxy, such as 10.0.0.0/24."),
      })
      .nullable()
      .describe("A proxy that terminates TLS. Only its `X-Forwarded-For` is trusted."),
  },
  {
    host: "127.0.0.1",
    port: 4_747,
    exposed: false,
    publicUrl: null,
    tls: null,
    proxy: null,
  },
);

export const store = section(
  {
    driver: z.enum(["sqlite", "memory"]).describe("`memory` loses everything on restart."),
    path: z.string().min(1).max(4_096).describe("Path of the database. `<state>` is filled in."),
  },
  { driver: "sqlite", path: "<state>/earshot.db" },
);

export const search = section(
  {
    enabled: z
      .boolean()
      .describe(
        "Whether messages can be searched. Turning it off deletes the index; turning it on " +
          "rebuilds it.",
      ),
  },
  { enabled: true },
);

export const log = section(
  {
    level: z
      .enum(["trace", "debug", "info", "warn", "error", "fatal"])
      .describe("Messages below this level are not logged."),
    showText: z.boolean().describe("Whether message text may appear in the log."),
  },
  { level: "info", showText: false },
);

const base = z
  .url({ protocol: /^https?$/ })
  .refine((url) => /^https?:\/\/[^/?#]+\/?$/u.test(url), "expected a URL without a path");

export const engine = section(
  {
    kind: z
      .enum(["pool", "restate"])
      .describe(
        "`pool`: worker threads of the daemon. `restate`: any number of daemons share the " +
          "conversations through a Restate server; see docs/scaling.md.",
      ),
    ingress: base.describe("`restate`: where its server takes calls."),
    admin: base.describe("`restate`: where nodes are registered with its server."),
    host: z.string().min(1).max(255).describe("`restate`: address on which it calls this node."),
    port: count(0, 65_535).describe(
      "`restate`: port on which it calls this node. 0: any free port.",
    ),
    nodes: base
      .nullable()
      .describe(
        "`restate`: the address under which its server reaches all nodes, mostly that of a load " +
          "balancer. null: this node is the only one, and is reached at `host` and `port`.",
      ),
    mirror: z
      .boolean()
      .describe(
        "`restate`: this node keeps a copy of all conversations, which its pages, `why`, `record` and " +
          "search read. Without one they show none.",
      ),
    identityKeys: z
      .array(z.string().regex(/^publickeyv1_/u, "expected a key that begins with publickeyv1_"))
      .max(16)
      .describe(
        "`restate`: public keys of the server, as it prints them. With one, this node refuses " +
          "calls of anybody else.",
      ),
  },
  {
    kind: "pool",
    ingress: "http://127.0.0.1:8080",
    admin: "http://127.0.0.1:9070",
    host: "127.0.0.1",
    port: 9_080,
    nodes: null,
    mirror: true,
    identityKeys: [],
  },
);

/**
 * Whether a host name means only this machine. Addresses are parsed strictly: `127.evil.com`,
 * `0x7f.1` and `localhost.` are not loopback.
 */
export function isLoopbackHost(host: string): boolean {
  if (host === "localhost" || host === "::1") return true;
  const parts = host.split(".");
  if (parts.length !== 4 || parts[0] !== "127") return false;
  return parts.every((part) => /^(0|[1-9]\d{0,2})$/u.test(part) && Number(part) <= 255);
}
