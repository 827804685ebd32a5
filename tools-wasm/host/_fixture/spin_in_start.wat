;; Never comes back from its start function: no instance is ever made.
(module
  (kit)
  (func $start (loop $for_ever (br $for_ever)))
  (start $start)
  (func (export "run") (result i32) (i32.const 0)))
