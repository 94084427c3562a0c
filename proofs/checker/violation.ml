(* From a run of a program's net that covers its target to the graph that the run stands for, with what its check needs. Nothing of
   this is trusted: the proved checker accepts only graphs of the program that the model allows and SC does not. *)
open Refuse
open Proved

let rec nat_of_int i = if i = 0 then O else S (nat_of_int (i - 1))
let rec int_of_nat ?(k = 0) = function O -> k | S m -> int_of_nat ~k:(k + 1) m

(* More steps than this are not followed, nor graphs with more events checked. *)
let most_steps = 100_000
let most_events = 200

(* The transitions of a run, one after the other. *)
let steps firings =
  let left = ref most_steps in
  let rec go times l = for _ = 1 to times do List.iter one l done
  and one (step, times) =
    let times = match times with
      | N0 -> 0
      | Npos p when Hints.small_enough p -> Numbers.int_of_pos p
      | Npos _ -> refuse "the run is too long" in
    match step with
    | Evidence.Sequence l -> go times l
    | Transition t ->
      left := !left - times;
      if !left < 0 then refuse "the run is too long";
      for _ = 1 to times do all := t :: !all done
  and all = ref [] in
  go 1 firings;
  List.rev !all

(* What happens in the run, as it is followed. *)
type followed = {
  mutable events : (deed * int option) list; mutable count : int;      (* the last one first, with where it reads from *)
  order : (location, int list) Hashtbl.t;                              (* modification order, the last write first *)
  mutable overwritten : int;                                           (* what the guessed write overwrites *)
  mutable is_last : bool }

let event f deed source =
  f.events <- (deed, source) :: f.events;
  f.count <- f.count + 1;
  f.count - 1

let writes f x i = Hashtbl.replace f.order x (i :: Hashtbl.find f.order x)

(* What a thread does with an edge: where [last], it overlooks the guessed write. *)
let act f n (e : edge) ~guessed ~last =
  let source x = Some (if last then f.overwritten else List.hd (Hashtbl.find f.order x)) in
  let write x source =
    let before = List.hd (Hashtbl.find f.order x) in
    let i = event f (Did (nat_of_int n, e.does)) source in
    if guessed then f.overwritten <- before;
    if last then begin
      let rec behind = function w :: l when w <> f.overwritten -> w :: behind l | l -> i :: l in
      Hashtbl.replace f.order x (behind (Hashtbl.find f.order x)) end
    else writes f x i in
  match e.does with
  | Internal -> ()
  | Load (x, _, _) -> ignore (event f (Did (nat_of_int n, e.does)) (source x))
  | Fence _ -> ignore (event f (Did (nat_of_int n, e.does)) None)
  | Store (x, _, _) -> write x None
  | Update (x, _, _, _, _) -> write x (source x)

let closure rel =
  let n = Array.length rel in
  for k = 0 to n - 1 do
    for i = 0 to n - 1 do
      if rel.(i).(k) then for j = 0 to n - 1 do if rel.(k).(j) then rel.(i).(j) <- true done
    done
  done;
  rel

(* A path from an event to itself, each step of which is in the matrix. *)
let cycle step from =
  let n = Array.length step in
  let before = Array.make n (-1) and waiting = Queue.create () in
  Queue.add from waiting;
  while not (Queue.is_empty waiting) && before.(from) < 0 do
    let i = Queue.pop waiting in
    for j = 0 to n - 1 do if step.(i).(j) && before.(j) < 0 then (before.(j) <- i; Queue.add j waiting) done
  done;
  if before.(from) < 0 then [] else
    let rec back i l = if i = from then i :: l else back before.(i) (i :: l) in
    back before.(from) []

(* Whether the run shows that the program is not robust. *)
let check ~tso program (net : Net.t) initial firings =
  let known = known_values program in
  let edges = List.concat_map (fun e -> List.map (fun t -> e, t) (edge_moves (Program_net.rules ~tso) known e)) program.edges |> Array.of_list in
  let others = List.concat_map (fun q ->
    match List.find_opt (fun (p, _) -> net.numbers.(p) = number_of (At (q, Apart))) initial with
    | Some (_, Npos k) when Hints.small_enough k && Numbers.int_of_pos k <= most_steps -> List.init (Numbers.int_of_pos k) (fun _ -> q)
    | Some (_, Npos _) -> refuse "the run is too long"
    | _ -> []) program.unbounded in
  (* Threads that take part, found by where they are. *)
  let starts = Array.of_list (program.fixed @ others) in
  let at = Array.map (fun q -> q, Apart) starts and paths = Array.map (fun _ -> []) starts in
  let f = { events = []; count = 0; order = Hashtbl.create 16; overwritten = 0; is_last = false } in
  List.iter (fun (x, v) -> Hashtbl.replace f.order x []; writes f x (event f (Wrote (x, v)) None)) program.memory;
  let step t =
    if not f.is_last then begin
      let e, moves = edges.(t) in
      let has l s = List.mem_assoc (number_of s) l in
      let mark q l = List.find_opt (fun m -> has l (At (q, m))) [ Apart; Joined; Suspects; Knows; Fenced ] in
      let m = match mark e.source moves.pre with Some m -> m | None -> refuse "the run moves no thread" in
      let n = ref 0 in
      while !n < Array.length at && at.(!n) <> (e.source, m) do incr n done;
      if !n = Array.length at then refuse "the run moves a thread that is not there";
      f.is_last <- has moves.post Success;
      act f !n e ~guessed:(has moves.pre Before && not (has moves.post Before)) ~last:f.is_last;
      paths.(!n) <- e :: paths.(!n);
      Option.iter (fun m' -> at.(!n) <- (e.target, m')) (mark e.target moves.post) end in
  List.iter step (steps firings);
  let n = f.count in
  if n > most_events then refuse "the run has more than %d events" most_events;
  let rank = Array.make n 0 in
  Hashtbl.iter (fun _ l -> List.iteri (fun k i -> rank.(i) <- k) (List.rev l)) f.order;
  let evs = List.mapi (fun i (deed_of, source) ->
    { deed_of; source_of = Option.map nat_of_int source; rank_of = nat_of_int rank.(i) }) (List.rev f.events) in
  let nats = Array.init n nat_of_int in
  let matrix g = Array.init n (fun i -> Array.init n (fun j -> g nats.(i) nats.(j))) in
  let relation m i j = m.(int_of_nat i).(int_of_nat j) in
  let writes i = test evs writing i in
  let updates = closure (matrix (fun w u -> rf_b evs w u && writes u)) in
  let sequences = relation (Array.mapi (fun g row -> Array.mapi (fun w b -> writes nats.(g) && (g = w || b)) row) updates) in
  let none _ _ = false in
  let r = { sequences; happens = none; ecos = none; common = none; coherent = none } in
  let paths_of g = relation (closure (matrix g)) in
  let r = if tso then { r with common = paths_of (ghb_step evs); coherent = paths_of (uni_step evs) }
    else { r with happens = paths_of (hb_step evs r); ecos = paths_of (eco_step evs) } in
  let circle = List.map (fun i -> nats.(i)) (cycle (matrix (sc_step evs)) (n - 1)) in
  (if tso then check_tso_violation else check_c11_violation) program others evs (Array.to_list (Array.map List.rev paths)) r circle
