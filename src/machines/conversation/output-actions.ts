/**
 * What the agent says
 * ===================
 * From what a running agent reports to what the room sees: blocks of its answer with how they are
 * addressed, the reaction it asks for, the first sign that it is writing. The chart hands over only
 * what comes from the turn under way, and nothing once the agent has chosen silence.
 */
import { fold } from "../../domain/fold-text.ts";
import { limits } from "../../domain/limits.ts";
import { extrasOf } from "../../domain/outgoing.ts";
import type { ConversationSettings } from "../../domain/settings.ts";
import { chatOf, idsIn } from "../batching/chats.ts";
import { endsWithQuestion, hashesOf } from "../engagement/floor-words.ts";
import type { Block } from "../events/effects.ts";
import type { AgentSpoke, AgentText, AgentTool, TextDue } from "../events/events.ts";
import type { BlockGist, ConversationContext, Run } from "./context.ts";
import { dropUnanswered, judgesFloor, textName } from "./delivery-actions.ts";
import { removeAcks } from "./queue-actions.ts";
import { addressBlock, targetOf } from "./reply-addressing.ts";
import { answersOf } from "./steering-actions.ts";
import type { Step } from "./step.ts";
import { startTyping, stopTyping, updateTyping } from "./typing-actions.ts";

/** A block of the answer goes to delivery. One that covers what was sent before is a double. */
export function sendBlock({ context, effects }: Step, event: AgentText): void {
  const { run, settings } = context;
  if (run === null || (run.abortedBy !== null && !completesShown(run, event))) return;
  const { index, from, to, text, turnId, draft, aside, mentions } = event;
  const isSaid = draft === undefined && aside === undefined;
  if (index < run.blocks || index >= limits.blocksPerTurnMax) return;
  if (isSaid && from < run.offset) return;
  if (isSaid) effects.push({ type: "transcript", turnId, role: "assistant", text, index });
  const refused = settings.send === "deny";
  const kind = aside === undefined ? "reply" : "aside";
  const gist = judgesFloor(context) && kind === "reply" ? { gist: gistOf(context, text) } : {};
  const opened = {
    index,
    kind,
    mentions,
    ...(draft === undefined ? {} : { draft }),
    ...gist,
  } as const;
  const asides = [...(run.asides ?? [])];
  // A number that was left out is no answer either.
  for (let missing = run.blocks; missing < index; missing += 1) asides.push(missing);
  if (refused || aside !== undefined) asides.push(index);
  context.run = {
    ...run,
    blocks: index + 1,
    offset: isSaid ? to : run.offset,
    open: refused ? run.open : [...run.open, opened],
    ...(refused && isSaid ? { refused } : {}),
    ...(asides.length > 0 ? { asides } : {}),
  };
  const heard = idsIn(context.heardMessages, chatOf(settings, run.order.route));
  if (!refused) effects.push(blockOf(run, event, settings, heard));
}

/** What the floor remembers of a text of ours; a person whose name it begins with is named. */
function gistOf({ participants }: ConversationContext, text: string): BlockGist {
  const folded = fold(text.slice(0, limits.matchUnitsMax));
  const named = participants.filter(({ name }) => {
    const called = fold(name.slice(0, limits.labelUnitsMax)).trim();
    return called !== "" && folded.startsWith(called) && /^[:,]/.test(folded.slice(called.length));
  });
  const names = named.map(({ id }) => id);
  return { names, words: hashesOf(folded), asks: endsWithQuestion(folded) };
}

/** The agent chose silence: nobody is shown that it writes, and who has called it has no credit by that. */
export function fallSilent(step: Step): void {
  stopTyping(step);
  updateTyping(step);
  dropUnanswered(step);
}

/** Words that belong to no turn. What is delivered of them is reported under their own name. */
export function sayText({ effects }: Step, { at, id, route, parts, replyTo }: TextDue): void {
  effects.push({ type: "say", turnId: textName(id, at), parts, route, replyTo });
}

/**
 * What a room has seen growing, or may be about to see, is complete with what was said until the
 * abort: nobody can unsee it, so the session has to know it.
 */
function completesShown({ shown, open }: Run, { edits, aside }: AgentText): boolean {
  if (edits === undefined || aside !== undefined) return false;
  return edits === shown || open.some(({ index, draft }) => index === edits && draft === true);
}

function blockOf(
  run: Run,
  event: AgentText,
  { replyTo: mode }: ConversationSettings,
  heard: readonly string[],
): Block {
  const { turnId, index, text, draft, edits, aside, prefix = "" } = event;
  const { route, replyTo } = run.order;
  const asked = run.batch.map(({ id }) => id);
  const target = targetOf(event.target, replyTo, [asked, heard]);
  const { reply, quote } = addressBlock(mode, route.chat.kind, {
    index: placeInAnswer(run, event),
    several: run.batch.length > 1,
    overtaken: run.overtaken,
  });
  // Text that an answer will replace is addressed as the answer would be; else only answers are replies.
  const isAnswer = (aside === undefined || draft === true) && aside !== "status";
  // Nobody in the room asked for a heartbeat or for a prompt: there is no message to reply to.
  const isAddressed = isAnswer && replyTo !== "";
  return {
    type: "block",
    turnId,
    index,
    text: prefix + text,
    route,
    ...(target.kind === "message"
      ? { replyTo: target.id, quote: target.id !== replyTo || run.overtaken }
      : {
          replyTo: reply && isAddressed ? replyTo : null,
          quote: quote && isAddressed,
        }),
    kind: "reply",
    ...(draft === undefined ? {} : { draft }),
    ...(edits === undefined ? {} : { edits }),
    ...(run.abortedBy === null ? {} : { stopped: true }),
    ...(aside === undefined ? {} : { aside }),
    ...(target.kind === "unknown" ? { unknownTarget: target.id } : {}),
    ...extrasOf(event),
  };
}

/**
 * Which block of the answer it is, from 0. What completes a draft is addressed like the draft, in
 * case that one never arrived.
 */
function placeInAnswer(run: Run, { edits }: AgentText): number {
  const completes = edits !== undefined && !run.asides?.includes(edits);
  return answersOf(run) - (completes ? 1 : 0);
}

/**
 * The agent reacts to the message it answers. Its word takes the place of the ack: a platform may
 * show one reaction of ours only, and taking the ack off later would take that one.
 */
export function reactAsAsked(step: Step, event: AgentTool): void {
  const { context, effects } = step;
  const { run } = context;
  const { emoji } = event.input;
  if (event.name !== "channel_react" || typeof emoji !== "string") return;
  if (run === null || run.abortedBy !== null) return;
  const { route, replyTo } = run.order;
  if (replyTo === "") return;
  const acked = run.batch.filter(({ id, ack }) => id === replyTo && ack !== null);
  const others = acked.filter(({ ack }) => ack !== emoji);
  removeAcks(step, others, route);
  effects.push({ type: "react", message: replyTo, emoji, route });
  const batch = run.batch.map((one) => (acked.includes(one) ? { ...one, ack: null } : one));
  context.run = { ...run, batch };
}

/** First sign of an answer: typing, where it waited for one. */
export function showTyping(step: Step, event: AgentSpoke): void {
  const { run, settings } = step.context;
  const { mode } = settings.typing;
  if (run === null || mode === "never" || mode === "instant") return;
  // Nobody waits for a heartbeat, and most of them end without a word.
  if (run.order.heartbeat === true) return;
  if (event.what === "reasoning" && mode !== "thinking") return;
  startTyping(step, run.order.route);
}
