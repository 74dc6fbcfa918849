/**
 * Rooms, generated
 * ================
 * People and bots who write, mention, reply, quote and name each other, edit, are delivered twice,
 * and sometimes write several lines in a row. Waits are chosen at the edges: one before, at and one
 * after every window of the config. Weighted so that within some hundred rooms every rule of the
 * ladder decides; a failing room shrinks to few people, plain texts and short waits.
 */
import fc from "fast-check";
import { defaultAgentId, resolveSettings, scenarioConfig } from "../domain/config/index.ts";
import type { ConversationSettings } from "../domain/settings.ts";
import { homeChannel, homeChat, messageOf, Room, type RoomChat, type Speech, us } from "./room.ts";
import type { RoomLine } from "./room-line.ts";

type Runs = Extract<RoomLine, { agent: unknown }>["agent"]["runs"];

/** What may happen in a room besides messages. */
export type Happening =
  /** Messages are changed or deleted. */
  | "edits"
  /** The channel reads its member list: correct, too small, or incomplete. */
  | "members"
  /** The platform delivers a message twice. */
  | "repeats"
  /** The platform refuses, hangs, or asks to wait. */
  | "platform"
  /** Conversations are passivated, hosts and the process are killed. */
  | "faults";

export interface RoomOptions {
  /**
   * The config for the rooms: what calls the agent, and the times that matter, are read from it.
   * @default {}
   */
  readonly config?: unknown;
  /** @default ann, bo, cy */
  readonly people?: readonly string[];
  /** @default rex */
  readonly bots?: readonly string[];
  /** @default one group, `kitchen` */
  readonly chats?: readonly RoomChat[];
  /** Threads of the groups; an empty list: none. @default one */
  readonly threads?: readonly string[];
  /** @default "irc" */
  readonly channel?: string;
  /** Further texts, each as often as one of the generated texts: `/stop`, for example. */
  readonly texts?: readonly string[];
  /** @default edits and members */
  readonly happenings?: readonly Happening[];
  /** What agents do in their runs, in any order; an empty list: they answer `ok`. @default [] */
  readonly agents?: readonly Runs[number][];
  /** Further waits between lines, ms, besides the edges of the config. */
  readonly waits?: readonly number[];
  /** Happenings in a room; some are several lines. @default 20 */
  readonly sizeMax?: number;
}

/** Shrinks to the first choice. */
const choose = <Value>(
  ...choices: readonly { readonly weight: number; readonly arbitrary: fc.Arbitrary<Value> }[]
): fc.Arbitrary<Value> => fc.oneof({ withCrossShrink: true }, ...choices);

/** Runs of every kind: immediate, slow, in parts, silent, failing, retried. */
export const agentRuns: Runs = [
  { steps: [{ text: "Fine." }] },
  { steps: [{ waitMs: 3_000 }, { text: "Later." }] },
  { steps: [{ text: "One." }, { messageEnd: true }, { waitMs: 700 }, { text: "Two." }] },
  { steps: [{ text: "NO_REPLY" }] },
  { steps: [{ tool: "channel_disengage" }, { text: "Backing off." }] },
  { steps: [{ tool: "skip_response" }, { text: "unseen" }] },
  { steps: [{ error: "boom" }] },
];

type Made = Required<Omit<RoomOptions, "config">> & { readonly settings: ConversationSettings };

function madeOf({ config = {}, ...options }: RoomOptions): Made {
  const { chats = [homeChat], channel = homeChannel } = options;
  const parsed = scenarioConfig({}, config);
  const agentId = defaultAgentId(parsed);
  const chat = chats[0] ?? homeChat;
  const chatKind = chat.kind ?? "group";
  const key = `agent:${agentId}:${channel}:${chatKind}:${chat.id}`;
  const scope = { agentId, key, channel, account: "default", chatKind };
  return {
    people: ["ann", "bo", "cy"],
    bots: ["rex"],
    chats,
    channel,
    threads: ["t1"],
    texts: [],
    waits: [],
    agents: [],
    sizeMax: 20,
    happenings: ["edits", "members"],
    ...options,
    settings: resolveSettings(parsed, scope, 0),
  };
}

