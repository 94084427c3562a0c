(* Evidence about nets, as CERTIFICATE.md has it: what it says about its subject, and what the checker is given. *)
open Refuse
open Proved

type file = { path : string; format : string; sha256 : string }

type subject = {
  input : file; query : file option; property : string option;
  place_count : int; transition_count : int;
  named_places : (int * string) list; named_transitions : (int * string) list }

(* Vectors keep the numbers as the evidence has them: places from 0. *)
type 'a vector = (int * 'a) list

type claim =
  | Downward of count vector list
  | Upward of n vector list * int list * (z vector * (int list * z) list) list
  | Separator of int list * (z vector * (int list * z) list) list
  | Run of n vector * (step * n) list
and step = Transition of int | Sequence of (step * n) list

(* ---- numbers ---- *)

(* The digits of a natural number in its one form: a JSON number while it fits [bits] bits, a string beyond. *)
let largest_unsigned = "18446744073709551615"
let largest_signed = "9223372036854775807"
let smallest_signed = "9223372036854775808"

let exceeds digits limit =
  let n = String.length digits and m = String.length limit in n > m || (n = m && compare digits limit > 0)

let check_text digits =
  if digits = "" || String.length digits > 20000 || digits.[0] = '0' then refuse "malformed evidence: no number in its form";
  String.iter (fun c -> if c < '0' || c > '9' then refuse "malformed evidence: no number in its form") digits

let natural = function
  | Json.Num digits when digits.[0] <> '-' && not (exceeds digits largest_unsigned) -> Numbers.n_of_digits digits
  | Json.Str digits ->
    check_text digits;
    if not (exceeds digits largest_unsigned) then refuse "malformed evidence: no number in its form";
    Numbers.n_of_digits digits
  | _ -> refuse "malformed evidence: no natural number"

let count = function Json.Str "*" -> Omega | j -> Fin (natural j)

let negated = function N0 -> Z0 | Npos p -> Zneg p

let integer j =
  let split digits =
    let n = String.length digits in
    if n > 0 && digits.[0] = '-' then true, String.sub digits 1 (n - 1) else false, digits in
  let within (minus, digits) = not (exceeds digits (if minus then smallest_signed else largest_signed)) in
  let read digits = let minus, digits = split digits in
    let n = Numbers.n_of_digits digits in if minus then negated n else Numbers.z_of_n n in
  match j with
  | Json.Num digits when digits <> "-0" && within (split digits) -> read digits
  | Json.Str digits ->
    if String.length digits > 20000 then refuse "malformed evidence: a number of too many digits";
    check_text (snd (split digits));
    if within (split digits) then refuse "malformed evidence: no number in its form";
    read digits
  | _ -> refuse "malformed evidence: no integer"

let index = function
  | Json.Num digits when digits.[0] <> '-' && not (exceeds digits "4294967295") -> int_of_string digits
  | _ -> refuse "malformed evidence: no number of a place or transition"

let size = function
  | Json.Num digits when digits.[0] <> '-' && String.length digits < 16 -> int_of_string digits
  | _ -> refuse "malformed evidence: no size"

let pair f g = function Json.Arr [ a; b ] -> (f a, g b) | _ -> refuse "malformed evidence: no pair"

let each f j = List.rev (List.rev_map f (Json.list j))

let vector f = each (pair index f)

(* ---- the parts ---- *)

let file j = match Json.fields [ "path"; "format"; "sha256" ] j with
  | [ path; format; sha256 ] -> { path = Json.string path; format = Json.string format; sha256 = Json.string sha256 }
  | _ -> assert false

let optional f = function Json.Null -> None | j -> Some (f j)

let subject j =
  match Json.fields [ "input"; "query"; "property"; "place_count"; "transition_count"; "places"; "transitions" ] j with
  | [ input; query; property; places; transitions; named_places; named_transitions ] ->
    { input = file input; query = optional file query; property = optional Json.string property;
      place_count = size places; transition_count = size transitions;
      named_places = each (pair index Json.string) named_places;
      named_transitions = each (pair index Json.string) named_transitions }
  | _ -> assert false

