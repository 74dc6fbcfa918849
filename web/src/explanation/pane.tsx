/**
 * Why
 * ===
 * The explanation of one message: the answer first, then each rule in the order it was tried with
 * the fact it found, then what else counted. The page has no order of rules of its own: it draws
 * the explanation.
 */
import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Why } from "../../../src/daemon/api-types/runtime.ts";
import type { Decision, Explanation, Rule, Rung } from "../../../src/domain/decision.ts";
import { signedShare } from "../../../src/domain/floor.ts";
import { countdown, duration, people, shownName, shownText } from "../lib/sanitize.ts";
import { Chip } from "../ui/chip.tsx";
import { Icon } from "../ui/icons.tsx";
import {
  chipWord,
  type Judging,
  judgedSentence,
  judgementFacts,
  reasonOf,
  withJudgement,
} from "./judgement.ts";
import { deciderOf, sentenceOf } from "./words.ts";

export interface WhyPaneProps {
  /** "Ann, draft"; shown beside the title. */
  readonly of: string;
  readonly why: Why | null;
  /** Known before the ladder is, as in a running chat. */
  readonly verdict: { readonly decision: Decision; readonly rule: Rule } | null;
  /** What the judge made of it; null or absent: no judge is concerned. */
  readonly judging?: Judging | null;
  /** Text for the place where the ladder would be. */
  readonly note: string | null;
  /** It has not been said: it became nothing yet. */
  readonly isDraft: boolean;
  /** What to type in a terminal for the same answer. */
  readonly command: string | null;
  readonly onBack: () => void;
  /**
   * The pane takes the focus, and calls back; the ladder has it as soon as it is there. A message of
   * the agent has none.
   */
  readonly wantsFocus: boolean;
  readonly onFocused: () => void;
  /** Opens the list of keys. */
  readonly onHelp: () => void;
  /** Below the answer. */
  readonly children?: ComponentChildren;
}

/** The pane beside the rooms. */
export function WhyPane(props: WhyPaneProps) {
  const { of, why, verdict, note, onBack, onHelp, wantsFocus, onFocused, judging = null } = props;
  const { ladder, body } = useFocus(wantsFocus, onFocused);
  const first = why?.explanation?.verdict ?? why?.recorded ?? verdict;
  const decided = first && withJudgement(first, judging?.judgement ?? null);
  const isJudged = judging !== null && decided?.rule === "judge";
  const sentence = isJudged ? judgedSentence(judging) : decided && sentenceOf(decided.rule);
  const back = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    onBack();
  };
  return (
    <section class="pane why-pane" aria-label="Why" data-scrolls onKeyDown={back}>
      <div class="cap">
        <h2>Why</h2>
        <bdi class="of small muted cut">{of}</bdi>
      </div>
      <div class="scroll" ref={body} tabIndex={-1}>
        {decided === null ? (
          <NothingPicked note={note} onHelp={onHelp} />
        ) : (
          <div class="why">
            <Announced text={`${decided.decision}, ${decided.rule}. ${sentence}`} />
            <div class="answer">
              <div class="top">
                <Chip {...decided} {...(isJudged ? { word: chipWord(judging) } : {})} />
              </div>
              <p>{sentence}</p>
            </div>
            {props.children}
            {why?.explanation ? (
              <Ladder explanation={why.explanation} decision={decided.decision} list={ladder} />
            ) : (
              <p class="muted">{note ?? why?.admission ?? deciderOf(decided, why !== null)}</p>
            )}
            {why && <Facts {...props} why={why} />}
          </div>
        )}
      </div>
    </section>
  );
}

/** What gets the focus: the ladder, and until it is there what is around it. */
function useFocus(wanted: boolean, onFocused: () => void) {
  const ladder = useRef<HTMLOListElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const waits = useRef(false);
  useEffect(() => {
    const list = ladder.current;
    // Who has gone elsewhere meanwhile waits no more.
    if (document.activeElement !== body.current) waits.current = false;
    if (!wanted && (!waits.current || list === null)) return;
    (list ?? body.current)?.focus();
    waits.current = list === null;
    if (wanted) onFocused();
  });
  return { ladder, body };
}

const announceMs = 500;

/**
 * Announces the answer to screen readers once it is stable, not with every letter typed.
 */
function Announced({ text }: { readonly text: string }) {
  const [said, setSaid] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setSaid(text), announceMs);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <p class="sr" aria-live="polite">
      {said}
    </p>
  );
}

function NothingPicked({ note, onHelp }: Pick<WhyPaneProps, "note" | "onHelp">) {
  if (note !== null) return <p class="why muted">{note}</p>;
  return (
    <div class="empty">
      <h2>Pick a message</h2>
      <p>You will see each rule in order and why it matched or not. The first match decides.</p>
      <p class="small muted">
        <kbd>j</kbd> <kbd>k</kbd> to move through messages
      </p>
      <div class="acts">
        <button type="button" class="btn small" onClick={onHelp}>
          All shortcuts
        </button>
      </div>
    </div>
  );
}

interface LadderProps {
  readonly explanation: Explanation;
  /** What became of it, where a judge has changed that. @default as explained */
  readonly decision?: Decision;
  readonly list?: RefObject<HTMLOListElement>;
}

