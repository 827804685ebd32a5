import assert from "node:assert/strict";
import { join } from "node:path";
import { diskFault, lackOfRoom } from "./disk_fault.ts";

Deno.test("what this very system says of a place that is not to be written is a plain sentence with its path", () => {
  const place = join("/proc", "remit");
  let told: unknown;
  try {
    Deno.mkdirSync("/sys/remit");
  } catch (error) {
    told = error;
  }
  assert.match(String(diskFault(told)?.message), /^Cannot write or read "\/sys\/remit": \S/);
  const full = Object.assign(new Error(`No space left (os error 28): mkdir '${place}'`), {
    code: "ENOSPC",
  });
  assert.equal(diskFault(full)?.message, 'Cannot write or read "/proc/remit": the disk is full');
  assert.equal(diskFault(full)?.code, "unavailable");
});

Deno.test("a bug is no fault, whatever it says", () => {
  for (
    const bug of [
      new TypeError("Cannot read properties of undefined"),
      Object.assign(new Error("x"), { code: "EUNHEARD" }),
      { code: "ENOSPC", message: "not an error" },
      undefined,
    ]
  ) assert.equal(diskFault(bug), undefined);
});

Deno.test("a disk without room for bytes or for files is named, one with room is not", () => {
  const room = { freeBytes: 1e9, files: 1_000, freeFiles: 900 };
  assert.equal(lackOfRoom(room), undefined);
  assert.match(lackOfRoom({ ...room, freeBytes: 4_096 }) ?? "", /full: 0\.0 MB are free/);
  assert.match(lackOfRoom({ ...room, freeFiles: 0 }) ?? "", /no room for more files/);
  assert.equal(lackOfRoom({ ...room, files: 0, freeFiles: 0 }), undefined, "it counts none");
});
