(* A net as it was read: the problem that the proofs speak about, and the names that its file gives. *)

type t = {
  problem : Proved.problem;
  places : string array;                     (* names; place i, counted from 0, is number i + 1 of the problem *)
  transition_count : int;
  transition_name : int -> string }
