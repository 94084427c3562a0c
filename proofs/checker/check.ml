(* Evidence against its net: the subject, the form, and then what Coq has proved. *)
open Refuse
open Proved

let map_of number l = List.fold_left (fun m (p, x) -> PositiveMap.add (number p) x m) PositiveMap.empty l
let set_of number l = List.fold_left (fun s p -> PositiveMap.add (number p) () s) PositiveMap.empty l
let each f l = List.rev (List.rev_map f l)

let refutation number (weights, traps) =
  { weights = map_of number weights;
    traps = each (fun (q, z) -> { trap_places = each number q; multiplier = z }) traps }

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

type shown = Coverable | Uncoverable

(* What has been shown; a refusal otherwise. *)
let check (net : Net.t) (subject : Evidence.subject) claim =
  let problem = net.problem and places = Array.length net.places in
  if subject.place_count <> places || subject.transition_count <> net.transition_count then
    refuse "subject: the evidence is about %d places and %d transitions, the net has %d and %d" subject.place_count
      subject.transition_count places net.transition_count;
  let named_places, named_transitions = Evidence.mentioned claim in
  names "places" subject.named_places named_places (fun i -> net.places.(i)) places;
  names "transitions" subject.named_transitions named_transitions net.transition_name net.transition_count;
  let number p = net.numbers.(p) in
  let vectors l = each (map_of number) l and refutations l = each (refutation number) l in
  let is_proved, claim = match claim with
    | Evidence.Downward set ->
      let set = vectors set in
      check_downward problem set (Hints.downward set), Uncoverable
    | Upward (basis, siphon, given) ->
      let basis = vectors basis in
      check_upward problem (set_of number siphon) (refutations given) basis (Hints.upward basis), Uncoverable
    | Separator (siphon, given) -> check_separator problem (set_of number siphon) (refutations given), Uncoverable
    | Run (initial, firings) ->
      List.iter (fun (p, _) -> match PositiveMap.find (number p) problem.initially with
        | Some Omega -> ()
        | _ -> refuse "run: the tokens on place %d are not for the run to choose" p) initial;
      check_run problem (map_of number initial) (set_of Numbers.place named_transitions) (run_of firings), Coverable in
  if not is_proved then refuse "the proved checker rejects it";
  claim
