/**
 * What Matrix events become: events in the form that the specification shows and that Element and other
 * clients send, with everything that happens in real rooms.
 */
import { expect, test } from "vitest";
import { eventOf } from "../../../../src/adapters/channels/matrix/normalise.ts";
import { MatrixRooms } from "../../../../src/adapters/channels/matrix/rooms.ts";
import { eventSchema } from "../../../../src/adapters/channels/matrix/wire.ts";
import { checkedEvent } from "../../../support/every-channel/checked-event.ts";

const room = "!kitchen:hs.test";
const self = "@scout:hs.test";
const ann = "@ann:hs.test";
const bob = "@bob:elsewhere.test";

/** Reads events as one account does; `stored` are those that can be asked for. */
function reader(stored: Readonly<Record<string, object>> = {}) {
  const rooms = new MatrixRooms();
  rooms.self = self;
  const member = (user: string, displayname: string) =>
    rooms.note(room, {
      type: "m.room.member",
      state_key: user,
      content: { membership: "join", displayname },
    });
  member(ann, "Ann");
  member(bob, "Bob");
  member(self, "Scout");
  rooms.note(room, { type: "m.room.name", state_key: "", content: { name: "kitchen" } });
  const asked: string[] = [];
  const receiver = {
    account: "default",
    rooms,
    fetch: async (_room: string, id: string) => {
      asked.push(id);
      return id in stored ? eventSchema.parse(stored[id]) : null;
    },
  };
  const read = async (event: object) => {
    const found = await eventOf(eventSchema.parse(event), room, receiver);
    return checkedEvent(found);
  };
  return { read, rooms, asked };
}

const event = (content: object, more: object = {}) => ({
  type: "m.room.message",
  event_id: "$143273582443PhrSn:hs.test",
  sender: ann,
  origin_server_ts: 1_432_735_824_653,
  room_id: room,
  unsigned: { age: 1_234 },
  content,
  ...more,
});
const text = (body: string, more: object = {}) => event({ msgtype: "m.text", body, ...more });
const message = (found: unknown) => (found as { message: unknown }).message;

test("a plain message, with the names of the room and its author", async () => {
  expect(message(await reader().read(text("This is an example text message")))).toEqual({
    channel: "matrix",
    account: "default",
    chat: { id: room, kind: "group", title: "kitchen" },
    thread: null,
    id: "$143273582443PhrSn:hs.test",
    author: { id: ann, name: "Ann", username: ann, isBot: false, isSelf: false },
    text: "This is an example text message",
    mentions: [],
    mentionsEveryone: false,
    replyTo: null,
    attachments: [],
    explicitOnly: false,
    sentAt: 1_432_735_824_653,
  });
});

test.each([
  ["one letter", "x"],
  ["right to left", "\u200fשלום, scout: מה שלומך?"],
  ["combining marks and emoji of several parts", "Z͑ͫ̓ͪ̂ 👩‍👩‍👧‍👦 é"],
  ["as long as an event can be", "é".repeat(30_000)],
])("%s stays as it is", async (_name, body) => {
  expect(message(await reader().read(text(body)))).toMatchObject({ text: body });
});

test("a mention of Element: the list counts, the pill is only how it looks", async () => {
  const pill = '<a href="https://matrix.to/#/@scout:hs.test">Scout</a>: hello';
  const formatted = { format: "org.matrix.custom.html", formatted_body: pill };
  const named = { "m.mentions": { user_ids: [self] } };
  const { read } = reader();
  expect(message(await read(text("Scout: hello", { ...formatted, ...named })))).toMatchObject({
    mentions: [{ id: self, name: "Scout", isSelf: true }],
  });
  // The list is there and empty: nobody is meant.
  const quoted = text("Scout: hello", { ...formatted, "m.mentions": {} });
  expect(message(await read(quoted))).toMatchObject({ mentions: [] });
  // An older client sends no list.
  expect(message(await read(text("Scout: hello", formatted)))).toMatchObject({
    mentions: [{ id: self, isSelf: true }],
  });
});

