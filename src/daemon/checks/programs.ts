/**
 * Checks of agents' programs and modules, media converters, and the models they call. Text from
 * rooms reaches all of them, so each is judged as if a stranger could run it.
 */
import { agentWarnings } from "../../adapters/agents/check.ts";
import { mediaWarnings } from "../../adapters/media/check.ts";
import { allRoomLevels, type EarshotConfig, pathText } from "../../domain/config/index.ts";
import type { ConfigCheck, Fields, Findings } from "./check.ts";
import { inTheClear } from "./plain-http.ts";

const secretName = /TOKEN|SECRET|PASSW|KEY|CREDENTIAL|COOKIE|SESSION|AUTH/iu;
/** Variables that decide which code runs, or give access to other machines. */
const powerfulName =
  /^(LD_|DYLD_|NODE_OPTIONS$|PYTHON|PERL5|BASH_ENV$|SSH_|GPG_|DOCKER_|KUBE|AWS_|GOOGLE_)/u;
const envCountMax = 10;
/** Actions of an ACP agent that change something or reach other machines. */
const riskyKinds: ReadonlySet<string> = new Set(["edit", "delete", "move", "execute", "fetch"]);

const stringsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];

type Placed = readonly (readonly [at: string, fields: Fields])[];

/** Each driver once, with its place in the config. */
function driversOf({ agents }: EarshotConfig): Placed {
  const own = agents.list.flatMap(({ driver }, index) =>
    driver === undefined ? [] : [[`agents.list[${index}].driver`, driver as Fields] as const],
  );
  const shared = agents.list.some(({ driver }) => driver === undefined);
  const defaults = ["agents.defaults.driver", agents.defaults.driver as Fields] as const;
  return shared ? [defaults, ...own] : own;
}

/** Media converters at the top level and in every override. */
function convertersOf(config: EarshotConfig): Placed {
  return mediaOf(config).flatMap(([at, media]) =>
    Object.entries(media).flatMap(([name, converter]) =>
      typeof converter === "object" && converter !== null
        ? [[`${at}.${name}`, converter as Fields] as const]
        : [],
    ),
  );
}

function mediaOf(config: EarshotConfig): Placed {
  const places: (readonly [string, unknown])[] = [
    ["media", config.media],
    ...config.agents.list.map((agent, n) => [`agents.list[${n}].media`, agent.media] as const),
    ...allRoomLevels(config).map(
      ({ path, level }) => [pathText([...path, "media"]), level.media] as const,
    ),
  ];
  return places.flatMap(([at, media]) =>
    media === undefined || media === null ? [] : [[at, media as Fields] as const],
  );
}

/** Variables of the daemon that a program may see. */
function* exposedVariables(at: string, { env }: Fields): Findings {
  const names = stringsOf(env);
  for (const name of names)
    if (secretName.test(name))
      yield {
        at,
        wrong: `the program sees ${name}, and a message may trick it into revealing it`,
        fix: "give it its own secret",
      };
    else if (powerfulName.test(name))
      yield { at, wrong: `${name} controls what the program can do or reach`, fix: "leave it out" };
  if (names.length > envCountMax)
    yield {
      at,
      wrong: `the program sees ${names.length} of your environment variables`,
      fix: "list only those it needs",
    };
}

const modelsOf = (driver: Fields): readonly (readonly [string, unknown])[] => [
  ["baseUrl", driver.baseUrl],
  ["url", driver.url],
  ...(Array.isArray(driver.fallbacks)
    ? driver.fallbacks.map(
        (model, n) => [`fallbacks[${n}].baseUrl`, (model as Fields)?.baseUrl] as const,
      )
    : []),
];

export const programChecks: readonly ConfigCheck[] = [
  {
    id: "agent.cannot-run",
    kind: "missing",
    level: "wrong",
    find: (config, { baseDir }) => agentWarnings(config, baseDir),
  },
  {
    id: "converter.cannot-run",
    kind: "missing",
    level: "warning",
    find: (config) => mediaWarnings(config),
  },
  {
    id: "agent.environment",
    kind: "risk",
    level: "warning",
    *find(config) {
      for (const [at, driver] of driversOf(config)) yield* exposedVariables(`${at}.env`, driver);
    },
  },
  {
    id: "agent.module",
    kind: "risk",
    level: "warning",
    *find(config) {
      for (const [at, { kind }] of driversOf(config))
        if (kind === "module")
          yield {
            at: `${at}.module`,
            wrong: "this code has all rights of the daemon, and text from rooms reaches it",
            fix: "make sure you know what it does",
          };
    },
  },
  {
    id: "agent.permissions",
    kind: "risk",
    level: "warning",
    *find(config) {
      for (const [at, { permissions }] of driversOf(config))
        if (permissions === "allow")
          yield {
            at: `${at}.permissions`,
            wrong: "the program may do whatever it asks for, and any room may make it ask",
            fix: 'set it to "deny" or "allowlist"',
          };
    },
  },
  {
    id: "agent.elevated",
    kind: "risk",
    level: "warning",
    *find({ agents: { defaults, list } }) {
      const places = [["agents.defaults", defaults] as const];
      const own = list.map((agent, index) => [`agents.list[${index}]`, agent] as const);
      for (const [at, { elevatedDefault }] of [...places, ...own])
        if (elevatedDefault === "full")
          yield {
            at: `${at}.elevatedDefault`,
            wrong: "the agent may do whatever it asks for, and any room may make it ask",
            fix: 'set it to "ask" or "off"',
          };
    },
  },
  {
    id: "agent.allowed-kinds",
    kind: "risk",
    level: "warning",
    *find(config) {
      for (const [at, { permissions, allowKinds }] of driversOf(config)) {
        const risky = stringsOf(allowKinds).filter((kind) => riskyKinds.has(kind));
        if (permissions === "allowlist" && risky.length > 0)
          yield {
            at: `${at}.allowKinds`,
            wrong: `any room may make the program ${risky.join(", ")}`,
            fix: "leave those out",
          };
      }
    },
  },
  {
    id: "agent.plain-http",
    kind: "risk",
    level: "warning",
    *find(config) {
      for (const [at, driver] of driversOf(config))
        for (const [name, model] of modelsOf(driver))
          if (typeof model === "string" && inTheClear(model))
            yield {
              at: `${at}.${name}`,
              wrong: "the key and every conversation can be read on the network",
              fix: "use https",
            };
    },
  },
  {
    id: "converter.environment",
    kind: "risk",
    level: "warning",
    *find(config) {
      for (const [at, converter] of convertersOf(config)) {
        yield* exposedVariables(`${at}.env`, converter);
        yield* exposedVariables(`${at}.frame.env`, (converter.frame ?? {}) as Fields);
      }
    },
  },
  {
    id: "converter.plain-http",
    kind: "risk",
    level: "warning",
    *find(config) {
      for (const [at, { baseUrl }] of convertersOf(config))
        if (typeof baseUrl === "string" && inTheClear(baseUrl))
          yield {
            at: `${at}.baseUrl`,
            wrong: "the key and people's files can be read on the network",
            fix: "use https",
          };
    },
  },
  {
    id: "media.links",
    kind: "risk",
    level: "warning",
    *find(config) {
      for (const [at, { links }] of mediaOf(config))
        if (typeof links === "object" && links !== null)
          yield {
            at: `${at}.links`,
            wrong: "this machine fetches pages linked in a room, so their owners learn its address",
            fix: "turn it off where that matters",
          };
    },
  },
];
