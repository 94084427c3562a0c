(* Coq's numbers from decimal digits and from OCaml's. *)
open Proved

let rec pos_of_int n =
  if n <= 1 then XH else if n land 1 = 1 then XI (pos_of_int (n lsr 1)) else XO (pos_of_int (n lsr 1))

let n_of_int n = if n = 0 then N0 else Npos (pos_of_int n)

let z_of_n = function N0 -> Z0 | Npos p -> Zpos p

(* The natural number that these digits write: halves of the text, so that long ones take few steps. *)
let rec n_of_digits digits =
  let length = String.length digits in
  if length <= 18 then n_of_int (int_of_string ("0u" ^ digits))
  else begin
    let low = length / 2 in
    let high = n_of_digits (String.sub digits 0 (length - low)) in
    N.add (N.mul high (power low)) (n_of_digits (String.sub digits (length - low) low)) end

(* 10 to the power of [e]. *)
and power e =
  if e = 0 then Npos XH
  else begin
    let half = power (e / 2) in
    let square = N.mul half half in
    if e land 1 = 1 then N.mul (n_of_int 10) square else square end

(* Place and transition [i], counted from 0. *)
let place i = pos_of_int (i + 1)

let rec int_of_pos = function XH -> 1 | XO p -> 2 * int_of_pos p | XI p -> 2 * int_of_pos p + 1