test("everybody is mentioned by the list, and not by the word", async () => {
  const { read } = reader();
  const all = text("@room lunch", { "m.mentions": { room: true } });
  expect(message(await read(all))).toMatchObject({ mentionsEveryone: true });
  expect(message(await read(text("@room lunch")))).toMatchObject({ mentionsEveryone: false });
});

test("a reply with the quote of older clients is only what its author says", async () => {
  const { read } = reader();
  await read(text("First\nSecond", {}));
  const reply = event(
    {
      msgtype: "m.text",
      body: "> <@ann:hs.test> First\n> Second\n\nThis is a reply",
      format: "org.matrix.custom.html",
      formatted_body:
        '<mx-reply><blockquote><a href="https://matrix.to/#/!kitchen:hs.test/$143273582443PhrSn:hs.test">In reply to</a> <a href="https://matrix.to/#/@ann:hs.test">@ann:hs.test</a><br>First<br>Second</blockquote></mx-reply>This is a reply',
      "m.relates_to": { "m.in_reply_to": { event_id: "$143273582443PhrSn:hs.test" } },
    },
    { event_id: "$reply", sender: bob },
  );
  expect(message(await read(reply))).toMatchObject({
    text: "This is a reply",
    replyTo: {
      id: "$143273582443PhrSn:hs.test",
      authorId: ann,
      authorName: "Ann",
      authorIsSelf: false,
      text: "First\nSecond",
    },
    // The quote's link to its author is no mention.
    mentions: [],
  });
});

test("the author of a message that was not heard is asked for once; one that is gone stays unknown", async () => {
  const old = event({ msgtype: "m.text", body: "long ago" }, { event_id: "$old", sender: self });
  const { read, asked } = reader({ $old: old });
  const to = (id: string) => ({ "m.relates_to": { "m.in_reply_to": { event_id: id } } });
  const ours = { replyTo: { id: "$old", authorId: self, authorIsSelf: true, text: "long ago" } };
  expect(message(await read(text("yes", to("$old"))))).toMatchObject(ours);
  expect(message(await read(text("no", to("$old"))))).toMatchObject(ours);
  expect(message(await read(text("hm", to("$gone"))))).toMatchObject({ replyTo: { id: "$gone" } });
  expect(asked).toEqual(["$old", "$gone"]);
});

test("a thread names its first message and its author; the fallback is no reply, a reply in it is", async () => {
  const root = event({ msgtype: "m.text", body: "the root" }, { event_id: "$root", sender: bob });
  const { read } = reader({ $root: root });
  const inThread = (more: object) => ({
    "m.relates_to": { rel_type: "m.thread", event_id: "$root", ...more },
  });
  const fallback = { is_falling_back: true, "m.in_reply_to": { event_id: "$root" } };
  const thread = { id: "$root", kind: "thread", rootAuthorId: bob };
  expect(message(await read(text("a", inThread(fallback))))).toMatchObject({
    thread,
    replyTo: null,
  });
  const reply = { is_falling_back: false, "m.in_reply_to": { event_id: "$root" } };
  expect(message(await read(text("b", inThread(reply))))).toMatchObject({
    thread,
    replyTo: { id: "$root", authorId: bob },
  });
});

test("an edit is of its author's message; anybody else's is not believed", async () => {
  const { read } = reader();
  await read(text("befor"));
  const edit = (sender: string) =>
    event(
      {
        msgtype: "m.text",
        body: "* before",
        "m.new_content": { msgtype: "m.text", body: "before" },
        "m.relates_to": { rel_type: "m.replace", event_id: "$143273582443PhrSn:hs.test" },
      },
      { event_id: "$edit", sender, origin_server_ts: 1_432_735_900_000 },
    );
  expect(await read(edit(ann))).toMatchObject({
    type: "edit",
    edit: {
      id: "$143273582443PhrSn:hs.test",
      text: "before",
      author: { id: ann },
      editedAt: 1_432_735_900_000,
      editId: "$edit",
    },
  });
  expect(await read(edit(bob))).toBeNull();
});

