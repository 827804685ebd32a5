/** Standard input and output as byte streams, for a protocol that must not be interrupted by other output. @module */

/** The streams to the process that started this one. */
export interface Pipe {
  readonly readable: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly writable: WritableStream<Uint8Array<ArrayBufferLike>>;
}

/** The streams of this process. */
export function makePipe(): Pipe {
  return Object.freeze<Pipe>({ readable: Deno.stdin.readable, writable: Deno.stdout.writable });
}
