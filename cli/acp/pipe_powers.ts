/** Standard input and output as streams of bytes: where a protocol is spoken, nobody else may write. @module */

/** A pipe to whoever started this process. */
export interface Pipe {
  readonly readable: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly writable: WritableStream<Uint8Array<ArrayBufferLike>>;
}

/** This process's own. */
export function makePipe(): Pipe {
  return Object.freeze<Pipe>({ readable: Deno.stdin.readable, writable: Deno.stdout.writable });
}
