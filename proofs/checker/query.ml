(* Questions in files of their own: what is asked are the targets, each a vector. *)
open Refuse

(* A question that another reader may answer, but not this one. *)
exception Unread of string

let unread format = Printf.ksprintf (fun what -> raise (Unread what)) format

(* Words of a text: what separates them, and which signs stand alone; comments as pairs of opening and closing texts. *)
let words ~signs ~comments text =
  let n = String.length text and i = ref 0 and out = ref [] in
  (* For each byte, whether a sign or a comment begins with it. *)
  let begins = Bytes.make 256 '\000' in
  let mark word = Bytes.set begins (Char.code word.[0]) '\001' in
  List.iter mark signs;
  List.iter (fun (opening, _) -> mark opening) comments;
  let at word = stands word text !i in
  let is_special () = Bytes.unsafe_get begins (Char.code (String.unsafe_get text !i)) <> '\000' in
  let blank c = c = ' ' || c = '\t' || c = '\n' || c = '\r' in
  let sign () = if is_special () then List.find_opt at signs else None in
  let comment () = if is_special () then List.find_opt (fun (opening, _) -> at opening) comments else None in
  let rec skip closing = if !i < n && not (at closing) then (incr i; skip closing) in
  while !i < n do
    match comment () with
    | Some (_, closing) ->
      skip closing;
      if !i < n then i := !i + String.length closing
      else if closing <> "\n" then refuse "a comment without end"
    | None ->
      if blank text.[!i] then incr i
      else match sign () with
        | Some s -> out := s :: !out; i := !i + String.length s
        | None ->
          let from = !i in
          while !i < n && not (blank text.[!i]) && not (is_special () && (sign () <> None || comment () <> None)) do incr i done;
          out := String.sub text from (!i - from) :: !out
  done;
  List.rev !out

let is_number w = w <> "" && String.for_all (fun c -> c >= '0' && c <= '9') w
let number w = if is_number w then Numbers.n_of_digits w else refuse "`%s` is no number" w

(* Lower bounds, all of which have to hold: the largest for each place. *)
let all_of bounds =
  let largest = Hashtbl.create 16 in
  List.iter (fun (p, k) -> match Hashtbl.find_opt largest p with
    | Some k' when not (Proved.N.ltb k' k) -> ()
    | _ -> Hashtbl.replace largest p k) bounds;
  List.sort (fun (a, _) (b, _) -> compare (Numbers.int_of_pos a) (Numbers.int_of_pos b))
    (Hashtbl.fold (fun p k l -> if k = Proved.N0 then l else (p, k) :: l) largest [])

(* Tokens, each of which is one more: each place once. *)
let sum_of tokens = Proved.M.fold (fun p n l -> (p, n) :: l) (Proved.sums tokens) []

let finder (net : Net.t) =
  let table = Hashtbl.create 1000 in
  Array.iteri (fun i name -> Hashtbl.replace table name net.numbers.(i)) net.places;
  fun name -> match Hashtbl.find_opt table name with Some p -> p | None -> refuse "the question: no place `%s`" name

(* `.prop`: states `s|l,l,…` of a shared state and threads, one a line. *)
let prop (net : Net.t) text =
  let place = finder net in
  let state prefix w = if is_number w then place (prefix ^ string_of_int (int_of_string w)), Proved.Npos XH else refuse "`%s` is no state" w in
  let rec locals = function
    | w :: "," :: rest -> let l, rest = locals rest in state "l" w :: l, rest
    | w :: rest -> [ state "l" w ], rest
    | [] -> refuse "the question ends early" in
  let rec go = function
    | s :: "|" :: rest -> let l, rest = locals rest in sum_of (state "s" s :: l) :: (if rest = [] then [] else go rest)
    | _ -> refuse "a state `s|l,…` is expected" in
  go (words ~signs:[ "|"; "," ] ~comments:[ "#", "\n"; "//", "\n" ] text)

(* `.formula` of LoLA, as far as it is `EF` of alternatives, each of which asks for lower bounds. *)
let formula (net : Net.t) text =
  let place = finder net in
  let rec conjunction = function
    | "(" :: rest ->
      (match conjunction rest with
       | bounds, ")" :: rest -> more bounds rest
       | _ -> unread "formulas with other parts than conjunctions of `place >= number` are not read")
    | name :: ">=" :: k :: rest when is_number k -> more [ place name, number k ] rest
    | _ -> unread "formulas with other parts than conjunctions of `place >= number` are not read"
  and more bounds = function
    | "AND" :: rest -> let others, rest = conjunction rest in bounds @ others, rest
    | rest -> bounds, rest in
  match words ~signs:[ "("; ")"; ">="; "<="; "!="; "="; ">"; "<"; "+"; "*"; ";"; ":"; "{"; "}"; "," ] ~comments:[] text with
  | "EF" :: ("(" :: _ as rest) ->
    (match conjunction rest with
     | bounds, ([] | [ ";" ]) -> [ all_of bounds ]
     | _ -> unread "formulas with other parts than conjunctions of `place >= number` are not read")
  | _ -> unread "formulas other than `EF ( … )` are not read"
