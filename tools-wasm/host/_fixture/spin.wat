;; Never comes back.
(module
  (kit)
  (func (export "run") (result i32)
    (loop $for_ever (br $for_ever))
    (i32.const 0)))
