/** The imports that the plugin host links besides `host_call`, for an engine under plain Extism. @module */

interface Context {
  read(block: bigint): { bytes(): Uint8Array } | null;
}

/** Copies of the current input, and between blocks and the instance's present memory. */
export function copies(input: () => string, memory: () => WebAssembly.Memory) {
  const bytes = (): Uint8Array => new Uint8Array(memory().buffer);
  return {
    block_read: (context: Context, block: bigint, at: number): void =>
      bytes().set(context.read(block)?.bytes() ?? [], at),
    block_write: (context: Context, block: bigint, at: number, count: number): void =>
      context.read(block)?.bytes().set(bytes().subarray(at, at + count)),
    input_read: (_context: Context, at: number): void =>
      bytes().set(new TextEncoder().encode(input()), at),
  };
}
