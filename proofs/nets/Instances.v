(** Each checker accepts something: two threads and a lock, and a net that any number of tokens enters. *)
From Coq Require Import List NArith ZArith FMapPositive.
Import ListNotations.
From Palisade Require Import Net Maps Omega Downward Invariant Upward Run.
Local Open Scope N_scope.

(** Places: 1 idle, 2 inside, 3 the lock. Any number of threads is idle; the target is two threads inside. *)
Definition enter := {| pre := [(1%positive, 1); (3%positive, 1)]; post := [(2%positive, 1)] |}.
Definition leave := {| pre := [(2%positive, 1)]; post := [(1%positive, 1); (3%positive, 1)] |}.
Definition start : M.t count := M.add 1%positive Omega (M.add 3%positive (Fin 1) (M.empty _)).
Definition lock := {| transitions := [enter; leave]; initially := start; targets := [[(2%positive, 2)]] |}.

Definition weights_of_lock : M.t Z := M.add 2%positive 1%Z (M.add 3%positive 1%Z (M.empty _)).

Example lock_separator : ~ coverable lock.
Proof.
  apply check_separator_sound with (siphon := M.empty _) (rs := [{| weights := weights_of_lock; traps := [] |}]).
  reflexivity.
Qed.

Example lock_downward : ~ coverable lock.
Proof.
  apply check_downward_sound with
    (set := [start; M.add 1%positive Omega (M.add 2%positive (Fin 1) (M.empty _))])
    (hint := fun w => Some (match M.find 2 w with Some (Fin 1) => 2 | _ => 1 end)%positive).
  reflexivity.
Qed.

Example lock_upward : ~ coverable lock.
Proof.
  pose (two := M.add 2%positive 2 (M.empty N)).
  pose (one := M.add 2%positive 1 (M.add 3%positive 1 (M.empty N))).
  pose (none := M.add 3%positive 2 (M.empty N)).
  apply check_upward_sound with (siphon := M.empty _) (rs := []) (basis := [two; one; none])
    (hint := fun g => Some (if 2 <=? den g 2%positive then 1%positive
                    else if 2 <=? den g 3%positive then 3%positive else 2%positive)).
  reflexivity.
Qed.

(** With a second lock two threads get inside: one choice of how many are there, then the first transition twice. *)
Definition two_locks := {| transitions := [enter; leave];
  initially := M.add 1%positive Omega (M.add 3%positive (Fin 2) (M.empty _)); targets := [[(2%positive, 2)]] |}.

Example two_locks_run : coverable two_locks.
Proof.
  apply check_run_sound with (choice := M.add 1%positive 5 (M.empty N)) (fired := M.add 1%positive tt (M.empty _))
    (r := Repeat 2 (Fire 1)).
  reflexivity.
Qed.
