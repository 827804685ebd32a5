;; Two tables without a maximum.
(module
  (memory (export "memory") 1 1)
  (table 1 funcref)
  (table 1 funcref)
  (func (export "run") (result i32) (i32.const 0)))
