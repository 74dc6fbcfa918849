/**
 * The conversation machine, compiled
 * ==================================
 * XState's own transition of a parallel chart selects, sorts and copies at every event; a host
 * makes a hundred thousand of them a second. The result depends on three things only: the states,
 * the type of the event and the answers of the guards. So the machine itself is asked once for each
 * combination: XState steps a copy whose guards give known answers and whose actions only record
 * their names, and that record becomes a small program. A step then runs the program: ask this
 * guard, run this action, enter these states.
 *
 * No rule is repeated here, neither of the chart nor of XState's algorithm. The result is the
 * machine as actor logic with three methods replaced, so actors, inspectors and Stately see no
 * difference. test/machines/conversation/purity.test.ts compares it with `transition()`. It can be
 * stepped without an actor, too, which costs a conversation nothing but its snapshot.
 */
import {
  type ActorScope,
  type AnyEventObject,
  assign,
  initialTransition,
  transition,
} from "xstate";
import { EarshotError } from "../../domain/errors.ts";
import type { ConversationSettings } from "../../domain/settings.ts";
import type { ConversationContext } from "../../machines/conversation/context.ts";
import { actionBodies } from "../../machines/conversation/implementations.ts";
import type { StepEvent } from "../../machines/conversation/message-analysis.ts";
import { beginStep, type Step } from "../../machines/conversation/step.ts";
import { conversationMachine } from "../../machines/conversation.machine.ts";

type Machine = typeof conversationMachine;
export type Snapshot = ReturnType<Machine["transition"]>;
/** All that a conversation is between two steps. */
export type State = Pick<Snapshot, "value" | "context">;
type Effects = Step["effects"];
type Scope = Parameters<Machine["transition"]>[2];
type Body = (step: Step, event: StepEvent, params?: never) => void;
type Guard = (args: { context: ConversationContext; event: StepEvent }, params: unknown) => boolean;

/** A combination of active states, and the programs of the events accepted in it. */
interface Place {
  /** A snapshot of these states; only its context belongs to some other conversation. */
  readonly snapshot: Snapshot;
  readonly programs: Map<string, Op>;
}
interface Ask {
  readonly kind: "ask";
  readonly guard: Guard;
  readonly params: unknown;
  /** The guard answers that led here. */
  readonly answers: readonly boolean[];
  yes: Op | null;
  no: Op | null;
}
interface Do {
  readonly kind: "do";
  readonly body: Body;
  readonly params: unknown;
  readonly next: Op;
}
interface End {
  readonly kind: "end";
  readonly place: Place;
}
type Op = Ask | Do | End;

/** A guard or action that a traced step called, by name. */
interface Note {
  readonly kind: "ask" | "do";
  readonly name: string;
  readonly params: unknown;
}
interface Trace {
  /** Up to and including the first guard without an answer. */
  readonly notes: readonly Note[];
  /** The states after the step; null: a guard is open. */
  readonly value: unknown;
}

/** Steps a copy of the machine that only records its calls. */
function createTracer(machine: Machine) {
  let notes: Note[] = [];
  let answers: readonly boolean[] = [];
  let asked = 0;
  let isOpen = false;
  /** Answers since the last action: guards change nothing, so none is asked twice. */
  const known = new Map<string, boolean>();
  const ask = (name: string, params: unknown): boolean => {
    const key = `${name} ${JSON.stringify(params)}`;
    const before = known.get(key);
    if (isOpen || before !== undefined) return before ?? false;
    notes.push({ kind: "ask", name, params });
    const answer = answers[asked];
    asked += 1;
    if (answer === undefined) isOpen = true;
    else known.set(key, answer);
    return answer ?? false;
  };
  const note = (name: string, params: unknown) => {
    known.clear();
    if (!isOpen) notes.push({ kind: "do", name, params });
    return {};
  };
  const { guards, actions } = machine.implementations;
  const plain = Object.entries(guards).filter(([, guard]) => !("check" in (guard as object)));
  const copy = machine.provide({
    guards: Object.fromEntries(
      plain.map(([name]) => [name, (_: unknown, params: unknown) => ask(name, params)]),
    ),
    actions: Object.fromEntries(
      Object.keys(actions).map((name) => [name, assign((_, params) => note(name, params))]),
    ),
  } as Parameters<Machine["provide"]>[0]);
  /** Each `transition()` makes an actor, whose beginning nobody looks at. */
  const begun = copy.resolveState({ value: {}, context: {} } as never);
  const stepped = Object.assign(Object.create(copy) as typeof copy, {
    getInitialSnapshot: () => begun,
  });

  return (at: Place, event: StepEvent, guardAnswers: readonly boolean[]): Trace => {
    notes = [];
    answers = guardAnswers;
    asked = 0;
    isOpen = false;
    known.clear();
    const { value, context } = at.snapshot;
    const [next] = transition(stepped, copy.resolveState({ value, context }), event);
    return { notes, value: isOpen ? null : next.value };
  };
}

/** The machine as actor logic, and without an actor: two pure functions. */
export type CompiledMachine = Machine & {
  /** The state in which a conversation begins. */
  begin(settings: ConversationSettings): State;
  /** The state after an event, and what is to be done. Throws what a guard or an action throws. */
  next(state: State, event: StepEvent): Next;
};
interface Next {
  readonly state: State;
  readonly effects: Effects;
}

