export declare function ensureBuilt(): void;
