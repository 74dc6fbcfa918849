/** CommonMark's examples; the package has no types. */
declare module "commonmark-spec" {
  export const tests: readonly {
    /** With `→` for a tab. */
    readonly markdown: string;
    readonly html: string;
    readonly section: string;
    readonly number: number;
  }[];
}
