/** What becomes of one event before a conversation hears of it: who asks for what, and who would hear it. */
import { describe, expect, test } from "vitest";
import { type EarshotConfigInput, parseConfig } from "../../../src/domain/config/index.ts";
import {
  deletionSchema,
  editSchema,
  historySchema,
  type InboundInput,
  inboundSchema,
  membershipSchema,
  reactionSchema,
} from "../../../src/domain/message.ts";
import type { ChannelEvent } from "../../../src/domain/ports/index.ts";
import { decideIntake, type IntakeContext } from "../../../src/machines/routing/intake.ts";

const code = "claim-7KQ2MX-PAHB34";
const hidden = /^claim-•+/u;
const direct = { id: "u1", kind: "direct" as const };
const room = { id: "room", kind: "group" as const };
const list = ["a0", "a1", "a2"].map((id) => ({ id }));
const perPerson: EarshotConfigInput = {
  agents: { list },
  session: { dmScope: "per-channel-peer" },
  access: { dmPolicy: "open", groupPolicy: "open" },
};
const inbound = (given: Partial<InboundInput> = {}) =>
  inboundSchema.parse({
    channel: "telegram",
    chat: direct,
    id: "m1",
    author: { id: "u1" },
    text: "hi",
    ...given,
  });
const decide = (
  event: ChannelEvent,
  given: EarshotConfigInput = {},
  context: Partial<IntakeContext> = {},
) => decideIntake(event, parseConfig({ ...perPerson, ...given }), { local: false, ...context });
const say = (
  given: Partial<InboundInput> = {},
  config: EarshotConfigInput = {},
  context: Partial<IntakeContext> = {},
) => decide({ type: "message", message: inbound(given) }, config, context);
const keyOf = (event: ChannelEvent, given: EarshotConfigInput = {}) =>
  decide(event, given).routes.map(({ sessionKey }) => sessionKey);

describe("a claim", () => {
  const claimed = { kind: "claim", code: code.toUpperCase(), local: false };

  test("asks the access store, is denied until then, and none of it is kept", () => {
    const verbatim: [number, number][] = [[0, 5]];
    const found = say({ text: `@bot ${code}`, verbatim });
    expect(found).toMatchObject({
      request: claimed,
      sibling: null,
      history: [],
      admission: {
        decision: "denied",
        rule: "claim",
        explanation: "a claim code",
        authority: { commandAuthorized: false, owner: false },
      },
    });
    expect(found.routes).toHaveLength(1);
    const { event } = found;
    expect(event.type === "message" && event.message.text).toMatch(hidden);
    expect(JSON.stringify(event)).not.toMatch(/7KQ2MX|PAHB34|verbatim/u);
  });

  test("is a person's own words, and none where codes are not taken", () => {
    const requestOf = (...given: Parameters<typeof say>) => say(...given).request;
    expect(requestOf({ text: `my ${code} is here` })).toBeNull();
    expect(requestOf({ text: code, author: { id: "b", isBot: true } })).toBeNull();
    expect(requestOf({ text: code, chat: room, author: { id: "c", isChat: true } })).toBeNull();
    expect(requestOf({ text: code, chat: room })).toEqual(claimed);
    expect(requestOf({ text: code, forwarded: true })).toBeNull();
    expect(requestOf({ text: code }, { access: { dmPolicy: "disabled" } })).toBeNull();
  });

  test("is taken on a local channel whatever the policy, unless it came from outside", () => {
    const closed = { access: { dmPolicy: "disabled" as const } };
    const requestOf = (given: object) =>
      say({ text: code, ...given }, closed, { local: true }).request;
    expect(requestOf({})).toEqual({ ...claimed, local: true });
    expect(requestOf({ outside: false })).toEqual({ ...claimed, local: true });
    expect(requestOf({ outside: true })).toBeNull();
    expect(say({ text: code, outside: true }, {}, { local: true }).request).toEqual(claimed);
    expect(say({ text: code }, {}, { local: false }).request).toEqual(claimed);
  });

  test("inside other words is redacted, whatever the event", () => {
    const place = { channel: "telegram", chat: direct };
    const edit = editSchema.parse({ ...place, id: "m1", text: `so ${code}`, author: { id: "u1" } });
    for (const event of [say({ text: `so ${code}` }).event, decide({ type: "edit", edit }).event])
      expect(JSON.stringify(event)).not.toContain("7KQ2MX");
  });
});

