(* Threads as automata over the places between their accesses, with the values that locations may hold. *)
open Refuse

type instruction =
  | Set of int * Tpl.expression * int
  | Test of Tpl.expression * int * int
  | Choice of int list
  | Access of Tpl.statement * int
  | Stop

(* The instructions of a thread; the last is where it starts. *)
let compile (thread : Tpl.thread) =
  let code = Hashtbl.create 64 and labels = Hashtbl.create 8 in
  let add i = let at = Hashtbl.length code in Hashtbl.replace code at i; at in
  let reserve () = add Stop in
  let local x =
    let rec go i = function (y, _) :: l -> if x = y then i else go (i + 1) l | [] -> refuse "thread `%s` has no local `%s`" thread.name x in
    go 0 thread.locals in
  let label l = match Hashtbl.find_opt labels l with Some at -> at | None -> let at = reserve () in Hashtbl.add labels l at; at in
  let defined = Hashtbl.create 8 in
  let rec block statements next = List.fold_right statement statements next
  and statement s next = match s with
    | Tpl.Skip -> next
    | Assign (x, e) -> add (Set (local x, e, next))
    | Assume e -> add (Test (e, next, add Stop))
    | Goto l -> label l
    | Label l ->
      if Hashtbl.mem defined l then refuse "thread `%s`: label `%s` twice" thread.name l;
      Hashtbl.add defined l ();
      let at = label l in
      Hashtbl.replace code at (Choice [ next ]);
      at
    | If (e, yes, no) -> let y = block yes next in let n = block no next in add (Test (e, y, n))
    | While (e, b) ->
      let head = reserve () in
      let b = block b head in
      Hashtbl.replace code head (Test (e, b, next));
      head
    | One_of blocks -> let all = List.map (fun b -> block b next) blocks in add (Choice all)
    | _ -> add (Access (s, next)) in
  let start = block thread.body (add Stop) in
  Hashtbl.iter (fun l _ -> if not (Hashtbl.mem defined l) then refuse "thread `%s` has no label `%s`" thread.name l) labels;
  Array.init (Hashtbl.length code) (Hashtbl.find code), start, local

(* The locals that are read before they are written, at each instruction. *)
let live code local =
  let count = Array.length code in
  let sets = Array.make count [] in
  let rec read e set = match e with
    | Tpl.Number _ -> set
    | Local x -> let i = local x in if List.mem i set then set else i :: set
    | Not e -> read e set
    | Operation (_, a, b) -> read a (read b set) in
  let without x set = match x with Some x -> let i = local x in List.filter (fun j -> j <> i) set | None -> set in
  let union a b = List.fold_left (fun set i -> if List.mem i set then set else i :: set) a b in
  let before pc = match code.(pc) with
    | Set (x, e, next) -> read e (List.filter (fun j -> j <> x) sets.(next))
    | Test (e, yes, no) -> read e (union sets.(yes) sets.(no))
    | Choice all -> List.fold_left (fun set next -> union set sets.(next)) [] all
    | Stop -> []
    | Access (s, next) ->
      match s with
      | Tpl.Load (into, _, _) -> without into sets.(next)
      | Store (_, e, _) -> read e sets.(next)
      | Add (into, _, e, _, _) | Exchange (into, _, e, _, _) -> read e (without into sets.(next))
      | Cas (into, _, e, e', _, _) -> read e (read e' (without into sets.(next)))
      | Blocking_cas (_, e, e', _, _) -> read e (read e' sets.(next))
      | Wait (into, _, l, _) -> List.fold_left (fun set e -> read e set) (without into sets.(next)) l
      | _ -> sets.(next) in
  let changed = ref true in
  while !changed do
    changed := false;
    for pc = count - 1 downto 0 do
      let set = before pc in
      if List.length set > List.length sets.(pc) then (sets.(pc) <- set; changed := true)
    done
  done;
  sets

let rec value locals local = function
  | Tpl.Number n -> n
  | Local x -> locals.(local x)
  | Not e -> if value locals local e = 0 then 1 else 0
  | Operation (sign, a, b) ->
    let a = value locals local a and b = value locals local b in
    let truth c = if c then 1 else 0 in
    match sign with
    | "+" -> a + b | "-" -> a - b | "*" -> a * b
    | "/" | "%" when b = 0 -> refuse "a thread divides by 0"
    | "/" -> a / b | "%" -> a mod b
    | "<" -> truth (a < b) | "<=" -> truth (a <= b) | ">" -> truth (a > b) | ">=" -> truth (a >= b)
    | "==" -> truth (a = b) | "!=" -> truth (a <> b)
    | "&" -> a land b
    | "&&" -> truth (a <> 0 && b <> 0) | "||" -> truth (a <> 0 || b <> 0)
    | sign -> refuse "`%s` is no operation" sign

