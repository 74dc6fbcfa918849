/**
 * Status of the bridge
 * ====================
 * One line of status, and where no frames come a few words why, with a link to our own page, which
 * needs no other site.
 */
const problems = {
  noToken: [
    "This address has no token",
    "Run earshot inspect --stately to print the address again.",
  ],
  refused: ["The token was replaced", "Run earshot inspect --stately to print the address again."],
  unknown: ["Unknown room", "Check the key in the address of this page."],
  silent: [
    "The Stately inspector is not responding",
    "It is a page of stately.ai and needs a network connection. earshot's Room page shows the same " +
      "statecharts offline.",
  ],
} as const;
export type Problem = keyof typeof problems;

export interface InspectorView {
  status(text: string): void;
  /** Says what is in the way; null: nothing. */
  problem(which: Problem | null): void;
  /** Says which page receives what. */
  showOrigin(origin: string): void;
  readonly frame: HTMLIFrameElement;
  onWindow(open: () => void): void;
}

const part = <Kind extends HTMLElement>(id: string): Kind => document.getElementById(id) as Kind;

export function createInspectorView({
  key,
  words,
}: {
  key: string | null;
  words: boolean;
}): InspectorView {
  const own = key === null ? "/" : `/room/${encodeURIComponent(key)}`;
  part<HTMLAnchorElement>("own").href = own;
  part("words").hidden = !words;
  const frame = part<HTMLIFrameElement>("inspector");
  return {
    frame,
    status: (text) => {
      part("status").textContent = text;
    },
    problem(which) {
      part("problem").hidden = which === null;
      frame.hidden = which !== null;
      if (which === null) return;
      const [title, text] = problems[which];
      part("problem-title").textContent = title;
      part("problem-text").textContent = text;
      part("status").textContent = title;
    },
    showOrigin(origin) {
      const what = key === null ? "All live conversations" : `The conversation ${key}`;
      const limit = words ? "" : ", without what people and agents write";
      part("shared").textContent =
        `${what} ${key === null ? "are" : "is"} sent to the page of ${origin} in this browser${limit}.`;
    },
    onWindow(open) {
      const button = part<HTMLButtonElement>("window");
      button.disabled = false;
      button.addEventListener("click", open);
    },
  };
}
