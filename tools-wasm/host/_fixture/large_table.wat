;; A table of ten million elements from the start.
(module
  (memory (export "memory") 1 1)
  (table 10000000 10000000 funcref)
  (func (export "run") (result i32) (i32.const 0)))