(* Where the edges of a program are collected. *)
type automata = {
  release_acquire : bool;                              (* each access of a location that is not plain acquires and releases *)
  greatest : int;
  places : (string, int) Hashtbl.t;                    (* locations, numbered from 1 *)
  plain : int list;                                    (* those with accesses that are not atomic *)
  may_hold : (int, (int, unit) Hashtbl.t) Hashtbl.t;   (* values that a location may hold *)
  states : (int * int * int array, int) Hashtbl.t;     (* states of threads, numbered from 1 *)
  mutable edges : (int * Proved.action * int) list;
  mutable count : int;                                 (* at most how many transitions the net has for these *)
  mutable grew : bool }

let most_states = 1 lsl 17
let most_transitions = 1 lsl 20

(* A thread may find a location in this many ways (AttackNet.v, [access_moves] and [last_moves]). *)
let ways = 60

let wrapped a n = let m = a.greatest + 1 in ((n mod m) + m) mod m
let values a x = Hashtbl.fold (fun v () l -> v :: l) (Hashtbl.find a.may_hold x) []
let note a x v =
  let held = Hashtbl.find a.may_hold x in
  if not (Hashtbl.mem held v) then (Hashtbl.add held v (); a.grew <- true)
let place a x = match Hashtbl.find_opt a.places x with Some p -> p | None -> refuse "there is no location `%s`" x

