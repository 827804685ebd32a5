;; Asks the host, and logs, before it was called.
(module
  (kit)
  (func $start
    (call $log_info (call $block (text early)))
    (drop (call $ask (text {"fn":"fs.read","args":{"path":"desk/a"}}))))
  (start $start)
  (func (export "run") (result i32) (i32.const 0)))