test.each([
  ["before room version 11", { redacts: "$143273582443PhrSn:hs.test" }, {}],
  ["since room version 11", {}, { redacts: "$143273582443PhrSn:hs.test" }],
])("a deletion, %s", async (_name, more, content) => {
  const { read } = reader();
  await read(text("oops"));
  const redaction = event(content, { type: "m.room.redaction", event_id: "$red", ...more });
  expect(await read(redaction)).toMatchObject({
    type: "delete",
    deletion: { id: "$143273582443PhrSn:hs.test", chat: { id: room } },
  });
});

test("a reaction comes and goes; what another client writes with a colour sign is the same", async () => {
  const { read } = reader();
  await read(text("look"));
  const key = { rel_type: "m.annotation", event_id: "$143273582443PhrSn:hs.test", key: "👍\ufe0f" };
  const put = event({ "m.relates_to": key }, { type: "m.reaction", event_id: "$r", sender: bob });
  const common = { id: "$143273582443PhrSn:hs.test", author: { id: bob }, ofSelf: false };
  expect(await read(put)).toMatchObject({ reaction: { ...common, added: ["👍"], removed: [] } });
  const gone = event({ redacts: "$r" }, { type: "m.room.redaction", event_id: "$x", sender: bob });
  expect(await read(gone)).toMatchObject({ reaction: { ...common, added: [], removed: ["👍"] } });
});

test("a picture with a caption, one without, a voice message and a sticker", async () => {
  const { read } = reader();
  const info = { mimetype: "image/png", size: 31_037, w: 394, h: 398 };
  const url = "mxc://hs.test/JWEIFJgwEIhweiWJE";
  const picture = { msgtype: "m.image", info, url };
  const attachment = { id: url, kind: "image", mime: "image/png", bytes: 31_037 };
  const captioned = event({ ...picture, body: "look at this", filename: "hat.png" });
  expect(message(await read(captioned))).toMatchObject({
    text: "look at this",
    attachments: [{ ...attachment, name: "hat.png" }],
  });
  const alone = event({ ...picture, body: "hat.png", filename: "hat.png" });
  expect(message(await read(alone))).toMatchObject({ text: "", attachments: [attachment] });
  const voice = event({
    msgtype: "m.audio",
    body: "Voice message.ogg",
    url,
    info: { mimetype: "audio/ogg", duration: 3_140, size: 3_385 },
    "org.matrix.msc3245.voice": {},
  });
  expect(message(await read(voice))).toMatchObject({ attachments: [{ kind: "audio" }] });
  const sticker = event({ body: "Landing", info, url }, { type: "m.sticker" });
  expect(message(await read(sticker))).toMatchObject({ text: "", attachments: [attachment] });
});

test("a notice is automatic; an action is what its author says", async () => {
  const { read } = reader();
  const notice = event({ msgtype: "m.notice", body: "Build #4 passed" });
  expect(message(await read(notice))).toMatchObject({ author: { isBot: true } });
  const emote = event({ msgtype: "m.emote", body: "waves" });
  expect(message(await read(emote))).toMatchObject({
    text: "* Ann waves",
    author: { isBot: false },
  });
  const renamed = event({
    msgtype: "m.emote",
    body: "* Ann leaves",
    "m.new_content": { msgtype: "m.emote", body: "leaves" },
    "m.relates_to": { rel_type: "m.replace", event_id: "$143273582443PhrSn:hs.test" },
  });
  expect(await read(renamed)).toMatchObject({ type: "edit", edit: { text: "* Ann leaves" } });
  const silent = event({ msgtype: "m.emote", body: " " });
  expect(await read(silent)).toBeNull();
});

