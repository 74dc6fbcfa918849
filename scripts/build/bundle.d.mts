export function bundle(outDir?: string, further?: Readonly<Record<string, string>>): Promise<void>;
