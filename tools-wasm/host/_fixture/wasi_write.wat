;; Wants to write to a file descriptor.
(module
  (import "wasi_snapshot_preview1" "fd_write"
    (func $write (param i32) (param i32) (param i32) (param i32) (result i32)))
  (memory (export "memory") 1 1)
  (func (export "run") (result i32)
    (call $write (i32.const 1) (i32.const 0) (i32.const 0) (i32.const 0))))