(* Values and locations as Coq's numbers; value v is number v + 1. *)
let coq_value v = Numbers.pos_of_int (v + 1)
let coq_place = Numbers.pos_of_int

(* The places of a thread's next accesses, after instructions without accesses; several where it may choose, none where it
   goes on for ever without one. *)
let most_steps = 1 lsl 16

let settle a code local pc locals =
  let seen = Hashtbl.create 8 and left = Stack.create () and found = ref [] in
  let visit pc locals =
    if not (Hashtbl.mem seen (pc, locals)) then begin
      if Hashtbl.length seen > most_steps then refuse "a thread does more than %d steps between two accesses" most_steps;
      Hashtbl.add seen (pc, locals) ();
      Stack.push (pc, locals) left end in
  visit pc locals;
  while not (Stack.is_empty left) do
    let pc, locals = Stack.pop left in
    match code.(pc) with
    | Set (x, e, next) ->
      let changed = Array.copy locals in
      changed.(x) <- wrapped a (value locals local e);
      visit next changed
    | Test (e, yes, no) -> visit (if value locals local e <> 0 then yes else no) locals
    | Choice all -> List.iter (fun next -> visit next locals) all
    | Access _ | Stop -> found := (pc, locals) :: !found
  done;
  !found

(* The accesses that a thread may do: the action, the local that gets a value, that value. *)
let accesses a local locals s =
  let eval e = wrapped a (value locals local e) in
  let strong x b = b || (a.release_acquire && not (List.mem x a.plain)) in
  let load x v acquire = Proved.Load (coq_place x, coq_value v, strong x acquire) in
  let update x v v' acquire release =
    note a x v'; Proved.Update (coq_place x, coq_value v, coq_value v', strong x acquire, strong x release) in
  match s with
  | Tpl.Load (into, x, o) -> let x = place a x in List.map (fun v -> load x v o, into, v) (values a x)
  | Store (x, e, o) ->
    let x = place a x and v = eval e in
    note a x v;
    [ Proved.Store (coq_place x, coq_value v, strong x o), None, 0 ]
  | Add (into, x, e, o, o') ->
    let x = place a x and n = eval e in
    List.map (fun v -> update x v (wrapped a (v + n)) o o', into, v) (values a x)
  | Exchange (into, x, e, o, o') -> let x = place a x and n = eval e in List.map (fun v -> update x v n o o', into, v) (values a x)
  | Cas (into, x, e, e', o, o') ->
    let x = place a x and before = eval e and after = eval e' in
    List.map (fun v -> (if v = before then update x v after o o' else load x v o), into, v) (values a x)
  | Blocking_cas (x, e, e', o, o') ->
    let x = place a x and before = eval e and after = eval e' in
    List.filter_map (fun v -> if v = before then Some (update x v after o o', None, v) else None) (values a x)
  | Wait (into, x, l, o) ->
    let x = place a x and wanted = List.map eval l in
    List.filter_map (fun v -> if List.mem v wanted then Some (load x v o, into, v) else None) (values a x)
  | Sc_fence when a.release_acquire -> let x = place a "" in [ update x 0 0 true true, None, 0 ]
  | Sc_fence -> Query.unread "fences for SC are not read"
  | Fence (o, o') -> [ Proved.Fence (o, o'), None, 0 ]
  | _ -> assert false

(* At most how many transitions of the net an edge has: a store may overwrite each value of its location. *)
let transitions a = function
  | Proved.Store (x, _, _) -> ways * List.length (values a (Numbers.int_of_pos x))
  | _ -> ways

(* All states and edges of a thread from its start; the states in which it starts. *)
let explore a kind (thread : Tpl.thread) =
  let code, start, local = compile thread in
  let live = live code local in
  let rec enter (pc, locals) =
    (* What a local holds that is not read again makes no difference. *)
    let locals = Array.mapi (fun i v -> if List.mem i live.(pc) then v else 0) locals in
    let key = kind, pc, locals in
    match Hashtbl.find_opt a.states key with
    | Some n -> n
    | None ->
      let n = Hashtbl.length a.states + 1 in
      if n > most_states then refuse "a program of more than %d states is not checked" most_states;
      Hashtbl.add a.states key n;
      Queue.add (n, pc, locals) waiting;
      n
  and waiting = Queue.create () in
  let starts = List.map enter (settle a code local start (Array.of_list (List.map (fun (_, v) -> wrapped a v) thread.locals))) in
  while not (Queue.is_empty waiting) do
    let n, pc, locals = Queue.pop waiting in
    match code.(pc) with
    | Access (s, next) ->
      List.iter (fun (action, into, v) ->
        let locals' = Array.copy locals in
        (match into with Some x -> locals'.(local x) <- v | None -> ());
        List.iter (fun state ->
          let target = enter state in
          a.count <- a.count + transitions a action;
          if a.count > most_transitions then
            refuse "a program with a net of more than %d transitions is not checked" most_transitions;
          a.edges <- (n, action, target) :: a.edges)
          (settle a code local next locals')) (accesses a local locals s)
    | _ -> ()
  done;
  starts

(* The program; with [any], any number of threads of each kind. *)
let program (p : Tpl.t) ~release_acquire ~any =
  let globals = p.globals @ p.plain in
  let plain = List.mapi (fun i _ -> List.length p.globals + i + 1) p.plain in
  let a = { release_acquire; greatest = p.greatest; places = Hashtbl.create 16; plain; may_hold = Hashtbl.create 16;
            states = Hashtbl.create 1000; edges = []; count = 0; grew = true } in
  let rec uses_fence = function
    | Tpl.Sc_fence -> release_acquire
    | If (_, b, c) -> List.exists uses_fence b || List.exists uses_fence c
    | While (_, b) -> List.exists uses_fence b
    | One_of l -> List.exists (List.exists uses_fence) l
    | _ -> false in
  let globals = globals @ (if List.exists (fun (t : Tpl.thread) -> List.exists uses_fence t.body) p.threads then [ "", 0 ] else []) in
  List.iteri (fun i (x, v) ->
    if Hashtbl.mem a.places x then refuse "location `%s` twice" x;
    Hashtbl.add a.places x (i + 1);
    Hashtbl.add a.may_hold (i + 1) (Hashtbl.create 8);
    note a (i + 1) (wrapped a v)) globals;
  (* Threads of the same text are of one kind. *)
  let kinds = ref [] in
  let kind (t : Tpl.thread) =
    let text = t.locals, t.body in
    match List.assoc_opt text !kinds with
    | Some k -> k
    | None -> let k = List.length !kinds in kinds := (text, k) :: !kinds; k in
  let threads = List.map (fun t -> kind t, t) p.threads in
  let starts = ref [] in
  while a.grew do
    a.grew <- false;
    Hashtbl.reset a.states;
    a.edges <- [];
    a.count <- 0;
    let known = Hashtbl.create 8 in
    starts := List.map (fun (k, t) ->
      match Hashtbl.find_opt known k with
      | Some s -> s
      | None -> let s = explore a k t in Hashtbl.add known k s; s) threads
  done;
  (* A thread that starts in one of several states starts in a state of its own, and moves there. *)
  let fresh = ref (Hashtbl.length a.states) and own = Hashtbl.create 8 in
  let start states = match states with
    | [ s ] -> s
    | _ -> match Hashtbl.find_opt own states with
      | Some s -> s
      | None ->
        incr fresh;
        Hashtbl.add own states !fresh;
        List.iter (fun s -> a.edges <- (!fresh, Proved.Internal, s) :: a.edges) states;
        !fresh in
  let starts = List.map (fun s -> Numbers.pos_of_int (start s)) !starts in
  { Proved.edges = List.rev_map (fun (q, action, q') ->
      { Proved.source = Numbers.pos_of_int q; does = action; target = Numbers.pos_of_int q' }) a.edges;
    memory = List.mapi (fun i (_, v) -> coq_place (i + 1), coq_value (wrapped a v)) globals;
    fixed = if any then [] else starts;
    unbounded = if any then List.sort_uniq compare starts else [] }
