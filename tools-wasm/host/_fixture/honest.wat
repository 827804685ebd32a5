;; What the other tests need: says well, hands its input on, counts its calls.
(module
  (kit)
  (global $calls (mut i32) (i32.const 0))
  (func (export "run") (result i32)
    (call $say (text {"ok":true,"value":"well"}))
    (i32.const 0))
  ;; Gives the input back.
  (func (export "echo") (result i32)
    (call $give (call $input))
    (i32.const 0))
  ;; Asks the host what the input says, and gives the answer.
  (func (export "forward") (result i32)
    (call $give (call $host_call (call $input)))
    (i32.const 0))
  ;; As many letters as it has been called before.
  (func (export "count") (result i32)
    (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
    (call $output_set
      (call $block (text aaaaaaaaaa))
      (i64.extend_i32_u (global.get $calls)))
    (i32.const 0))
  ;; Counts too, and traps.
  (func (export "trap") (result i32)
    (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
    (call $error_set (call $block (text last words)))
    (unreachable))
  ;; Says that it failed, as ordinary kits do.
  (func (export "fail") (result i32)
    (call $error_set (call $block (text no such luck)))
    (i32.const 1))
  (func (export "fail_silently") (result i32)
    (call $say (text not the result))
    (i32.const 7))
  (func (export "log") (result i32)
    (call $log_info (call $input))
    (call $say (text logged))
    (i32.const 0)))
