(** The theorems about programs are about something: message passing is robust, and its evidence is accepted; store buffering
    is not robust, so that its net covers its target. *)
From Coq Require Import List NArith FMapPositive.
Import ListNotations.
From Palisade Require Import Net Maps Omega Downward Programs AttackNet Start C11Rules Robust TSO TSORules StoreBuffers Drawn Violation.
Local Open Scope positive_scope.

(** * A location that any number of threads read and write *)

Definition one_location := {|
  edges := [{| source := 1; does := Store 1 2 true; target := 1 |}; {| source := 1; does := Load 1 1 true; target := 1 |};
            {| source := 1; does := Load 1 2 true; target := 1 |}; {| source := 1; does := Update 1 2 1 true true; target := 1 |}];
  memory := [(1, 1)]; fixed := []; unbounded := [1] |}.

(** The certificate: any number of threads that are apart and any number that know; none that has joined without knowing. *)
Definition ones (l : list spot) (m : M.t count) : M.t count :=
  fold_left (fun m s => M.add (number_of s) (Fin 1) m) l m.
Definition threads_of_it : M.t count := M.add (number_of (At 1 Apart)) Omega (M.empty _).
Definition quiet (v : value) := ones [Holds 1 v; Touched 1 Untouched; Says 1 Silent; Before] threads_of_it.
Definition behind (v u : value) (b : bool) :=
  ones [Holds 1 v; Touched 1 WasWritten; Says 1 Overlooked; Behind u b] (M.add (number_of (At 1 Knows)) Omega threads_of_it).
Definition closed : list (M.t count) :=
  [quiet 1; quiet 2; behind 1 1 false; behind 1 1 true; behind 1 2 false; behind 1 2 true;
   behind 2 1 false; behind 2 1 true; behind 2 2 false; behind 2 2 true].

Fixpoint position (l : list (M.t count)) (w : M.t count) (i : positive) : option positive :=
  match l with [] => None | u :: l' => if leq w u then Some i else position l' w (Pos.succ i) end.

Example one_location_robust : robust one_location.
Proof.
  apply downward_robust with (set := closed) (hint := fun w => position closed w 1); vm_compute; reflexivity.
Qed.

(** Under x86-TSO: any number of threads that know, and that have only stored. *)
Definition behind_stores (v u : value) (b : bool) := M.add (number_of (At 1 Fenced)) Omega (behind v u b).
Definition closed_stores : list (M.t count) :=
  [quiet 1; quiet 2; behind_stores 1 1 false; behind_stores 1 1 true; behind_stores 1 2 false; behind_stores 1 2 true;
   behind_stores 2 1 false; behind_stores 2 1 true; behind_stores 2 2 false; behind_stores 2 2 true].

Example one_location_TSO_robust : TSO_robust one_location.
Proof.
  apply downward_TSO_robust with (set := closed_stores) (hint := fun w => position closed_stores w 1); vm_compute; reflexivity.
Qed.

Example one_location_machine : machine_robust one_location.
Proof. exact (TSO_robust_machine _ (robust_TSO _ one_location_robust)). Qed.

(** * Store buffering *)

Definition buffering := {|
  edges := [{| source := 1; does := Store 1 2 true; target := 2 |}; {| source := 2; does := Load 2 1 true; target := 3 |};
            {| source := 4; does := Store 2 2 true; target := 5 |}; {| source := 5; does := Load 1 1 true; target := 6 |}];
  memory := [(1, 1); (2, 1)]; fixed := [1; 4]; unbounded := [] |}.

(** Each thread overlooks the other's store. *)
Definition overlooking : list event := [
  {| deed_of := Wrote 1 1; source_of := None; rank_of := 0 |};
  {| deed_of := Wrote 2 1; source_of := None; rank_of := 0 |};
  {| deed_of := Did 0 (Store 1 2 true); source_of := None; rank_of := 1 |};
  {| deed_of := Did 0 (Load 2 1 true); source_of := Some 1%nat; rank_of := 0 |};
  {| deed_of := Did 1 (Store 2 2 true); source_of := None; rank_of := 1 |};
  {| deed_of := Did 1 (Load 1 1 true); source_of := Some 0%nat; rank_of := 0 |}].

(** What each thread does, the relations, which are transitive as they are, and the cycle. *)
Definition both_paths := [firstn 2 (edges buffering); skipn 2 (edges buffering)].
Definition related : relations := {| sequences := Nat.eqb; happens := po_b overlooking; ecos := eco_step overlooking;
  common := eco_step overlooking; coherent := eco_step overlooking |}.
Definition around : list nat := [2; 3; 4; 5]%nat.

Example buffering_not_robust : ~ robust buffering.
Proof. apply (check_c11_violation_sound buffering [] overlooking both_paths related around). vm_compute. reflexivity. Qed.

Example buffering_not_TSO_robust : ~ TSO_robust buffering.
Proof. apply (check_tso_violation_sound buffering [] overlooking both_paths related around). vm_compute. reflexivity. Qed.

(** So the hypotheses of [uncoverable_robust] and of [not_robust_success] can be met. *)
Example buffering_coverable : ~ ~ coverable (net_of c11 buffering).
Proof. intros N. apply buffering_not_robust. now apply uncoverable_robust. Qed.
