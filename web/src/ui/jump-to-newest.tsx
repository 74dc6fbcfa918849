/** The button below a transcript that was scrolled up; it leads to the end. */
import type { Follow } from "../lib/follow-scroll.ts";

export function Jump({ follow }: { readonly follow: Pick<Follow, "unseen" | "toEnd"> }) {
  if (follow.unseen === 0) return null;
  return (
    <div class="jump">
      <button type="button" class="btn small" onClick={follow.toEnd}>
        {follow.unseen === 1 ? "1 new message" : `${follow.unseen} new messages`}
      </button>
    </div>
  );
}
