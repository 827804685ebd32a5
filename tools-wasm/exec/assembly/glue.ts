/**
 * Connects QuickJS and Extism. The glue has no runtime, no data and no literals, because it runs in
 * QuickJS' own memory: its whole state is in globals, which the build's memory image contains.
 */
import {
  x_free,
  x_output,
  x_hostCall,
  q_init,
  q_setMemoryLimit,
  q_setStackSize,
  q_setRejectionHandler,
  q_collect,
  q_malloc,
  q_free,
  q_evalBytecode,
  q_eval,
  q_call,
  q_isException,
  q_isString,
  q_takeException,
  q_undefined,
  q_text,
  q_number,
  q_freeText,
  q_freeValue,
  q_newString,
  q_bufferAt,
  q_newBuffer,
  q_newNumber,
  q_newFunction,
  q_runJob,
} from "./imports";
import { fromHost, input, toHost } from "./transfer";
import { setClock } from "./wasi";
export {
  clock_time_get,
  fd_close,
  fd_fdstat_get,
  fd_seek,
  fd_write,
  random_get,
} from "./wasi";

/** The prelude's function: `step(input)` begins, `step()` continues; a text ends the call. */
let step: usize = 0;
/** The answer when not even the prelude can run: length in four bytes, then UTF-8. */
let lastWords: usize = 0;
/** The compiled program that strips types from TypeScript: its address and its length in bytes. */
let stripper: usize = 0;
let stripperBytes: usize = 0;
/** Set once heap or stack are exhausted: this instance answers no further call. */
let broken: i32 = 0;

// One-letter names of the functions passed to the prelude.
const HOST: u8 = 104; // h(text): text, a host call
const EVALUATE: u8 = 101; // e(code, name, flags): value
const CLOCK: u8 = 99; // c(ms): sets the clock
const STRIPPER: u8 = 115; // s(): the function that takes types out
const ENCODE: u8 = 117; // u(text): its UTF-8 in a buffer
const DECODE: u8 = 116; // t(buffer, from, bytes): text

function giveUp(): i32 {
  broken = 1;
  const bytes = <usize>load<u32>(lastWords);
  x_output(toHost(lastWords + 4, bytes), bytes);
  return 0;
}

/** Clears a pending exception and returns true; false where there is none. */
function failed(value: usize): bool {
  if (value !== 0 && !q_isException(value)) return false;
  q_freeValue(q_takeException());
  if (value !== 0) q_freeValue(value);
  return true;
}

/** The module's one entry: see contracts/wire/wire_plugin.ts for input and output. */
export function run(): i32 {
  if (broken) unreachable();
  const text = input();
  if (text === 0 || q_isException(text)) return giveUp();
  const argv = q_malloc(4);
  if (argv === 0) return giveUp();
  store<u32>(argv, <u32>text);
  let value = q_call(step, q_undefined(), 1, argv);
  q_free(argv);
  q_freeValue(text);
  while (true) {
    if (failed(value)) return giveUp();
    if (q_isString(value)) break;
    q_freeValue(value);
    // A job that could not begin (no memory) leaves a promise pending, which the answer reports.
    let job: i32 = q_runJob();
    while (job !== 0) {
      if (job < 0) q_freeValue(q_takeException());
      job = q_runJob();
    }
    value = q_call(step, q_undefined(), 0, 0);
  }
  const size = q_malloc(4);
  if (size === 0) return giveUp();
  const out = q_text(value, size);
  if (out === 0) return giveUp();
  const bytes = <usize>load<u32>(size);
  // The first letter of the prelude's answer tells whether this instance may be used again.
  if (load<u8>(out) === 33) broken = 1;
  x_output(toHost(out + 1, bytes - 1), bytes - 1);
  q_freeText(out);
  q_free(size);
  q_freeValue(value);
  return 0;
}

/** At build time: makes the context. 0 is success. */
export function build_begin(): i32 {
  const bad = q_init();
  q_setRejectionHandler(1);
  return bad;
}

/** At build time: stores the compiled type stripper without evaluating it. */
export function build_stripper(code: usize, bytes: usize): i32 {
  stripper = code;
  stripperBytes = bytes;
  return 0;
}

