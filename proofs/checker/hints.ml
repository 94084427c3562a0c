(* Where the proved checker looks. A wrong hint makes it reject, never accept. *)
open Proved

(* Markings as arrays of place and number, sorted by place; [max_int] is ω, and what is too large for an integer. *)
let small_enough p =
  let rec go p depth = depth < 61 && (match p with XH -> true | XO p | XI p -> go p (depth + 1)) in go p 0

let int_of_n = function N0 -> 0 | Npos p -> if small_enough p then Numbers.int_of_pos p else max_int - 1

let array_of fold value m =
  let entries = fold (fun p x l -> match value x with 0 -> l | n -> (Numbers.int_of_pos p, n) :: l) m [] in
  let a = Array.of_list entries in
  Array.sort (fun (p, _) (q, _) -> compare (p : int) q) a;
  a

let of_omega m = array_of PositiveMap.fold (function Omega -> max_int | Fin n -> int_of_n n) m
let of_tokens m = array_of PositiveMap.fold int_of_n m

(* Whether [a] has nowhere more than [b]. *)
let below a b =
  let la = Array.length a and lb = Array.length b in
  let rec go i j = i >= la || (j < lb && la - i <= lb - j &&
    let (p, n) = Array.unsafe_get a i and (q, k) = Array.unsafe_get b j in
    if p = q then n <= k && go (i + 1) (j + 1) else q < p && go i (j + 1)) in
  go 0 0

(* Markings as keys: all of their entries count. *)
module Exact = Hashtbl.Make (struct
  type t = (int * int) array
  let equal a b =
    let n = Array.length a in
    let rec go i = i = n || (let (p, k) = a.(i) and (q, l) = b.(i) in p = q && k = l && go (i + 1)) in
    n = Array.length b && go 0
  let hash a = Array.fold_left (fun h (p, n) -> (h * 31 + p * 7 + n) land 0x3fffffff) 17 a
end)

let list_of table key = try Hashtbl.find table key with Not_found -> []

(* A marking of the set that is above the given one: itself, or one of those with its rarest place. *)
let downward set =
  let by = Hashtbl.create 1000 and exact = Exact.create 1000 and any = ref None in
  List.iteri (fun i w ->
    let number = Numbers.place i and a = of_omega w in
    if !any = None then any := Some number;
    Exact.replace exact a number;
    Array.iter (fun (p, _) ->
      let n, l = try Hashtbl.find by p with Not_found -> 0, [] in
      Hashtbl.replace by p (n + 1, (number, a) :: l)) a) set;
  fun w ->
    let a = of_omega w in
    if a = [||] then !any else
    match Exact.find_opt exact a with
    | Some i -> Some i
    | None ->
      let rarest best (p, _) =
        let (n, _) as these = try Hashtbl.find by p with Not_found -> 0, [] in
        if n < fst best then these else best in
      let _, candidates = Array.fold_left rarest (max_int, []) a in
      Option.map fst (List.find_opt (fun (_, b) -> below a b) candidates)

(* An element of the basis that is below the given marking: one of those whose last place it marks. *)
let upward basis =
  let by = Hashtbl.create 1000 and empty = ref None in
  List.iteri (fun i b ->
    let number = Numbers.place i and a = of_tokens b in
    if a = [||] then empty := Some number
    else let p = fst a.(Array.length a - 1) in Hashtbl.replace by p ((number, a) :: list_of by p)) basis;
  fun g ->
    if !empty <> None then !empty else begin
      let a = of_tokens g in
      let rec go i =
        if i = Array.length a then None
        else match List.find_opt (fun (_, b) -> below b a) (list_of by (fst a.(i))) with
          | Some (number, _) -> Some number
          | None -> go (i + 1) in
      go 0 end
