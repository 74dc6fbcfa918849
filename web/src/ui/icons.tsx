/**
 * Icons
 * =====
 * One inline sprite, drawn on 12, 14, 16 and 20 px grids. It is inline because an icon that uses
 * the page's colours cannot be a file.
 */
const outline = {
  fill: "none",
  stroke: "currentColor",
  "stroke-linecap": "round",
  "stroke-linejoin": "round",
} as const;
const onMark = { ...outline, stroke: "var(--surface)" } as const;

/** All symbols; rendered once. */
export function Sprite() {
  return (
    <svg class="sprite" width="0" height="0" aria-hidden="true">
      <defs>
        <DecisionSymbols />
        <LadderSymbols />
        <OtherSymbols />
        <FileSymbols />
      </defs>
    </svg>
  );
}

function DecisionSymbols() {
  return (
    <>
      <symbol id="i-engage" viewBox="0 0 12 12">
        <path
          d="M1 2.500A1.500 1.500 0 0 1 2.500 1h7A1.500 1.500 0 0 1 11 2.500v5A1.500 1.500 0 0 1 9.500 9H6l-3 2.500V9h-.5A1.500 1.500 0 0 1 1 7.500z"
          fill="currentColor"
        />
      </symbol>
      <symbol id="i-observe" viewBox="0 0 12 12">
        <path
          {...outline}
          stroke-width="1.2"
          d="M.8 6C2 3.800 3.800 2.700 6 2.700S10 3.800 11.200 6C10 8.200 8.200 9.300 6 9.300S2 8.200.8 6z"
        />
        <circle cx="6" cy="6" r="1.5" fill="currentColor" />
      </symbol>
      <symbol id="i-denied" viewBox="0 0 12 12">
        <circle {...outline} stroke-width="1.5" cx="6" cy="6" r="4.7" />
        <path {...outline} stroke-width="1.5" d="M2.800 2.800l6.400 6.400" />
      </symbol>
      <symbol id="i-claim" viewBox="0 0 12 12">
        <path d="M6 .8 11.200 6 6 11.200.8 6z" fill="currentColor" />
      </symbol>
      <symbol id="i-duplicate" viewBox="0 0 12 12">
        <path
          {...outline}
          stroke-width="1.2"
          d="M1.200 1.200h6.300v6.300H1.200zM4.500 9.500v1.300h6.300V4.500H9.500"
        />
      </symbol>
      <symbol id="i-command" viewBox="0 0 12 12">
        <path {...outline} stroke-width="1.8" d="M8.500 1 3.500 11" />
      </symbol>
    </>
  );
}

function LadderSymbols() {
  return (
    <>
      <symbol id="i-matched" viewBox="0 0 14 14">
        <circle cx="7" cy="7" r="7" fill="currentColor" />
        <path {...onMark} stroke-width="1.7" d="m4 7.200 2.200 2.200L10.200 5" />
      </symbol>
      <symbol id="i-passed" viewBox="0 0 14 14">
        <circle cx="7" cy="7" r="7" fill="var(--surface)" />
        <circle {...outline} stroke-width="1.4" cx="7" cy="7" r="4.2" />
      </symbol>
      <symbol id="i-not-reached" viewBox="0 0 14 14">
        <circle cx="7" cy="7" r="7" fill="var(--surface)" />
        <circle cx="7" cy="7" r="2" fill="var(--control)" />
      </symbol>
    </>
  );
}