/** At build time: evaluates a script of value `(h, e, c, s, u, t) => step`; 0 is success. */
export function build_prelude(code: usize, bytes: usize, words: usize, heap: usize, stack: usize): i32 {
  const make = q_evalBytecode(code, bytes);
  if (q_isException(make)) return 1;
  const letters = q_malloc(6);
  store<u8>(letters, HOST);
  store<u8>(letters + 1, EVALUATE);
  store<u8>(letters + 2, CLOCK);
  store<u8>(letters + 3, STRIPPER);
  store<u8>(letters + 4, ENCODE);
  store<u8>(letters + 5, DECODE);
  const argv = q_malloc(24);
  for (let i: usize = 0; i < 6; i++) store<u32>(argv + i * 4, <u32>q_newFunction(letters + i, 1, 0));
  step = q_call(make, q_undefined(), 6, argv);
  if (q_isException(step)) return 2;
  for (let i: usize = 0; i < 6; i++) q_freeValue(load<u32>(argv + i * 4));
  q_free(argv);
  q_freeValue(make);
  lastWords = words;
  q_collect();
  q_setMemoryLimit(heap);
  q_setStackSize(stack);
  return 0;
}

function callHost(value: usize): usize {
  const size = q_malloc(4);
  if (size === 0) return q_undefined();
  const text = q_text(value, size);
  if (text === 0) {
    q_free(size);
    return 0;
  }
  const block = toHost(text, load<u32>(size));
  q_freeText(text);
  q_free(size);
  const answer = x_hostCall(block);
  x_free(block);
  const back = fromHost(answer);
  return back === 0 ? q_undefined() : back;
}

function evaluate(argv: usize): usize {
  const size = q_malloc(4);
  if (size === 0) return q_undefined();
  const code = q_text(load<u32>(argv), size);
  const bytes = load<u32>(size);
  const name = q_text(load<u32>(argv + 4), size);
  q_free(size);
  let value: usize = 0;
  if (code !== 0 && name !== 0) value = q_eval(code, bytes, name, <i32>q_number(load<u32>(argv + 8)));
  if (code !== 0) q_freeText(code);
  if (name !== 0) q_freeText(name);
  return value !== 0 && q_isException(value) ? 0 : value;
}

function encode(value: usize): usize {
  const size = q_malloc(4);
  if (size === 0) return q_undefined();
  const text = q_text(value, size);
  if (text === 0) return 0;
  const buffer = q_newBuffer(text, load<u32>(size));
  q_freeText(text);
  q_free(size);
  return q_isException(buffer) ? 0 : buffer;
}

function decode(argv: usize): usize {
  const size = q_malloc(4);
  if (size === 0) return q_undefined();
  const at = q_bufferAt(load<u32>(argv), size);
  const all = load<u32>(size);
  q_free(size);
  if (at === 0) return q_undefined();
  const from = <u32>q_number(load<u32>(argv + 4));
  const bytes = <u32>q_number(load<u32>(argv + 8));
  if (from > all || bytes > all - from) return q_undefined();
  return q_newString(at + from, bytes);
}

/** QuickJS calls a function that the prelude was given; 0 means a pending exception. */
export function host_call(name: usize, _bytes: usize, _self: usize, argc: i32, argv: usize): usize {
  const letter = load<u8>(name);
  if (letter === HOST && argc === 1) return callHost(load<u32>(argv));
  if (letter === EVALUATE && argc === 3) return evaluate(argv);
  if (letter === STRIPPER) {
    const value = q_evalBytecode(stripper, stripperBytes);
    return q_isException(value) ? 0 : value;
  }
  if (letter === ENCODE && argc === 1) return encode(load<u32>(argv));
  if (letter === DECODE && argc === 3) return decode(argv);
  if (letter === CLOCK && argc === 1) setClock(q_number(load<u32>(argv)));
  return q_undefined();
}

/** QuickJS: an unhandled rejection, or a late handler: calls `step(promise, reason, late)`. */
export function host_promise_rejection(promise: usize, reason: usize, late: i32): void {
  const argv = q_malloc(12);
  if (step !== 0 && argv !== 0) {
    const flag = q_newNumber(<f64>late);
    store<u32>(argv, <u32>promise);
    store<u32>(argv + 4, <u32>reason);
    store<u32>(argv + 8, <u32>flag);
    const value = q_call(step, q_undefined(), 3, argv);
    if (!failed(value)) q_freeValue(value);
    q_freeValue(flag);
  }
  q_free(argv);
  q_freeValue(promise);
  q_freeValue(reason);
}

/** QuickJS: never interrupts; a deadline ends the process. */
export function host_interrupt(): i32 {
  return 0;
}

/** QuickJS: local time is UTC. */
export function host_get_timezone_offset(_high: i32, _low: i32): i32 {
  return 0;
}

/** QuickJS: there are no modules. */
export function host_module_normalize(_base: usize, _name: usize): usize {
  return 0;
}

/** QuickJS: there are no modules. */
export function host_module_load(_name: usize, _size: usize): usize {
  return 0;
}
