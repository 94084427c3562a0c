(* How reading ends where a text is not what it should be. *)

exception Refused of string

let refuse format = Printf.ksprintf (fun reason -> raise (Refused reason)) format
