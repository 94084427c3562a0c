(** Petri nets and coverability: what the checked claims say. A reader has to trust this file. *)
From Coq Require Import List NArith FMapPositive.
Import ListNotations.
Module M := PositiveMap.
Local Open Scope N_scope.

(** Places are numbered. A vector lists places with numbers; a place that is listed twice has the sum. *)
Definition place := positive.
Definition vec := list (place * N).
Definition marking := place -> N.

Fixpoint get (v : vec) (p : place) : N :=
  match v with
  | [] => 0
  | (q, n) :: v' => (if Pos.eqb p q then n else 0) + get v' p
  end.

(** [Omega] stands for any number. *)
Inductive count := Fin (n : N) | Omega.

Record transition := { pre : vec; post : vec }.

Record problem := {
  transitions : list transition;
  initially : M.t count;          (* places that are left out hold nothing *)
  targets : list vec }.

Definition oget (m : M.t count) (p : place) : count :=
  match M.find p m with Some c => c | None => Fin 0 end.

Definition initial (pb : problem) (m : marking) : Prop :=
  forall p, match oget (initially pb) p with Fin n => m p = n | Omega => True end.

Definition fires (t : transition) (m m' : marking) : Prop :=
  forall p, get (pre t) p <= m p /\ m' p = m p - get (pre t) p + get (post t) p.

Inductive reachable (pb : problem) : marking -> Prop :=
| reach_init m : initial pb m -> reachable pb m
| reach_fire m t m' :
    reachable pb m -> In t (transitions pb) -> fires t m m' -> reachable pb m'.

Definition covers (m : marking) (g : vec) : Prop := forall p, get g p <= m p.

Definition coverable (pb : problem) : Prop :=
  exists m g, reachable pb m /\ In g (targets pb) /\ covers m g.

(** * The principle behind all certificates: an invariant that no target's cover has *)

Theorem invariant_uncoverable (pb : problem) (I : marking -> Prop) :
  (forall m, initial pb m -> I m) ->
  (forall m t m', I m -> In t (transitions pb) -> fires t m m' -> I m') ->
  (forall m g, I m -> In g (targets pb) -> ~ covers m g) ->
  ~ coverable pb.
Proof.
  intros H0 H1 H2 (m & g & R & Hg & Hc).
  apply (H2 m g); auto. clear Hg Hc. induction R; eauto.
Qed.
