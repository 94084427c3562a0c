(* How reading ends where a text is not what it should be, and what stands in a text. *)

exception Refused of string

let refuse format = Printf.ksprintf (fun reason -> raise (Refused reason)) format

(* Whether a word stands in a text at a place; nothing is copied. *)
let stands word text at =
  let n = String.length word in
  let rec same i = i = n || (String.unsafe_get word i = String.unsafe_get text (at + i) && same (i + 1)) in
  at >= 0 && at + n <= String.length text && same 0