/** Each rule in the order it was tried, with the fact it found. */
export function Ladder({ explanation: { rungs, verdict }, decision, list }: LadderProps) {
  return (
    <ol
      {...(list === undefined ? {} : { ref: list })}
      class="ladder"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable
      tabIndex={0}
      aria-label="The ladder: the first match decides"
    >
      {rungs.map((rung, index) => (
        <RungRow
          key={rung.rule}
          rung={rung}
          decision={decision ?? verdict.decision}
          opensTier={rungs[index - 1]?.tier !== rung.tier}
        />
      ))}
    </ol>
  );
}

const outcomes = { matched: "matched", passed: "no match", "not-reached": "" } as const;

interface RungRowProps {
  readonly rung: Rung;
  readonly decision: Decision;
  readonly opensTier: boolean;
}

function RungRow({ rung, decision, opensTier }: RungRowProps) {
  const matched = rung.outcome === "matched";
  return (
    <li
      class={`rung ${rung.outcome} ${matched ? decision : ""}`}
      {...(matched ? { "aria-current": "true" as const } : {})}
    >
      <span class="tier">{opensTier ? rung.tier : ""}</span>
      <span class="mk">
        <Icon name={rung.outcome} size={14} />
        <span class="sr">{outcomes[rung.outcome]}</span>
      </span>
      <span class="rule">{rung.rule}</span>
      <bdi class="fact">{shownText(rung.fact)}</bdi>
      {rung.shares && (
        <table class="shares" aria-label="Each fact with its share">
          <tbody>
            {rung.shares.map(({ fact, share }) => (
              <tr key={fact} class={share < 0 ? "against" : "for"}>
                <td class="num">{signedShare(share)}</td>
                <td>
                  <bdi>{shownText(fact)}</bdi>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </li>
  );
}

interface JudgeFactProps {
  readonly judgement: NonNullable<Judging["judgement"]>;
  readonly askedAt: number;
}

/** What the judge said, and what that cost. */
function JudgeFact({ judgement, askedAt }: JudgeFactProps) {
  const reason = reasonOf(judgement);
  return (
    <>
      <dt>Judge</dt>
      <dd>
        {judgementFacts(judgement, askedAt)}
        {reason !== "" && (
          <div>
            “<bdi>{reason}</bdi>”
          </div>
        )}
      </dd>
    </>
  );
}

function Facts({ why, command, isDraft, judging }: WhyPaneProps & { readonly why: Why }) {
  const { humans, guard, fate } = why;
  const names = new Map(
    why.participants.map((participant) => [participant.id, shownName(participant.name)]),
  );
  const credits = Object.entries(why.credits).filter(([, endsAt]) => endsAt > why.at);
  return (
    <dl class="facts">
      {why.message.chat.movedTo !== undefined && (
        <>
          <dt>Room</dt>
          <dd>
            {why.message.chat.id}, at the platform now {why.message.chat.movedTo}
          </dd>
        </>
      )}
      {judging?.judgement && <JudgeFact judgement={judging.judgement} askedAt={why.at} />}
      <dt>People</dt>
      <dd>
        {people(humans.count)}, from {humans.source}
      </dd>
      {credits.length > 0 && (
        <>
          <dt>Credits then</dt>
          <dd>
            {credits.map(([author, endsAt]) => (
              <div key={author}>
                <bdi>{names.get(author) ?? shownName(author)}</bdi>, {countdown(endsAt - why.at)}{" "}
                left
              </div>
            ))}
          </dd>
        </>
      )}
      {guard.state !== "clear" && (
        <>
          <dt>Guard</dt>
          <dd>
            {guard.state}, {guard.consecutive} turns by bots in a row
          </dd>
        </>
      )}
      {!isDraft && (fate.outcome ?? fate.dropped) !== null && (
        <>
          <dt>Outcome</dt>
          <dd>
            {fate.outcome === null
              ? `dropped: ${fate.dropped}`
              : `turn ${fate.turn}, ${fate.outcome}`}
          </dd>
        </>
      )}
      {!isDraft && fate.facts !== undefined && <TurnFact facts={fate.facts} />}
      {command !== null && (
        <>
          <dt>Terminal</dt>
          <dd>
            <code>{command}</code>
          </dd>
        </>
      )}
    </dl>
  );
}

/** How long the turn took, what it cost, and which tools it called. */
function TurnFact({ facts }: { readonly facts: NonNullable<Why["fate"]["facts"]> }) {
  const { firstTextMs, tookMs, usage, tools } = facts;
  const times = (count: number) => (count === 1 ? "once" : `${count} times`);
  const lines = [
    ...(firstTextMs === undefined ? [] : [`first text after ${duration(firstTextMs)}`]),
    ...(tookMs === undefined ? [] : [`ended after ${duration(tookMs)}`]),
    ...(usage === undefined ? [] : [`${usage.inputTokens} tokens in, ${usage.outputTokens} out`]),
    ...tools
      .filter(({ failed = 0, count }) => failed < count)
      .map(({ name, count, failed = 0 }) => `${shownName(name)}: ${times(count - failed)}`),
  ];
  const failures = tools.filter(({ failed = 0 }) => failed > 0);
  if (lines.length + failures.length === 0) return null;
  return (
    <>
      <dt>Turn</dt>
      <dd>
        {lines.map((line) => (
          <div key={line}>{line}</div>
        ))}
        {failures.map(({ name, failed = 0, error }) => (
          <div key={name} class="tool-failed">
            <bdi>{shownName(name)}</bdi> failed{failed === 1 ? "" : ` ${times(failed)}`}
            {error !== undefined && (
              <>
                : <bdi>{error}</bdi>
              </>
            )}
          </div>
        ))}
      </dd>
    </>
  );
}
