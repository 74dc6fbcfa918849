/**
 * Tapbacks: the six classic ones by name, and any other emoji where the program can send it.
 */
const names = {
  love: "❤️",
  like: "👍",
  dislike: "👎",
  laugh: "😂",
  emphasize: "‼️",
  question: "❓",
} as const;

const plain = (emoji: string) => emoji.replace(/[\ufe0e\ufe0f]|\p{Emoji_Modifier}/gu, "");

/** The name of a classic tapback; null: it is another emoji. */
export const tapbackName = (emoji: string): string | null =>
  Object.entries(names).find(([, one]) => plain(one) === plain(emoji))?.[0] ?? null;

/** The emoji of a name; imsg calls one `emphasis`. */
export const tapbackEmoji = (name: string): string | null => {
  const known = name === "emphasis" ? "emphasize" : name;
  return Object.hasOwn(names, known) ? names[known as keyof typeof names] : null;
};

/** A reference to a message may have its part before it: `p:0/GUID`, `bp:GUID`. */
export const guidOf = (reference: string): string => reference.replace(/^(?:p:\d+\/|bp:)/, "");
