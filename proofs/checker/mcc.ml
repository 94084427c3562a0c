(* Questions of the Model Checking Contest in XML, as far as they ask for lower bounds: `EF φ` has the targets of φ, `AG φ` those
   of its contrary. A question that asks for anything else is not read. *)
open Refuse
open Proved

let unread what = Query.unread "questions in XML with %s are not read" what

(* More alternatives than this are not read. *)
let most = 100_000

let only_child (e : Xml.t) = match e.children with
  | [ c ] when e.text = "" -> c
  | _ -> refuse "the question: `<%s>` has to hold one element" e.name

let several (e : Xml.t) =
  if e.text <> "" || e.children = [] then refuse "the question: `<%s>` has to hold elements" e.name;
  e.children

let leaf name (e : Xml.t) =
  if e.name <> name || e.children <> [] then refuse "the question: `<%s>` where `<%s>` is expected" e.name name;
  e.text

(* Bounds by place, ascending: of two on one place the larger. *)
let rec merge a b = match a, b with
  | [], l | l, [] -> l
  | ((p : int), m) :: a', (q, n) :: b' ->
    if p < q then (p, m) :: merge a' b
    else if q < p then (q, n) :: merge a b'
    else (p, if N.ltb m n then n else m) :: merge a' b'

let few l = if List.compare_length_with l most > 0 then unread "too many alternatives"; l
let both these those = few (List.concat_map (fun a -> List.rev (List.rev_map (merge a) those)) these)
let all_of parts = List.fold_left both [ [] ] parts
let any_of parts = few (List.concat parts)

(* The least ways in which places, listed as often as their tokens count, hold so many together. A place that counts most comes
   first: who completes the bound then has no more than is needed. *)
let shares places bound =
  let weight = Hashtbl.create 16 in
  List.iter (fun p -> Hashtbl.replace weight p (1 + Option.value ~default:0 (Hashtbl.find_opt weight p))) places;
  let weighted = List.sort (fun (p, v) (q, w) -> compare (w, p) (v, q)) (Hashtbl.fold (fun p w l -> (p, w) :: l) weight []) in
  let found = ref [] and count = ref 0 in
  let rec go left missing chosen = match left with
    | [] -> ()
    | (p, w) :: rest ->
      let enough = (missing + w - 1) / w in
      incr count;
      if !count > most || (rest <> [] && enough > most) then unread "too many alternatives";
      let share n = if n = 0 then chosen else merge [ p, Numbers.n_of_int n ] chosen in
      found := share enough :: !found;
      if rest <> [] then for n = 0 to enough - 1 do go rest (missing - n * w) (share n) done in
  go weighted bound [];
  !found

(* A side of a comparison: the places of which tokens count, and a constant. *)
let sum (ids : Pnml.ids) (e : Xml.t) = match e.name with
  | "integer-constant" ->
    (match Query.number (leaf "integer-constant" e) with
     | N0 -> [], 0
     | Npos p when Hints.small_enough p -> [], Numbers.int_of_pos p
     | _ -> unread "constants of more than 60 bits")
  | "tokens-count" ->
    List.map (fun c ->
      let i = leaf "place" c in
      match Hashtbl.find_opt ids.place_of i with Some p -> p | None -> refuse "the question: no place `%s`" i) (several e), 0
  | name -> unread (Printf.sprintf "`<%s>`" name)

let fireable (ids : Pnml.ids) (e : Xml.t) =
  let i = leaf "transition" e in
  match Hashtbl.find_opt ids.transition_of i with
  | Some t -> all_of (List.map (fun (p, n) -> [ [ Numbers.int_of_pos p - 1, n ] ]) t.pre)
  | None -> refuse "the question: no transition `%s`" i

(* The alternatives of a condition, or of its contrary. *)
let rec alternatives ids negated depth (e : Xml.t) =
  if depth > 500 then refuse "the question is nested too deeply";
  let parts () = List.map (alternatives ids negated (depth + 1)) (several e) in
  let always yes = if yes then [ [] ] else [] in
  match e.name with
  | "negation" -> alternatives ids (not negated) (depth + 1) (only_child e)
  | "conjunction" -> if negated then any_of (parts ()) else all_of (parts ())
  | "disjunction" -> if negated then all_of (parts ()) else any_of (parts ())
  | "true" -> always (not negated)
  | "false" -> always negated
  | "is-fireable" when not negated -> any_of (List.map (fireable ids) (several e))
  | "integer-le" ->
    let left, right = match several e with
      | [ l; r ] -> sum ids l, sum ids r
      | _ -> refuse "the question: a comparison has two sides" in
    (* small + by <= large *)
    let (small, low), (large, high), by = if negated then right, left, 1 else left, right, 0 in
    let missing = low + by - high in
    if small = [] then (if missing <= 0 then always true else shares large missing)
    else if large = [] && missing > 0 then always false
    else unread "an upper bound"
  | name -> unread (Printf.sprintf "`<%s>`" name)

(* Which marking is asked for: `EF` of a condition, or the contrary of `AG`; a negation in front only turns the answer round. *)
let rec asked (e : Xml.t) = match e.name with
  | "negation" -> asked (only_child e)
  | "exists-path" | "all-paths" ->
    let states = only_child e in
    let eventually = e.name = "exists-path" in
    if states.name <> (if eventually then "finally" else "globally") then unread (Printf.sprintf "`<%s>`" states.name);
    only_child states, not eventually
  | name -> unread (Printf.sprintf "`<%s>`" name)

let read (net : Net.t) ids property text =
  let root = Xml.parse text in
  if root.name <> "property-set" then refuse "the question: `<%s>` is no set of properties" root.name;
  let properties = List.filter (Xml.named "property") root.children in
  let name e = match Xml.child e "id" with Some i -> leaf "id" i | None -> "" in
  (* The first question of a property is its only one here: `ID#1`. *)
  let first = "#1" in
  let chosen = match property with
    | None -> properties
    | Some wanted ->
      let called w = List.filter (fun e -> name e = w) properties in
      match called wanted with
      | [] when String.ends_with ~suffix:first wanted ->
        called (String.sub wanted 0 (String.length wanted - String.length first))
      | l -> l in
  match chosen with
  | [ e ] ->
    let formula = match Xml.child e "formula" with Some f -> f | None -> refuse "the question: a property without formula" in
    let condition, negated = asked (only_child formula) in
    let targets = List.sort_uniq (List.compare (fun (p, m) (q, n) ->
      match compare (p : int) q with 0 -> if m = n then 0 else if N.ltb m n then -1 else 1 | c -> c)) (alternatives ids negated 0 condition) in
    List.map (List.map (fun (p, n) -> net.numbers.(p), n)) targets
  | [] -> unread "this property"
  | _ -> refuse "the question: more than one property"
