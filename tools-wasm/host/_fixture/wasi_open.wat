;; Wants to open a path.
(module
  (import "wasi_snapshot_preview1" "path_open"
    (func $open
      (param i32) (param i32) (param i32) (param i32) (param i32) (param i64) (param i64)
      (param i32) (param i32) (result i32)))
  (memory (export "memory") 1 1)
  (func (export "run") (result i32)
    (call $open
      (i32.const 3) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i64.const 0)
      (i64.const 0) (i32.const 0) (i32.const 0))))
