/** The last 15 minutes: four numbers, and the decisions as bars with the engaged ones below. */
import type { ActivityView } from "../../../src/daemon/api-types/rooms.ts";
import { amount } from "../lib/format.ts";

const barPx = 8;
const tall = 28;

export function Activity({ activity }: { readonly activity: ActivityView | null }) {
  const words = activity?.firstWordsMsP50 ?? null;
  return (
    <section class="panel activity" aria-label="Last 15 minutes">
      <Stat
        name="Messages per minute"
        value={activity === null ? null : amount(activity.perMinute)}
      />
      <Stat name="Engaged" value={textOf(activity?.engagedPercent)} unit="%" />
      <Stat name="Decided in, p99" value={textOf(activity?.decidedMsP99)} unit="ms" />
      <Stat
        name="First text in, p50"
        value={words === null ? null : (words / 1_000).toFixed(1)}
        unit="s"
      />
      <figure>
        <figcaption>
          <span class="key engage">
            <i />
            engage
          </span>
          <span class="key observe">
            <i />
            observe
          </span>
          <span>last 15 min</span>
        </figcaption>
        <Bars bars={activity?.bars ?? []} />
      </figure>
    </section>
  );
}

const textOf = (value: number | null | undefined): string | null =>
  value === null || value === undefined ? null : amount(value);

interface StatProps {
  readonly name: string;
  /** Null: no data yet. */
  readonly value: string | null;
  readonly unit?: string;
}

function Stat({ name, value, unit }: StatProps) {
  return (
    <dl class="stat">
      <dt>{name}</dt>
      <dd>
        {value ?? "–"}
        {value !== null && unit !== undefined && (
          <>
            {" "}
            <small>{unit}</small>
          </>
        )}
      </dd>
    </dl>
  );
}

function Bars({ bars }: { readonly bars: ActivityView["bars"] }) {
  const most = Math.max(1, ...bars.map(([messages]) => messages));
  const scale = (count: number) => (count === 0 ? 0 : Math.max(1.5, (count / most) * tall));
  let observed = "";
  let engaged = "";
  bars.forEach(([messages, engagedCount], index) => {
    const x = index * barPx;
    const low = scale(engagedCount);
    const high = Math.min(tall - low, scale(messages - engagedCount));
    if (low > 0) engaged += `M${x} ${tall}h6v${-low.toFixed(1)}h-6z`;
    if (high > 0) observed += `M${x} ${(tall - low).toFixed(1)}h6v${-high.toFixed(1)}h-6z`;
  });
  const sum = (which: 0 | 1) => bars.reduce((total, bar) => total + bar[which], 0);
  const label = `Last 15 minutes: ${amount(sum(0))} messages, ${amount(sum(1))} engaged`;
  const width = bars.length * barPx || barPx;
  return (
    <svg
      class="bars"
      viewBox={`0 0 ${width} ${tall}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <path class="observe" d={observed} />
      <path class="engage" d={engaged} />
    </svg>
  );
}