describe("a stranger", () => {
  const pairing = { access: { dmPolicy: "pairing" as const } };

  test("asks for a code where there is pairing, and only a person's own words ask", () => {
    expect(say({}, pairing).request).toEqual({ kind: "pairing" });
    expect(say({ forwarded: true }, pairing).request).toEqual({ kind: "pairing" });
    expect(say({ author: { id: "b", isBot: true } }, pairing).request).toBeNull();
    expect(say({}, {}).request).toBeNull();
    expect(say({}, { access: { dmPolicy: "allowlist" } }).request).toBeNull();
  });

  test("would be heard by the same agent", () => {
    const { admission, routes } = say({}, pairing);
    expect(admission.decision).toBe("denied");
    expect(routes[0]?.sessionKey).toBe("agent:a0:telegram:direct:u1");
  });
});

describe("our own words, and those of our other agents", () => {
  test("what this account said ends here", () => {
    expect(say({ author: { id: "us", isSelf: true } })).toMatchObject({
      admission: { decision: "own" },
      routes: [],
      request: null,
      sibling: null,
    });
  });

  test("what another account or the host said is remembered where its place is heard", () => {
    const isOurs = (id: string) => id === "a";
    const ours = { author: { id: "a" }, text: code };
    expect(say(ours, {}, { isOurs })).toMatchObject({ sibling: "heard", request: null });
    expect(say({ ...ours, author: { id: "b" } }, {}, { isOurs }).sibling).toBeNull();
    const host = { author: { id: "u9", isHost: true }, text: code };
    expect(say(host).sibling).toBe("heard");
    const closed = { access: { dmPolicy: "disabled" as const } };
    expect(say(host, closed).sibling).toBe("unheard");
    expect(say(host, closed, { local: true }).sibling).toBe("heard");
  });
});

describe("an event is routed by its place and its person", () => {
  const place = { channel: "telegram", chat: direct };
  const linked = { session: { ...perPerson.session, identityLinks: { ann: ["telegram:ann"] } } };
  const ann = { id: "ann" };
  const byChat = "agent:a0:telegram:direct:u1";
  const byPerson = "agent:a0:direct:ann";
  const history = historySchema.parse({ ...place, messages: [] });
  const deletion = deletionSchema.parse({ ...place, id: "m1" });
  const membership = membershipSchema.parse({ ...place, humans: 2 });
  const edit = (author?: object) => editSchema.parse({ ...place, id: "m1", text: "x", author });
  const reaction = reactionSchema.parse({ ...place, id: "m1", author: ann, added: ["👍"] });

  test.each<[string, ChannelEvent, string]>([
    ["a message", { type: "message", message: inbound({ author: ann }) }, byPerson],
    ["its edit", { type: "edit", edit: edit(ann) }, byPerson],
    ["an edit by nobody", { type: "edit", edit: edit() }, byChat],
    ["a reaction", { type: "reaction", reaction }, byPerson],
    ["a deletion", { type: "delete", deletion }, byChat],
    ["members", { type: "membership", membership }, byChat],
    ["a history", { type: "history", history }, byChat],
  ])("%s", (_, event, key) => expect(keyOf(event, linked)).toEqual([key]));

  test("what the host of a chat says or changes belongs to the other person's session", () => {
    const host = { ...ann, isHost: true };
    const given: EarshotConfigInput = {
      ...linked,
      bindings: [
        { agentId: "a1", match: { channel: "telegram", peer: { kind: "direct", id: "ann" } } },
      ],
    };
    const message = inbound({ author: host });
    expect(keyOf({ type: "message", message }, given)).toEqual([byChat]);
    expect(keyOf({ type: "edit", edit: edit(host) }, given)).toEqual([byChat]);
    expect(keyOf({ type: "message", message: inbound({ author: ann }) }, given)).toEqual([
      "agent:a1:direct:ann",
    ]);
  });

  test("of a history, what may be remembered is kept without its codes", () => {
    const messages = [
      inbound({ id: "h1", text: `so ${code}` }),
      inbound({ id: "h2", author: { id: "u2" } }),
    ];
    const lists = { access: { dmPolicy: "allowlist" as const, allowFrom: ["telegram:u1"] } };
    const found = decide({ type: "history", history: { ...history, messages } }, lists);
    expect(found.history.map(({ id }) => id)).toEqual(["h1"]);
    expect(JSON.stringify([found.history, found.event])).not.toContain("7KQ2MX");
    expect(found).toMatchObject({ request: null, sibling: null });
  });

  test("what is neither a message nor a history wants nothing", () => {
    expect(decide({ type: "delete", deletion })).toMatchObject({
      request: null,
      sibling: null,
      history: [],
      admission: { decision: null },
    });
  });
});