test("a poll is its question and its answers, in the form of Element and of the specification", async () => {
  const { read } = reader();
  const poll = event(
    {
      "org.matrix.msc1767.text": "Tea?\n1. yes\n2. no",
      "org.matrix.msc3381.poll.start": {
        kind: "org.matrix.msc3381.poll.disclosed",
        max_selections: 1,
        question: { "org.matrix.msc1767.text": "Tea?", body: "Tea?", msgtype: "m.text" },
        answers: [
          { id: "a", "org.matrix.msc1767.text": "yes" },
          { id: "b", "org.matrix.msc1767.text": "no\nthanks" },
        ],
      },
    },
    { type: "org.matrix.msc3381.poll.start" },
  );
  expect(message(await read(poll))).toMatchObject({
    text: "[poll: Tea? — yes, no thanks]",
    author: { id: ann },
  });
  const stable = event(
    {
      "m.text": [{ mimetype: "text/plain", body: "Soup?\n1. yes" }],
      "m.poll": {
        question: { "m.text": [{ body: "Soup?" }] },
        answers: [{ "m.id": "a", "m.text": [{ body: "yes" }] }],
      },
    },
    { type: "m.poll.start", event_id: "$stable" },
  );
  expect(message(await read(stable))).toMatchObject({ text: "[poll: Soup? — yes]" });
  // A reply to it says what it is about.
  const relation = { "m.in_reply_to": { event_id: "$stable" } };
  const reply = text("I am for it", { "m.relates_to": relation });
  expect(message(await read({ ...reply, event_id: "$reply" }))).toMatchObject({
    replyTo: { id: "$stable", authorId: ann, text: "[poll: Soup? — yes]" },
  });
});

test("what is shown as code or quote is marked, in the plain text", async () => {
  const body = "try `scout: stop` or\n> scout said\nok";
  const formatted_body =
    "try <code>scout: stop</code> or<blockquote>scout said</blockquote>ok &amp; <b>done</b>";
  const found = message(
    await reader().read(text(body, { format: "org.matrix.custom.html", formatted_body })),
  ) as { verbatim: [number, number][] };
  expect(found.verbatim.map(([from, to]) => body.slice(from, to))).toEqual([
    "scout: stop",
    "scout said",
  ]);
});

test("messages of another login of the account are marked as ours", async () => {
  const found = await reader().read(event({ msgtype: "m.text", body: "me" }, { sender: self }));
  expect(message(found)).toMatchObject({ author: { isSelf: true } });
});

test("state, redacted and unknown events are no messages", async () => {
  const { read } = reader();
  const nothing = [
    event({ membership: "join" }, { type: "m.room.member", state_key: bob }),
    event({ topic: "soup" }, { type: "m.room.topic", state_key: "" }),
    event({ pinned: ["$a"] }, { type: "m.room.pinned_events", state_key: "" }),
    event({}, { unsigned: { redacted_because: {} } }),
    event({ msgtype: "m.text", body: "   " }),
    event({ msgtype: "m.text", body: 7 }),
    event({ question: 1 }, { type: "org.matrix.msc3381.poll.start" }),
    event({ "m.relates_to": 4 }, { type: "m.reaction" }),
    event({ "m.relates_to": { rel_type: "m.annotation" } }, { type: "m.reaction" }),
    event({ redacts: 9 }, { type: "m.room.redaction" }),
  ];
  for (const one of nothing) expect(await read(one), JSON.stringify(one)).toBeNull();
});

test("a person without a name in the room has the first part of their id", async () => {
  const found = await reader().read(
    event({ msgtype: "m.text", body: "hi" }, { sender: "@eve:x.y" }),
  );
  expect(message(found)).toMatchObject({ author: { id: "@eve:x.y", name: "eve" } });
});

test("a reply to what can be no id is a message without one", async () => {
  const { read, asked } = reader();
  const relation = { "m.in_reply_to": { event_id: "$half\ud800" } };
  const found = message(await read(text("what was that?", { "m.relates_to": relation })));
  expect(found).toMatchObject({ text: "what was that?", replyTo: null });
  expect(asked).toEqual([]);
});