const noEffects: Effects = [];

/**
 * The machine as actor logic that runs programs; `bodies`: the implementations of its actions.
 * @throws EarshotError EAR_ASSERT from a step, when an action of the chart has no body.
 */
export function compileMachine(
  machine: Machine,
  bodies: Readonly<Record<string, Body>> = actionBodies as Readonly<Record<string, Body>>,
): CompiledMachine {
  const trace = createTracer(machine);
  const guards = machine.implementations.guards as unknown as Readonly<Record<string, Guard>>;
  const placesByName = new Map<string, Place>();
  const placesByValue = new Map<unknown, Place>();

  /** The place of a snapshot's states. Snapshots created here share their value's object. */
  function placeOf({ value, context }: State): Place {
    // A record's states are those of an object of its own, mostly named as the chart names them.
    const known = placesByValue.get(value) ?? placesByName.get(JSON.stringify(value));
    if (known !== undefined) return known;
    const snapshot = machine.resolveState({ value, context });
    const name = JSON.stringify(snapshot.value);
    const place = placesByName.get(name) ?? { snapshot, programs: new Map() };
    placesByName.set(name, place);
    placesByValue.set(place.snapshot.value, place);
    return place;
  }

  function bodyOf(name: string): Body {
    const body = bodies[name];
    if (body !== undefined) return body;
    throw new EarshotError("EAR_ASSERT", `Cannot compile the chart: no body is named ${name}`);
  }

  /** The program from these answers to the next guard, or to the end. */
  function learn(at: Place, event: StepEvent, answers: readonly boolean[]): Op {
    const { notes, value } = trace(at, event, answers);
    let asked = 0;
    const rest = notes.filter((note) => {
      if (asked < answers.length) {
        if (note.kind === "ask") asked += 1;
        return false;
      }
      return true;
    });
    let op: Op | null =
      value === null
        ? null
        : { kind: "end", place: placeOf({ value, context: at.snapshot.context } as Snapshot) };
    for (const { kind, name, params } of rest.reverse()) {
      if (kind === "do") op = { kind, body: bodyOf(name), params, next: op as Op };
      else op = { kind, guard: guards[name] as Guard, params, answers, yes: null, no: null };
    }
    return op as Op;
  }

  function answered(at: Place, event: StepEvent, ask: Ask, answer: boolean): Op {
    const known = answer ? ask.yes : ask.no;
    if (known !== null) return known;
    const op = learn(at, event, [...ask.answers, answer]);
    if (answer) ask.yes = op;
    else ask.no = op;
    return op;
  }

  function programOf(place: Place, event: StepEvent): Op {
    const known = place.programs.get(event.type);
    if (known !== undefined) return known;
    const op = learn(place, event, []);
    place.programs.set(event.type, op);
    return op;
  }

  function next(state: State, event: StepEvent): Next {
    const place = placeOf(state);
    let op = programOf(place, event);
    let made: Step | null = null;
    while (op.kind !== "end") {
      if (op.kind === "ask") {
        const context = made === null ? state.context : made.context;
        op = answered(place, event, op, op.guard({ context, event }, op.params));
      } else {
        made ??= beginStep(state.context);
        op.body(made, event, op.params as never);
        op = op.next;
      }
    }
    if (made === null && op.place === place) return { state, effects: noEffects };
    const { context, effects } = made ?? { context: state.context, effects: noEffects };
    return { state: { value: op.place.snapshot.value, context }, effects };
  }

  function step(snapshot: Snapshot, event: StepEvent, scope: Scope): Snapshot {
    // XState handles its own events, such as the one that stops an actor.
    if (event.type.startsWith("xstate.")) return machine.transition(snapshot, event, scope);
    const { state, effects } = next(snapshot, event);
    if (effects.length > 0) emitLater(scope, effects);
    return state === snapshot ? snapshot : snapshotOf(state);
  }

  const snapshotOf = (state: State): Snapshot => ({
    ...placeOf(state).snapshot,
    context: state.context,
  });

  let beginning: Snapshot | null = null;
  /** Initial snapshots differ only in their context. */
  function begin(settings: ConversationSettings): State {
    beginning ??= placeOf(initialTransition(machine, { settings })[0]).snapshot;
    const { context } = machine.config as { context: (begin: object) => ConversationContext };
    return { value: beginning.value, context: context({ input: { settings } }) };
  }

  return Object.assign(Object.create(machine) as Machine, {
    transition: step,
    getInitialSnapshot: (_: unknown, { settings }: { settings: ConversationSettings }) =>
      snapshotOf(begin(settings)),
    resolveState: snapshotOf,
    // XState looks for actors in the whole context: in a snapshot made here there are none.
    restoreSnapshot: (snapshot: Snapshot, scope: Scope) =>
      placesByValue.has(snapshot.value) ? snapshot : machine.restoreSnapshot(snapshot, scope),
    begin,
    next,
  });
}

/** As XState emits: after the actor's snapshot has been replaced. */
function emitLater(scope: Scope, effects: Effects): void {
  const { defer, emit } = scope as unknown as ActorScope<Snapshot, AnyEventObject>;
  defer(() => {
    for (const effect of effects) emit(effect);
  });
}

/** The logic that hosts run. */
export const conversationLogic: CompiledMachine = compileMachine(conversationMachine);
