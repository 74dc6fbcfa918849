export declare const version: string;
export declare const cacheFolder: () => string;
export declare const binaryIn: (cache: string) => string;
export declare function installed(cache: string, say: (line: string) => void): Promise<string>;
