/** Lines of a unified diff. */
export function Diff({ lines }: { readonly lines: readonly string[] }) {
  if (lines.length === 0) return <p class="setup-hint">No changes to the file.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it
    <section class="setup-diff" tabIndex={0} aria-label="Changes">
      {lines.map((line, index) => (
        <div key={index} class={classOf(line)}>
          {line === "" ? " " : line}
        </div>
      ))}
    </section>
  );
}

const classOf = (line: string): string =>
  line.startsWith("@@") ? "at" : line.startsWith("+") ? "new" : line.startsWith("-") ? "old" : "";
