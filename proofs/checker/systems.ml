(* Readers of thread transition systems (`.tts`) and of LoLA's nets (`.lola`); what is asked of them is in another file. *)
open Refuse
open Proved

let one = Npos XH

(* `N M` declares shared and local states; `s l -> s' l'` moves a thread, `s l +> s' l'` starts another one. Shared state 0
   holds at first, and any number of threads is at local state 0. *)
let tts text : Net.t =
  let left = ref (Query.words ~signs:[ "->"; "+>"; "~>"; "|"; "," ] ~comments:[ "#", "\n"; "//", "\n" ] text) in
  let next () = match !left with w :: rest -> left := rest; w | [] -> refuse "the system ends early" in
  let state bound =
    let w = next () in
    match if Query.is_number w then int_of_string_opt ("0u" ^ w) else None with
    | Some n when n < bound -> n
    | _ -> refuse "`%s` is no state" w in
  let shared = state 4_000_000 in
  let local = state (4_000_000 - shared) in
  let numbers = Array.init (shared + local) Numbers.place in
  let rec transitions all n =
    if !left = [] then List.rev all, n
    else begin
      let s = state shared in
      let l = shared + state local in
      let spawns = match next () with "->" -> false | "+>" -> true | w -> refuse "`%s` is no step of a place/transition net" w in
      let s' = state shared in
      let l' = shared + state local in
      let post = [ numbers.(s'), one; numbers.(l'), one ] in
      let post = if spawns then (numbers.(l), one) :: post else post in
      transitions ({ pre = [ numbers.(s), one; numbers.(l), one ]; post } :: all) (n + 1) end in
  let transitions, transition_count = transitions [] 0 in
  let initially = if shared > 0 then M.add numbers.(0) (Fin one) M.empty else M.empty in
  let initially = if local > 0 then M.add numbers.(shared) Omega initially else initially in
  { problem = { transitions; initially; targets = [] }; numbers;
    places = Array.init (shared + local) (fun i -> if i < shared then Printf.sprintf "s%d" i else Printf.sprintf "l%d" (i - shared));
    transition_count; transition_name = Printf.sprintf "t%d" }

let keywords = [ "PLACE"; "MARKING"; "TRANSITION"; "CONSUME"; "PRODUCE"; "SAFE"; "STRONG"; "WEAK"; "FAIR"; "NET" ]

let lola text : Net.t =
  let left = ref (Query.words ~signs:[ ","; ";"; ":"; "("; ")"; "}" ] ~comments:[ "{", "}"; "//", "\n" ] text) in
  let peek () = match !left with w :: _ -> w | [] -> "" in
  let next () = match !left with w :: rest -> left := rest; w | [] -> refuse "the net ends early" in
  let accept w = if peek () = w then (ignore (next ()); true) else false in
  let expect w = let v = next () in if v <> w then refuse "the net: expected `%s`, found `%s`" w v in
  let name () =
    let w = next () in
    if List.mem w keywords || List.mem w [ ","; ";"; ":"; "("; ")"; "}" ] then refuse "the net: `%s` is no name" w;
    w in
  let places = Hashtbl.create 1000 and names = ref [] in
  let rec declarations () =
    if accept "SAFE" then ((if peek () <> ":" then ignore (Query.number (next ()))); expect ":");
    let w = name () in
    if Hashtbl.mem places w then refuse "the net: place `%s` twice" w;
    Hashtbl.add places w (Numbers.place (Hashtbl.length places));
    names := w :: !names;
    if accept "," then declarations () else if accept ";" && peek () <> "MARKING" then declarations () in
  ignore (accept "NET");
  expect "PLACE";
  if not (accept ";") then declarations ();
  let list () =
    let rec go before =
      let w = name () in
      let p = match Hashtbl.find_opt places w with Some p -> p | None -> refuse "the net: no place `%s`" w in
      let all = (p, if accept ":" then Query.number (next ()) else one) :: before in
      if accept "," then go all else (expect ";"; List.rev all) in
    if accept ";" then [] else go [] in
  expect "MARKING";
  let initially = M.fold (fun p n m -> if n = N0 then m else M.add p (Fin n) m)
    (List.fold_left (fun m (p, n) -> M.add p (N.add (match M.find p m with Some k -> k | None -> N0) n) m) M.empty (list ())) M.empty in
  let known = Hashtbl.create 1000 and named = ref [] and transitions = ref [] in
  while accept "TRANSITION" do
    let w = name () in
    if Hashtbl.mem known w then refuse "the net: transition `%s` twice" w;
    Hashtbl.add known w ();
    named := w :: !named;
    if accept "STRONG" || accept "WEAK" then expect "FAIR";
    expect "CONSUME";
    let pre = list () in
    expect "PRODUCE";
    let post = list () in
    let some = List.filter (fun (_, n) -> n <> N0) in
    transitions := { pre = some pre; post = some post } :: !transitions
  done;
  if !left <> [] then refuse "the net: `%s` is not expected" (peek ());
  let named = Array.of_list (List.rev !named) in
  { problem = { transitions = List.rev !transitions; initially; targets = [] };
    numbers = Array.init (Hashtbl.length places) Numbers.place;
    places = Array.of_list (List.rev !names);
    transition_count = Array.length named; transition_name = Array.get named }
