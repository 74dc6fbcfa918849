/** Ages and amounts in the forms that all pages share. */

const units = [
  ["d", 86_400],
  ["h", 3_600],
  ["min", 60],
  ["s", 1],
] as const;

/** How long ago: "now" under 2 s, then "4 s", "6 min", "3 h", "3 d". */
export function age(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  if (seconds < 2) return "now";
  const [name, size] = units.find(([, one]) => seconds >= one) ?? units[3];
  return `${Math.floor(seconds / size)} ${name}`;
}

/** A stretch of time in at most two units: "3 d 4 h", "22 min". */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const at = units.findIndex(([, one]) => seconds >= one);
  const [name, size] = units[at] ?? units[3];
  const next = units[at + 1];
  const whole = `${Math.floor(seconds / size)} ${name}`;
  if (at > 1 || next === undefined) return whole;
  const rest = Math.floor((seconds % size) / next[1]);
  return rest === 0 ? whole : `${whole} ${rest} ${next[0]}`;
}

/** "1,234". */
export const amount = (count: number): string => count.toLocaleString("en");

/** "184 MB", "3.1 MB", "512 kB". */
export function bytes(count: number): string {
  const [name, size] =
    count >= 1e9 ? ["GB", 1e9] : count >= 1e6 ? ["MB", 1e6] : count >= 1e3 ? ["kB", 1e3] : ["B", 1];
  const value = count / (size as number);
  return `${value >= 10 || size === 1 ? Math.round(value) : value.toFixed(1)} ${name}`;
}
