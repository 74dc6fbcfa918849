/** Room: one conversation, what was heard in it and what became of each line. */
import type { PageProps } from "./page.ts";
import { shownName } from "./parts/harmless.ts";

interface RoomPageProps extends PageProps {
  readonly roomKey: string;
  /** The message to open with; null: the newest decided one. */
  readonly message: string | null;
}

export function RoomPage({ roomKey }: RoomPageProps) {
  return (
    <>
      <div class="page-bar">
        <h1>
          <bdi>{shownName(roomKey)}</bdi>
        </h1>
      </div>
      <main id="main" tabIndex={-1} />
    </>
  );
}