/** Waits that matter: nothing, a little, and around the end of every window. */
function waitsOf({ settings, waits }: Made): fc.Arbitrary<number> {
  const { debounce, queue, engagement, loopGuard, context } = settings;
  const windows = [
    ...[debounce.idleMs, debounce.maxMs, queue.debounceMs, engagement.stickiness.windowMs],
    ...[loopGuard.windowMs, engagement.freshMembershipMs ?? 60_000, context.maxAgeMs],
  ].filter((ms) => ms > 0);
  const edges = [...new Set(windows.flatMap((ms) => [ms - 1, ms, ms + 1]))];
  const short = [0, 1, 100, debounce.idleMs, debounce.idleMs + 100, 2_000];
  return choose(
    { weight: 3, arbitrary: fc.constantFrom(...new Set(short)) },
    { weight: 2, arbitrary: fc.constantFrom(...edges.sort((a, b) => a - b), ...waits) },
  );
}

/** Texts: small talk first, because failures shrink towards it. */
function textsOf({ settings, bots, texts }: Made): fc.Arbitrary<string> {
  const { aliases } = settings.engagement;
  const name = fc.constantFrom(...aliases);
  const calls = fc
    .tuple(
      name,
      fc.constantFrom<(name: string) => string>(
        (name) => `${name}, look`,
        (name) => `what does ${name.toUpperCase()} think?`,
        (name) => `x${name.toLowerCase()}x`,
        (name) => `> ${name} said so\nsure`,
        (name) => `see https://example.org/${name}`,
      ),
    )
    .map(([name, say]) => say(name));
  const small = fc.constantFrom("hello", "ok", "what about lunch?", "🙂", ...texts);
  const choices = [{ weight: 6, arbitrary: small }];
  if (aliases.length > 0) choices.push({ weight: 2, arbitrary: calls });
  if (bots.length > 0)
    choices.push({ weight: 1, arbitrary: fc.constantFrom(...bots).map((bot) => `${bot} did it`) });
  return choose(...choices);
}

type Aim = Pick<Speech, "mentions" | "mentionsEveryone" | "repliesTo">;

/** Who a line is for: mostly the agent. */
function aimsOf({ people, bots }: Made): fc.Arbitrary<Aim> {
  const others = fc.constantFrom(...people, ...bots);
  /** Another author that a line for the agent also calls. */
  const alsoCalled = choose(
    { weight: 3, arbitrary: fc.constant<string | null>(null) },
    { weight: 1, arbitrary: others },
  );
  return choose(
    { weight: 7, arbitrary: fc.constant<Aim>({}) },
    { weight: 4, arbitrary: alsoCalled.map((id): Aim => ({ mentions: id ? [us, id] : [us] })) },
    { weight: 2, arbitrary: others.map((id): Aim => ({ mentions: [id] })) },
    { weight: 1, arbitrary: fc.constant<Aim>({ repliesTo: us }) },
    { weight: 1, arbitrary: others.map((id): Aim => ({ repliesTo: id })) },
    { weight: 1, arbitrary: fc.constant<Aim>({ mentionsEveryone: true }) },
  );
}

type AimedSpeech = Omit<Speech, "mentions" | "repliesTo"> & Aim;

function speechOf(made: Made): fc.Arbitrary<AimedSpeech> {
  const { people, bots, chats, threads, channel } = made;
  const author = choose(
    ...[people, bots].flatMap((speakers) => {
      const isBot = speakers === bots;
      const arbitrary = () => fc.constantFrom(...speakers).map((by) => ({ by, isBot }));
      return speakers.length === 0 ? [] : [{ weight: isBot ? 1 : 3, arbitrary: arbitrary() }];
    }),
  );
  const where = choose(
    { weight: 5, arbitrary: fc.constant<string | null>(null) },
    ...(threads.length === 0 ? [] : [{ weight: 1, arbitrary: fc.constantFrom(...threads) }]),
  );
  return fc
    .tuple(author, textsOf(made), aimsOf(made), fc.constantFrom(...chats), where)
    .map(([speaker, text, aim, chat, thread]) => ({
      ...speaker,
      text,
      chat,
      thread,
      channel,
      ...aim,
    }));
}

/**
 * How often a message is repeated with the same wait: mostly once, up to eight times. Bots repeat
 * more often, otherwise their loop guard would rarely be reached.
 */
const timesOf = (again: number) =>
  choose(
    { weight: 12 - again, arbitrary: fc.constant(1) },
    { weight: again, arbitrary: fc.integer({ min: 2, max: 8 }) },
  );
const times = fc.record({ person: timesOf(1), bot: timesOf(5) });

/** Adds the lines of one happening after the lines so far. */
type Step = (soFar: Building) => void;