let refutation j = match Json.fields [ "weights"; "traps" ] j with
  | [ weights; traps ] -> vector integer weights, each (pair (each index) integer) traps
  | _ -> assert false

let proof = function
  | Json.Obj [ ("downward", j) ] -> Downward (each (vector count) (List.hd (Json.fields [ "markings" ] j)))
  | Json.Obj [ ("upward", j) ] ->
    (match Json.fields [ "basis"; "siphon"; "refutations" ] j with
     | [ basis; siphon; refutations ] ->
       Upward (each (vector natural) basis, each index siphon, each refutation refutations)
     | _ -> assert false)
  | Json.Obj [ ("separator", j) ] ->
    (match Json.fields [ "siphon"; "refutations" ] j with
     | [ siphon; refutations ] -> Separator (each index siphon, each refutation refutations)
     | _ -> assert false)
  | _ -> refuse "malformed evidence: a proof of no kind"

let rec step = function
  | Json.Arr l -> Sequence (each (pair step natural) (Json.Arr l))
  | j -> Transition (index j)

let run j = match Json.fields [ "initial"; "firings" ] j with
  | [ initial; firings ] -> Run (vector natural initial, each (pair step natural) firings)
  | _ -> assert false

let read text =
  let j = Json.parse text in
  let kind = match j with Json.Obj l -> List.assoc_opt "kind" l | _ -> None in
  let part, read_part = match kind with
    | Some (Json.Str "uncoverable") -> "proof", proof
    | Some (Json.Str "coverable") -> "run", run
    | Some (Json.Str kind) -> Query.unread "evidence of kind `%s` is not read" kind
    | _ -> refuse "malformed evidence: no kind" in
  match Json.fields [ "format"; "version"; "tool"; "kind"; "net"; part ] j with
  | [ format; version; tool; _; net; claim ] ->
    if format <> Json.Str "palisade/evidence" || version <> Json.Num "1" then refuse "malformed evidence: unknown format or version";
    ignore (Json.string tool);
    subject net, read_part claim
  | _ -> assert false

(* ---- form: what is listed ascends, without zeros ---- *)

let rec ascending = function a :: (b :: _ as rest) -> a < b && ascending rest | _ -> true

let check_set places = if not (ascending places) then refuse "form: places do not ascend"

let check_vector is_zero v =
  check_set (List.rev (List.rev_map fst v));
  if List.exists (fun (_, x) -> is_zero x) v then refuse "form: a place is listed with 0"

(* The places and transitions that a claim mentions, ascending. *)
let mentioned claim =
  let places = Hashtbl.create 100 and transitions = Hashtbl.create 100 in
  let note table i = Hashtbl.replace table i () in
  let note_vector v = List.iter (fun (p, _) -> note places p) v in
  let note_refutations = List.iter (fun (weights, traps) ->
    note_vector weights;
    List.iter (fun (q, _) -> List.iter (note places) q) traps) in
  let rec note_steps depth l =
    if depth > 64 then refuse "form: more than 64 sequences are inside each other";
    List.iter (fun (s, times) ->
      if times = N0 then refuse "form: a step 0 times";
      match s with
      | Transition t -> note transitions t
      | Sequence [] -> refuse "form: a sequence fires nothing"
      | Sequence l -> note_steps (depth + 1) l) l in
  let check_refutations = List.iter (fun (weights, traps) ->
    check_vector (fun z -> z = Z0) weights;
    List.iter (fun (q, _) -> check_set q) traps) in
  (match claim with
   | Downward set -> List.iter (fun w -> check_vector (fun c -> c = Fin N0) w; note_vector w) set
   | Upward (basis, siphon, refutations) ->
     List.iter (fun b -> check_vector (fun n -> n = N0) b; note_vector b) basis;
     check_set siphon; List.iter (note places) siphon;
     check_refutations refutations; note_refutations refutations
   | Separator (siphon, refutations) ->
     check_set siphon; List.iter (note places) siphon;
     check_refutations refutations; note_refutations refutations
   | Run (initial, firings) -> check_vector (fun n -> n = N0) initial; note_vector initial; note_steps 0 firings);
  let sorted table = List.sort compare (Hashtbl.fold (fun i () l -> i :: l) table []) in
  sorted places, sorted transitions
