/** Walks a function's instructions and renumbers its references. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import { joined, leb, makeReader, type Reader } from "./reader.ts";

/** Maps old indices to new ones, for a module that is merged into another. */
export interface Numbering {
  readonly func: (old: number) => number;
  readonly type: (old: number) => number;
  readonly global: (old: number) => number;
}

/** Number of immediates of the opcodes 0xfc 0 to 17. */
const MORE = [0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 2, 1, 2, 1, 2, 1, 1, 1] as const;

/** The mapping for the first immediate of `op`; undefined for one that stays. */
function moving(op: number, numbers: Numbering): ((old: number) => number) | undefined {
  if (op === 0x10 || op === 0xd2) return numbers.func;
  if (op === 0x11) return numbers.type;
  if (op === 0x23 || op === 0x24) return numbers.global;
  return undefined;
}

/** Skips the immediates of `op` that stay unchanged. */
function skip(op: number, reader: Reader): void {
  if (op === 0x02 || op === 0x03 || op === 0x04) reader.skipLeb();
  else if (op === 0x0c || op === 0x0d) reader.skipLeb();
  else if (op === 0x0e) { for (let n = reader.u32() + 1; n > 0; n--) reader.skipLeb(); }
  else if (op === 0x1c) { for (let n = reader.u32(); n > 0; n--) reader.byte(); }
  else if (op >= 0x20 && op <= 0x22) reader.skipLeb();
  else if (op === 0x25 || op === 0x26) reader.skipLeb();
  else if (op >= 0x28 && op <= 0x3e) {
    reader.skipLeb();
    reader.skipLeb();
  } else if (op === 0x3f || op === 0x40) reader.byte();
  else if (op === 0x41 || op === 0x42) reader.skipLeb();
  else if (op === 0x43) reader.take(4);
  else if (op === 0x44) reader.take(8);
  else if (op === 0xd0) reader.skipLeb();
  else if (op === 0xfc) {
    const more = MORE[reader.u32()];
    if (more === undefined) throw unknownOp(op);
    for (let n = more; n > 0; n--) reader.skipLeb();
  } else if (!plain(op)) throw unknownOp(op);
}

/** Opcodes without immediates: control, parametric, numeric, sign extension, `ref.is_null`. */
function plain(op: number): boolean {
  return op <= 0x01 || op === 0x05 || op === 0x0b || op === 0x0f || op === 0x1a || op === 0x1b ||
    (op >= 0x45 && op <= 0xc4) || op === 0xd1;
}

function unknownOp(op: number): Fault {
  return new Fault("invalidInput", `Cannot join modules: opcode 0x${op.toString(16)} is not known`);
}

/** Opcodes 0xfc: `table.init`, `elem.drop`, `table.copy`, `table.grow`, `table.fill`. */
const TABLE: ReadonlySet<number | undefined> = new Set([12, 13, 14, 15, 17]);

/**
 * Whether a function can change a table: restoring memory and globals would then not restore the
 * instance.
 *
 * @throws Fault `invalidInput` as {@link renumberBody}
 */
export function changesTable(body: Uint8Array): boolean {
  const reader = makeReader(body);
  for (let groups = reader.u32(); groups > 0; groups--) {
    reader.u32();
    reader.byte();
  }
  while (!reader.done()) {
    const op = reader.byte();
    if (op === 0x26 || (op === 0xfc && TABLE.has(body[reader.at()]))) return true;
    if (op === 0x10 || op === 0xd2 || op === 0x23 || op === 0x24) reader.skipLeb();
    else if (op === 0x11) {
      reader.skipLeb();
      reader.skipLeb();
    } else skip(op, reader);
  }
  return false;
}

/**
 * A function's body (locals and instructions, as in the code section) with new indices.
 *
 * @throws Fault `invalidInput` for an instruction outside WebAssembly 2.0 without vectors
 */
export function renumberBody(body: Uint8Array, numbers: Numbering): Uint8Array {
  const reader = makeReader(body);
  const parts: (Uint8Array | readonly number[])[] = [];
  let from = 0;
  for (let groups = reader.u32(); groups > 0; groups--) {
    reader.u32();
    reader.byte();
  }
  while (!reader.done()) {
    const op = reader.byte();
    const number = moving(op, numbers);
    if (number === undefined) {
      skip(op, reader);
      continue;
    }
    parts.push(body.subarray(from, reader.at()), leb(number(reader.u32())));
    from = reader.at();
    if (op === 0x11) reader.skipLeb();
  }
  parts.push(body.subarray(from));
  return joined(parts);
}