function OtherSymbols() {
  return (
    <>
      <symbol id="i-ok" viewBox="0 0 12 12">
        <circle cx="6" cy="6" r="6" fill="currentColor" />
        <path {...onMark} stroke-width="1.5" d="m3.500 6.200 1.800 1.800 3.300-3.700" />
      </symbol>
      <symbol id="i-wait" viewBox="0 0 12 12">
        <circle {...outline} stroke-width="1.5" cx="6" cy="6" r="5.2" />
        <path {...outline} stroke-width="1.4" d="M6 3.200V6l1.800 1.200" />
      </symbol>
      <symbol id="i-bad" viewBox="0 0 12 12">
        <path
          d="M3.600.5h4.800l3.100 3.100v4.800l-3.100 3.100H3.600L.5 8.400V3.600z"
          fill="currentColor"
        />
        <path {...onMark} stroke-width="1.3" d="m4.200 4.200 3.600 3.600m0-3.600L4.200 7.800" />
      </symbol>
      <symbol id="i-warn" viewBox="0 0 14 14">
        <path {...outline} stroke-width="1.4" d="M7 1.200 13.300 12.500H.7z" />
        <path {...outline} stroke-width="1.4" d="M7 5v3.500M7 10.200v.5" />
      </symbol>
      <symbol id="i-find" viewBox="0 0 14 14">
        <circle {...outline} stroke-width="1.4" cx="6" cy="6" r="4.3" />
        <path {...outline} stroke-width="1.4" d="m9.300 9.300 3.500 3.500" />
      </symbol>
      <symbol id="i-theme" viewBox="0 0 16 16">
        <circle {...outline} stroke-width="1.4" cx="8" cy="8" r="6" />
        <path d="M8 2a6 6 0 0 1 0 12z" fill="currentColor" />
      </symbol>
      <symbol id="i-back" viewBox="0 0 16 16">
        <path {...outline} stroke-width="1.5" d="M10 3.500 5.500 8l4.500 4.500" />
      </symbol>
      <symbol id="i-to" viewBox="0 0 16 16">
        <path {...outline} stroke-width="1.3" d="M3 8h9.500M9 4.500 12.500 8 9 11.500" />
      </symbol>
      <symbol id="i-plus" viewBox="0 0 12 12">
        <path {...outline} stroke-width="1.4" d="M6 1.500v9M1.500 6h9" />
      </symbol>
      <symbol id="i-x" viewBox="0 0 12 12">
        <path {...outline} stroke-width="1.4" d="m2.500 2.500 7 7m0-7-7 7" />
      </symbol>
      <symbol id="i-mark" viewBox="0 0 20 20">
        <path
          {...outline}
          stroke-width="1.7"
          d="M7 15.500c0 2 3.500 2.500 4.500.3.800-1.800.3-3 1.800-4.500C14.800 9.800 15.500 9 15.500 7a5.500 5.500 0 0 0-11 0"
        />
        <circle class="dot" cx="10" cy="7.2" r="2" fill="var(--engage-mark)" />
      </symbol>
    </>
  );
}

function FileSymbols() {
  return (
    <>
      <symbol id="i-clip" viewBox="0 0 14 14">
        <path
          {...outline}
          stroke-width="1.3"
          d="M11.800 6.300 6.900 11.200a2.900 2.900 0 0 1-4.100-4.100l5-5a1.950 1.950 0 0 1 2.750 2.750l-4.950 4.950a1 1 0 0 1-1.400-1.400L8.700 3.900"
        />
      </symbol>
      <symbol id="i-save" viewBox="0 0 14 14">
        <path {...outline} stroke-width="1.3" d="M7 1.800v6.700M4 5.800l3 3 3-3M2 11.700h10" />
      </symbol>
      <symbol id="i-file" viewBox="0 0 16 16">
        <path
          {...outline}
          stroke-width="1.3"
          d="M3.500 1.700h5.300l3.700 3.700v8.900h-9zM8.700 1.900v3.600h3.600"
        />
      </symbol>
      <symbol id="i-image" viewBox="0 0 16 16">
        <path
          {...outline}
          stroke-width="1.3"
          d="M1.700 2.700h12.600v10.600H1.700zM2 11.500l3.600-3.600 3 3 2-2 3.600 3.300"
        />
        <circle cx="10.500" cy="5.700" r="1.200" fill="currentColor" />
      </symbol>
      <symbol id="i-audio" viewBox="0 0 16 16">
        <path
          {...outline}
          stroke-width="1.4"
          d="M2 6.500v3M5 4.500v7M8 2.500v11M11 5v6M14 6.500v3"
        />
      </symbol>
      <symbol id="i-video" viewBox="0 0 16 16">
        <path {...outline} stroke-width="1.3" d="M1.700 3.200h12.600v9.600H1.700z" />
        <path d="M6.500 5.600v4.800L10.400 8z" fill="currentColor" />
      </symbol>
    </>
  );
}

/** One icon of the sprite. Always decoration: the word beside it carries the meaning. */
export function Icon({ name, size = 12 }: { readonly name: string; readonly size?: number }) {
  return (
    <svg width={size} height={size} aria-hidden="true">
      <use href={`#i-${name}`} />
    </svg>
  );
}
