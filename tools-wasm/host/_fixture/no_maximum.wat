;; Its memory may grow without end.
(module
  (memory (export "memory") 1)
  (func (export "run") (result i32) (i32.const 0)))
