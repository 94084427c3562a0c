(* The net of a program, as Coq defines it, with places numbered as they come, and as a text in `.spec`. *)
open Proved

let rules ~tso = if tso then tso_rules else c11

let of_program ~tso program : Net.t =
  let problem = net_of (rules ~tso) program in
  let numbers = ref M.empty and all = ref [] and count = ref 0 in
  let note p = match M.find p !numbers with
    | Some _ -> ()
    | None -> numbers := M.add p !count !numbers; all := p :: !all; incr count in
  let note_vector = List.iter (fun (p, _) -> note p) in
  M.fold (fun p _ () -> note p) problem.initially ();
  List.iter (fun t -> note_vector t.pre; note_vector t.post) problem.transitions;
  List.iter note_vector problem.targets;
  let numbers = Array.of_list (List.rev !all) in
  { problem; numbers; places = Array.init !count (Printf.sprintf "p%d");
    transition_count = List.length problem.transitions; transition_name = Printf.sprintf "t%d" }

let index (net : Net.t) =
  let table = ref M.empty in
  Array.iteri (fun i p -> table := M.add p i !table) net.numbers;
  fun p -> match M.find p !table with Some i -> i | None -> assert false

(* In this net all numbers of tokens are 0 or 1 in arcs, and small where it starts. *)
let text (net : Net.t) =
  let index = index net and b = Buffer.create 65536 in
  let name p = net.places.(index p) in
  let int = function N0 -> 0 | Npos p -> Numbers.int_of_pos p in
  let line format = Printf.bprintf b (format ^^ "\n") in
  line "vars %s" (String.concat " " (Array.to_list net.places));
  line "rules";
  List.iter (fun t ->
    let change = Hashtbl.create 8 in
    let add sign = List.iter (fun (p, n) ->
      Hashtbl.replace change (index p) ((try Hashtbl.find change (index p) with Not_found -> 0) + sign * int n)) in
    add (-1) t.pre; add 1 t.post;
    let changes = List.sort compare (Hashtbl.fold (fun p n l -> if n = 0 then l else (p, n) :: l) change []) in
    line "%s -> %s;" (String.concat ", " (List.map (fun (p, n) -> Printf.sprintf "%s >= %d" (name p) (int n)) t.pre))
      (String.concat ", " (List.map (fun (p, n) ->
        let x = net.places.(p) in Printf.sprintf "%s' = %s %c %d" x x (if n < 0 then '-' else '+') (abs n)) changes)))
    net.problem.transitions;
  line "init";
  line "%s" (String.concat ",\n" (Array.to_list (Array.mapi (fun i p ->
    match M.find p net.problem.initially with
    | Some Omega -> Printf.sprintf "%s >= 0" net.places.(i)
    | Some (Fin n) -> Printf.sprintf "%s = %d" net.places.(i) (int n)
    | None -> Printf.sprintf "%s = 0" net.places.(i)) net.numbers)));
  line "target";
  List.iter (fun g -> line "%s" (String.concat ", " (List.map (fun (p, n) -> Printf.sprintf "%s >= %d" (name p) (int n)) g)))
    net.problem.targets;
  Buffer.contents b
