/**
 * The talk of the soak: many rooms, of which only a few are busy at a time, so that conversations are
 * passivated and come back. People ask the agent, talk to each other, edit, delete, react, repeat what a
 * platform repeats, and begin new sessions.
 */

export interface TalkOptions {
  readonly rooms: number;
  /** Rooms that are busy at the same time. */
  readonly busy: number;
  readonly random: () => number;
}

/** One entry of `POST /api/inbound`. */
export type Posted = Readonly<Record<string, unknown>>;

const words = "the build is green again and lunch is at one if nobody minds soup".split(" ");
const peopleInRoom = 5;
/** Messages that may be edited, deleted or repeated. */
const recentMax = 200;

export interface Talk {
  /** The next thing that happens. `isMessage`: it is a new message, which is decided once. */
  next(): { readonly post: Posted; readonly isMessage: boolean };
  /** Other rooms become busy. */
  moveOn(): void;
}

export function createTalk({ rooms, busy, random }: TalkOptions): Talk {
  const recent: Posted[] = [];
  const met = new Set<number>();
  let from = 0;
  let count = 0;
  const below = (limit: number) => Math.floor(random() * limit);

  function message(room: number): Posted {
    count += 1;
    // The first of them is a bot.
    const who = below(peopleInRoom);
    const author = `u${room}-${who}`;
    const at = below(words.length - 4);
    const said = words.slice(at, at + 4 + below(8)).join(" ");
    const kind = random();
    const text = kind < 0.005 ? "/new" : said;
    const post = {
      id: `m${count}`,
      chat: { id: `room${room}`, kind: "group" },
      author: { id: author, name: author, isBot: who === 0 },
      text,
      ...(kind < 0.06 ? { mentions: [{ id: "self", isSelf: true }] } : {}),
      ...(kind > 0.8 ? { mentions: [{ id: "zoe" }] } : {}),
    };
    recent.push(post);
    if (recent.length > recentMax) recent.shift();
    return post;
  }

  /** What is done with an earlier message. */
  function about(earlier: Posted): Posted {
    const { id, text } = earlier;
    const chat = (earlier.chat as { readonly id: string }).id;
    const author = { id: "u0" };
    const kinds: readonly Posted[] = [
      earlier,
      { edit: { chat, id, text: `${text}, I mean` } },
      { delete: { chat, id } },
      { reaction: { chat, id, author, added: ["👍"] } },
    ];
    return kinds[below(kinds.length)] as Posted;
  }

  return {
    next() {
      const room = (from + below(busy)) % rooms;
      if (!met.has(room)) {
        met.add(room);
        const membership = { chat: `room${room}`, humans: peopleInRoom - 1, bots: 2 };
        return { post: { membership }, isMessage: false };
      }
      const earlier = recent[below(recent.length)];
      if (earlier !== undefined && random() < 0.04)
        return { post: about(earlier), isMessage: false };
      return { post: message(room), isMessage: true };
    },
    moveOn() {
      from = (from + Math.ceil(busy / 4)) % rooms;
    },
  };
}
