/** A found message in the form of the API: cut around what was found. */
import type { FoundMessage } from "../../domain/ports/index.ts";
import { excerptOf, matchText, type SearchTerm } from "../../domain/search/query.ts";
import type { FoundView } from "../api-types/search.ts";

const excerptUnits = 400;

/** @param room The room's name for people. */
export function viewOf(
  { conv: _, place: _place, text, ...rest }: FoundMessage,
  terms: readonly SearchTerm[],
  room: string,
): FoundView {
  const { text: part, marks } = excerptOf(text, matchText(text, terms) ?? [], excerptUnits);
  return { ...rest, room, text: part, marks: marks.map(([from, to]) => [from, to]) };
}
