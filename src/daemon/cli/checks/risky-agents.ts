/**
 * Dangerous settings of what runs: agents' programs and modules, converters of media, and the
 * models they talk to. A room's words reach all of them, so each is to be thought of as run by a
 * stranger.
 */
import type { EarshotConfig } from "../../../domain/config/index.ts";
import { type Danger, inTheClear } from "./risky-settings.ts";

type Dangers = Iterable<Danger>;
type Fields = Readonly<Record<string, unknown>>;

const secretName = /TOKEN|SECRET|PASSW|KEY|CREDENTIAL|COOKIE|SESSION|AUTH/iu;
/** What decides which code runs, or is a door to other machines. */
const powerfulName =
  /^(LD_|DYLD_|NODE_OPTIONS$|PYTHON|PERL5|BASH_ENV$|SSH_|GPG_|DOCKER_|KUBE|AWS_|GOOGLE_)/u;
const envCountShown = 10;

const texts = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : [];

/** Drivers, each once, by where they are written. */
function driversOf({ agents }: EarshotConfig): readonly (readonly [at: string, driver: Fields])[] {
  const own = agents.list.flatMap(({ driver }, index) =>
    driver === undefined ? [] : [[`agents.list[${index}].driver`, driver as Fields] as const],
  );
  const shared = agents.list.some(({ driver }) => driver === undefined);
  const defaults = ["agents.defaults.driver", agents.defaults.driver as Fields] as const;
  return shared ? [defaults, ...own] : own;
}

export function* agentDangers(config: EarshotConfig): Dangers {
  for (const [at, driver] of driversOf(config)) {
    yield* environmentDangers(`${at}.env`, driver);
    if (driver.kind === "module")
      yield {
        at: `${at}.module`,
        says: "this code has all rights of the daemon, and rooms talk to it: know what it does",
      };
    if (driver.permissions === "allow")
      yield {
        at: `${at}.permissions`,
        says:
          "the program may do whatever it asks for, and any room may make it ask: " +
          'say "deny" or "allowlist"',
      };
    const risky = texts(driver.allowKinds).filter((kind) =>
      ["edit", "delete", "move", "execute", "fetch"].includes(kind),
    );
    if (driver.permissions === "allowlist" && risky.length > 0)
      yield {
        at: `${at}.allowKinds`,
        says: `any room may make the program ${risky.join(", ")}: leave those out`,
      };
    for (const [name, model] of modelsOf(driver))
      if (typeof model === "string" && inTheClear(model))
        yield {
          at: `${at}.${name}`,
          says: "the key and every conversation travel there for anyone to read: use https",
        };
  }
}

const modelsOf = (driver: Fields): readonly (readonly [string, unknown])[] => [
  ["baseUrl", driver.baseUrl],
  ["url", driver.url],
  ...(Array.isArray(driver.fallbacks)
    ? driver.fallbacks.map(
        (one, n) => [`fallbacks[${n}].baseUrl`, (one as Fields)?.baseUrl] as const,
      )
    : []),
];

/** Variables that a program may see of ours. */
function* environmentDangers(at: string, { env }: Fields): Dangers {
  const names = texts(env);
  for (const name of names)
    if (secretName.test(name))
      yield {
        at,
        says: `the program sees ${name}, and may be talked into telling: give it one of its own`,
      };
    else if (powerfulName.test(name))
      yield { at, says: `${name} decides what the program can do or reach: leave it out` };
  if (names.length > envCountShown)
    yield { at, says: `the program sees ${names.length} variables of yours: name those it needs` };
}

/** Converters, at the top of the file and wherever it says otherwise. */
export function* programDangers(config: EarshotConfig): Dangers {
  for (const [at, media] of mediaOf(config)) {
    for (const [name, converter] of Object.entries(media)) {
      if (typeof converter !== "object" || converter === null) continue;
      const fields = converter as Fields;
      yield* environmentDangers(`${at}.${name}.env`, fields);
      yield* environmentDangers(`${at}.${name}.frame.env`, (fields.frame ?? {}) as Fields);
      if (typeof fields.baseUrl === "string" && inTheClear(fields.baseUrl))
        yield {
          at: `${at}.${name}.baseUrl`,
          says: "the key and people's files travel there for anyone to read: use https",
        };
    }
    if (typeof media.links === "object" && media.links !== null)
      yield {
        at: `${at}.links`,
        says:
          "this machine fetches pages that a room names, so their owners learn its address: " +
          "leave it out where that matters",
      };
  }
}

function mediaOf(config: EarshotConfig): readonly (readonly [at: string, media: Fields])[] {
  const places: (readonly [string, unknown])[] = [
    ["media", config.media],
    ...config.agents.list.map((agent, n) => [`agents.list[${n}].media`, agent.media] as const),
    ...Object.entries(config.conversations).map(
      ([key, own]) => [`conversations[${JSON.stringify(key)}].media`, own.media] as const,
    ),
    ...Object.entries(config.channels).flatMap(([id, channel]) => [
      [`channels.${id}.media`, channel.media] as const,
      ...Object.entries(channel.accounts ?? {}).map(
        ([account, own]) => [`channels.${id}.accounts.${account}.media`, own.media] as const,
      ),
    ]),
  ];
  return places.flatMap(([at, media]) =>
    media === undefined || media === null ? [] : [[at, media as Fields] as const],
  );
}