/** A room under construction. */
interface Building {
  t: number;
  readonly lines: RoomLine[];
  readonly messages: Extract<RoomLine, { in: unknown }>["in"][];
}

function happeningsOf(made: Made): fc.Arbitrary<Step> {
  const { happenings, agents, channel } = made;
  const wait = waitsOf(made);
  const says = fc.tuple(speechOf(made), wait, times).map(
    ([speech, waitMs, { person, bot }]): Step =>
      (soFar) => {
        for (let count = speech.isBot ? bot : person; count > 0; count -= 1) {
          soFar.t += waitMs;
          const message = messageOf(`m${soFar.messages.length + 1}`, speech);
          soFar.messages.push(message);
          soFar.lines.push({ t: soFar.t, in: message });
        }
      },
  );
  const choices = [{ weight: 12, arbitrary: says }];
  const also = (weight: number, arbitrary: fc.Arbitrary<(soFar: Building) => Untimed | null>) =>
    choices.push({
      weight,
      arbitrary: arbitrary.map((make) => (soFar) => {
        const line = make(soFar);
        if (line !== null) soFar.lines.push({ t: soFar.t, ...line } as RoomLine);
      }),
    });
  const earlier = fc.nat(1_000);
  const nth = ({ messages }: Building, n: number) =>
    messages[messages.length - 1 - (n % messages.length)];
  if (happenings.includes("edits")) {
    also(
      1,
      earlier.map((n) => (soFar) => editOf(nth(soFar, n), made)),
    );
    also(
      1,
      earlier.map((n) => (soFar) => deletionOf(nth(soFar, n))),
    );
  }
  if (happenings.includes("repeats"))
    also(
      1,
      earlier.map((n) => (soFar) => repeatOf(nth(soFar, n))),
    );
  if (happenings.includes("members")) also(1, membersOf(made));
  if (agents.length > 0)
    also(
      2,
      fc.constantFrom(...agents).map((run) => () => ({ agent: { runs: [run] } })),
    );
  if (happenings.includes("platform"))
    also(
      1,
      fc
        .constantFrom("fail" as const, "429" as const, "hang" as const)
        .map((send) => () => ({ platform: { channel, send, retryAfterMs: 1_500 } })),
    );
  if (happenings.includes("faults"))
    also(
      1,
      fc
        .constantFrom<Untimed>({ passivate: true }, { crash: "host" }, { crash: "process" })
        .map((line) => () => line),
    );
  return choose(...choices);
}

type Untimed = RoomLine extends infer Line
  ? Line extends unknown
    ? Omit<Line, "t">
    : never
  : never;
type Message = Building["messages"][number] | undefined;

const placeOf = ({ channel, chat, thread }: NonNullable<Message>) =>
  thread ? { channel, chat, thread } : { channel, chat };
const editOf = (message: Message, { settings }: Made): Untimed | null =>
  message === undefined
    ? null
    : {
        edit: {
          ...placeOf(message),
          id: message.id,
          text: `${settings.engagement.aliases[0] ?? "well"}, I mean`,
        },
      };
const deletionOf = (message: Message): Untimed | null =>
  message === undefined ? null : { delete: { ...placeOf(message), id: message.id } };
const repeatOf = (message: Message): Untimed | null =>
  message === undefined ? null : { in: message };

const membersOf = ({ chats, channel, bots }: Made): fc.Arbitrary<() => Untimed> =>
  fc
    .record({
      chat: fc.constantFrom(...chats),
      humans: fc.constantFrom(1, 2, 9),
      truncated: fc.boolean(),
    })
    .map(({ chat, humans, truncated }) => () => ({
      membership: {
        channel,
        chat: { id: chat.id, kind: chat.kind ?? "group" },
        humans,
        bots: bots.length,
        truncated,
      },
    }));

/**
 * Rooms for a config.
 * @throws EarshotError EAR_CONFIG_* when the config is invalid.
 * @example ```ts test.prop([rooms({ config })])("a mention is always answered", async (room) => {
 * const run = await simulateRoom(config, room);
 * … }); ```
 */
export function rooms(options: RoomOptions = {}): fc.Arbitrary<Room> {
  const made = madeOf(options);
  return fc.array(happeningsOf(made), { maxLength: made.sizeMax, size: "max" }).map((steps) => {
    const soFar: Building = { t: 0, lines: [], messages: [] };
    for (const step of steps) step(soFar);
    return new Room(soFar.lines);
  });
}
