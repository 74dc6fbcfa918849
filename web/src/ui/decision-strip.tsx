/**
 * The strip: the last decisions as bars, the newest at the right, distinguished by height and shape
 * as well as by colour. One SVG, because a list draws a thousand bars.
 */
import { stripCount } from "../../../src/daemon/api-types/values.ts";

const barPx = 6;
const wide = stripCount * barPx - 2;
const tall = 20;

const looks = {
  e: { kind: "engage", height: 20 },
  o: { kind: "observe", height: 5 },
  d: { kind: "denied", height: 20 },
  c: { kind: "claim", height: 12 },
  u: { kind: "duplicate", height: 2 },
  m: { kind: "command", height: 12 },
} as const;

/** `recent`: one letter a decision, the newest last. */
export function Strip({ recent }: { readonly recent: string }) {
  const count = (letter: string) => recent.split(letter).length - 1;
  const label = `Last ${recent.length} decisions: ${count("e")} engaged, ${count("o")} observed`;
  return (
    <svg class="strip" width={wide} height={tall} role="img" aria-label={label}>
      {[...recent].map((letter, index) => {
        const look = looks[letter as keyof typeof looks];
        if (look === undefined) return null;
        const x = (stripCount - recent.length + index) * barPx;
        const { kind, height } = look;
        return kind === "denied" ? (
          <rect key={x} class={kind} x={x + 0.75} y={0.75} width={2.5} height={18.5} rx={0.5} />
        ) : (
          <rect
            key={x}
            class={kind}
            x={x}
            y={tall - height}
            width={4}
            height={height}
            rx={kind === "claim" ? 2 : 1}
          />
        );
      })}
    </svg>
  );
}
