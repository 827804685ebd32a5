;; Wants what is not there.
(module
  (import "env" "system" (func $system (param i32) (result i32)))
  (memory (export "memory") 1 1)
  (func (export "run") (result i32) (call $system (i32.const 0))))
