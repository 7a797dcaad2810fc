/** What we use of the global `WebAssembly`, which TypeScript declares for browsers only. */
interface WebAssemblyApi {
  compile(bytes: Buffer): Promise<object>;
  instantiate(module: object, imports: Imports): Promise<Instance>;
  readonly Memory: new (...size: never) => Memory;
  readonly RuntimeError: new (message: string) => Error;
}

export type Import = (...args: number[]) => number;
export type Imports = Readonly<Record<string, Readonly<Record<string, Import>>>>;

export interface Instance {
  readonly exports: Readonly<Record<string, unknown>>;
}

export interface Memory {
  readonly buffer: ArrayBuffer;
}

export const { WebAssembly: webAssembly } = globalThis as unknown as { readonly WebAssembly: WebAssemblyApi };
