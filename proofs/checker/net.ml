(* A net as it was read: the problem that the proofs speak about, and the names that its file gives. *)

type t = {
  problem : Proved.problem;
  numbers : Proved.place array;              (* the number that the problem has for place i, counted from 0 *)
  places : string array;                     (* its name *)
  transition_count : int;
  transition_name : int -> string }
