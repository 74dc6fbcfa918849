// The search of both agents of this folder: the entry that shares most words with a question.

/** The answer of the best entry, or null where none shares a word of four letters or more. */
export function find(entries, question) {
  const asked = new Set(wordsOf(question));
  const shared = ({ about }) => wordsOf(about).filter((word) => asked.has(word)).length;
  const [best] = [...entries].sort((a, b) => shared(b) - shared(a));
  return best === undefined || shared(best) === 0 ? null : best.answer;
}

const wordsOf = (text) =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length > 3);
