interface Measured {
  readonly noticed: number;
  readonly missed: number;
}
export declare const wanted: number;
export declare const changedMax: number;
export declare const machineFiles: readonly string[];
export declare function digest(file: string): string;
export declare function readRecord(): Readonly<
  Record<string, Measured & { readonly source: string }>
>;
export declare function score(part: Measured): number;
export declare function sum(parts: readonly Measured[]): Measured;
