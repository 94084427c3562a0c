(* Evidence against its net: the subject, the form, and then what Coq has proved. *)
open Refuse
open Proved

let map_of f l = List.fold_left (fun m (p, x) -> PositiveMap.add (Numbers.place p) (f x) m) PositiveMap.empty l
let set_of l = List.fold_left (fun s p -> PositiveMap.add (Numbers.place p) () s) PositiveMap.empty l
let each f l = List.rev (List.rev_map f l)

let refutation (weights, traps) =
  { weights = map_of Fun.id weights;
    traps = each (fun (q, z) -> { trap_places = each Numbers.place q; multiplier = z }) traps }

(* Steps as a balanced tree, so that the checker's recursion is no deeper than the steps are nested. *)
let rec run_of steps =
  let rec halve l n = if n = 1 then step (List.hd l), List.tl l
    else let a, l = halve l (n / 2) in let b, l = halve l (n - n / 2) in Then (a, b), l in
  if steps = [] then Stop else fst (halve steps (List.length steps))
and step (s, times) =
  let r = match s with Evidence.Transition t -> Fire (Numbers.place t) | Sequence l -> run_of l in
  match times with Npos XH -> r | Npos k -> Repeat (k, r) | N0 -> refuse "form: a step 0 times"

let names what given mentioned name count =
  if each fst given <> mentioned then refuse "form: the %s named are not those that the evidence mentions, ascending" what;
  List.iter (fun (i, stated) ->
    if i >= count || name i <> stated then refuse "subject: number %d of the %s is not named `%s`" i what stated) given

(* What has been shown; a refusal otherwise. *)
let check (net : Net.t) (subject : Evidence.subject) claim =
  let problem = net.problem and places = Array.length net.places in
  if subject.place_count <> places || subject.transition_count <> net.transition_count then
    refuse "subject: the evidence is about %d places and %d transitions, the net has %d and %d" subject.place_count
      subject.transition_count places net.transition_count;
  let named_places, named_transitions = Evidence.mentioned claim in
  names "places" subject.named_places named_places (fun i -> net.places.(i)) places;
  names "transitions" subject.named_transitions named_transitions net.transition_name net.transition_count;
  let is_proved, claim = match claim with
    | Evidence.Downward set ->
      let set = each (map_of Fun.id) set in
      check_downward problem set (Hints.downward set), "uncoverable"
    | Upward (basis, siphon, refutations) ->
      let basis = each (map_of Fun.id) basis in
      check_upward problem (set_of siphon) (each refutation refutations) basis (Hints.upward basis), "uncoverable"
    | Separator (siphon, refutations) ->
      check_separator problem (set_of siphon) (each refutation refutations), "uncoverable"
    | Run (initial, firings) ->
      let chosen = map_of Fun.id initial in
      List.iter (fun (p, _) -> match PositiveMap.find (Numbers.place p) problem.initially with
        | Some Omega -> ()
        | _ -> refuse "run: the tokens on place %d are not for the run to choose" p) initial;
      check_run problem chosen (set_of named_transitions) (run_of firings), "coverable" in
  if not is_proved then refuse "the proved checker rejects it";
  claim
