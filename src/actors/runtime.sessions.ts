/**
 * The runtime's session rooms
 * ===========================
 * Puts together what keeps sessions: their turns, their files, their index, and what a turn is told
 * of what was said before.
 */
import type { EarshotError } from "../domain/errors.ts";
import { limits } from "../domain/limits.ts";
import type { Journal } from "./journal.ts";
import type { RuntimePorts } from "./runtime.types.ts";
import { enterSession, type Remembering, type TurnSessions } from "./session.compose.ts";
import { createProjection, type Projection } from "./session.files.ts";
import { createSessionIndex, type SessionIndex } from "./session.index.ts";
import { entriesOf } from "./session.transcript.ts";
import { createSessions, type Sessions } from "./sessions.ts";

export interface SessionParts {
  readonly sessions: Sessions;
  readonly projection: Projection;
  readonly sessionIndex: SessionIndex;
  readonly turnSessions: TurnSessions;
}

export function createSessionParts(
  { clock, log, store, ids, sessionFiles }: RuntimePorts,
  journal: Journal,
  onHealth: (error: EarshotError | null) => void,
): SessionParts {
  const files = sessionFiles ?? null;
  const sessionIndex = createSessionIndex({ clock, log, store, files });
  const sessions = createSessions({ store, journal, ids, onBegan: sessionIndex.changed });
  const projection = createProjection({ clock, log, store, files, onHealth });
  const entering = { store, journal, sessions, projection };

  async function remember({ turn, session, fence, named }: Remembering) {
    const { sessionId } = session;
    const mark = await store.transcriptMark(sessionId);
    const lines = await store.transcript({
      sessionId,
      after: mark?.covers ?? 0,
      limit: limits.transcriptLinesMax,
      newest: true,
    });
    const earlier = lines.filter(
      ({ turnId, covers }) => turnId !== turn.turnId && covers === undefined,
    );
    return entriesOf(mark === null ? earlier : [mark, ...earlier], { named, fence });
  }

  return {
    sessions,
    projection,
    sessionIndex,
    turnSessions: { enter: (turn, said) => enterSession(entering, turn, said), remember },
  };
}
