;; Hides a second memory behind the first.
(module
  (memory (export "memory") 1 1)
  (memory $other 1 1)
  (func (export "run") (result i32) (i32.const 0)))
