(** The theorems about programs are about something: message passing is robust, and its evidence is accepted; store buffering
    is not robust, so that its net covers its target. *)
From Coq Require Import List NArith ZArith Bool FMapPositive Relations Permutation.
Import ListNotations.
From Palisade Require Import Net Maps LastEvent Runs Omega Downward Programs AttackNet Start Robust.
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

(** * Store buffering *)

Definition buffering := {|
  edges := [{| source := 1; does := Store 1 2 true; target := 2 |}; {| source := 2; does := Load 2 1 true; target := 3 |};
            {| source := 4; does := Store 2 2 true; target := 5 |}; {| source := 5; does := Load 1 1 true; target := 6 |}];
  memory := [(1, 1); (2, 1)]; fixed := [1; 4]; unbounded := [] |}.

Inductive event := ix | iy | wx | ry | wy | rx.
Definition po_b a b := match a, b with wx, ry | wy, rx => true | _, _ => false end.
Definition rf_b a b := match a, b with iy, ry | ix, rx => true | _, _ => false end.
Definition mo_b a b := match a, b with ix, wx | iy, wy => true | _, _ => false end.
Definition fr_b a b := match a, b with ry, wy | rx, wx => true | _, _ => false end.

Definition read_1 x : access := {| is_read := True; is_write := False; at_loc := x; read_val := 1; written := 1;
  acquires := true = true; releases := False |}.
Definition write_2 x : access := {| is_read := False; is_write := True; at_loc := x; read_val := 1; written := 2;
  acquires := False; releases := true = true |}.

Definition both_overlook : execution event := {|
  tid := fun a => match a with ix => First 1 | iy => First 2 | wx | ry => Thread 0 | wy | rx => Thread 1 end;
  lab := fun a => match a with ix => first_write 1 1 | iy => first_write 2 1 | wx => write_2 1 | ry => read_1 2
                             | wy => write_2 2 | rx => read_1 1 end;
  po := fun a b => po_b a b = true;
  rf := fun a b => rf_b a b = true;
  mo := fun a b => mo_b a b = true |}.

Definition listed := [ix; iy; wx; ry; wy; rx].

Lemma both_overlook_well_formed : well_formed both_overlook.
Proof.
  split; unfold reads, writes, place_of; cbn [tid lab po rf mo both_overlook];
    repeat match goal with |- forall a : event, _ => intros [] end; cbn; intros;
    try discriminate; auto; try congruence; try tauto.
Qed.

Lemma listed_graph : graph_of buffering [1; 4] both_overlook listed.
Proof.
  split.
  - intros l1 a l2 H. unfold listed in H.
    repeat (destruct l1 as [|? l1]; simpl in H; [injection H; intros; subst; split;
        [simpl; intuition discriminate | simpl; intros y [Hy|Hy]; split; intuition (subst; discriminate)]
      | injection H; clear H; intros H; intros; subst]); destruct l1; discriminate.
  - intros r I R. destruct r; cbn in R; try tauto; [exists iy|exists ix]; cbn; auto.
  - intros l1 a l2 H. unfold listed in H.
    destruct l1 as [|? l1]; simpl in H; [injection H as <- _|injection H as <- H].
    { right. exists 1. simpl. auto. }
    destruct l1 as [|? l1]; simpl in H; [injection H as <- _|injection H as <- H].
    { right. exists 1. simpl. auto. }
    destruct l1 as [|? l1]; simpl in H; [injection H as <- _|injection H as <- H].
    { exists 1. split; [reflexivity|].
      apply can_access with (e := {| source := 1; does := Store 1 2 true; target := 2 |}); simpl; auto. constructor. }
    destruct l1 as [|? l1]; simpl in H; [injection H as <- _|injection H as <- H].
    { exists 1. split; [reflexivity|].
      apply can_access with (e := {| source := 1; does := Store 1 2 true; target := 2 |}); simpl; auto.
      apply can_access with (e := {| source := 2; does := Load 2 1 true; target := 3 |}); simpl; auto. constructor. }
    destruct l1 as [|? l1]; simpl in H; [injection H as <- _|injection H as <- H].
    { exists 4. split; [reflexivity|].
      apply can_access with (e := {| source := 4; does := Store 2 2 true; target := 5 |}); simpl; auto. constructor. }
    destruct l1 as [|? l1]; simpl in H; [injection H as <- _|injection H as <- H].
    { exists 4. split; [reflexivity|].
      apply can_access with (e := {| source := 4; does := Store 2 2 true; target := 5 |}); simpl; auto.
      apply can_access with (e := {| source := 5; does := Load 1 1 true; target := 6 |}); simpl; auto 6. constructor. }
    destruct l1; discriminate.
Qed.

Lemma fr_is_fr P a b : frel event (rf both_overlook) (mo both_overlook) P a b -> fr_b a b = true.
Proof. intros (w & _ & R & M & _). cbn in *. destruct w, a, b; cbn in *; congruence. Qed.

Lemma listed_consistent : C11_consistent both_overlook listed.
Proof.
  (* there are no updates, so release sequences are single writes *)
  assert (Sy : forall P a b, sync location value event (lab both_overlook) (po both_overlook) (rf both_overlook) P a b ->
    rf_b a b = true).
  { intros P a b (g & w & r & (_ & _ & A) & S & R & _ & (_ & _ & B)).
    assert (Ac : forall c, accesses location value event (lab both_overlook) c)
      by (intros []; unfold accesses, isR, isW; cbn; tauto).
    destruct A as [[-> _]|[N _]]; [|destruct (N (Ac a))]. destruct B as [[<- _]|[N _]]; [|destruct (N (Ac b))].
    destruct S as [_ _|w u _ _ R' W]; [exact R|]. cbn in R'. unfold isW in W. destruct w, u; cbn in *; try discriminate; tauto. }
  assert (Hb : forall P a b, hb event (po both_overlook)
    (sync location value event (lab both_overlook) (po both_overlook) (rf both_overlook)) P a b -> po_b a b || rf_b a b = true).
  { intros P a b H. induction H as [x y (_ & _ & [C|C])|x y z _ I1 _ I2].
    - cbn in C. now rewrite C.
    - rewrite (Sy _ _ _ C). apply orb_true_r.
    - destruct x, y, z; cbn in *; congruence. }
  assert (Ec : forall P a b, eco event (rf both_overlook) (mo both_overlook) P a b -> rf_b a b || mo_b a b || fr_b a b = true).
  { intros P a b H. induction H as [x y (_ & _ & [C|[C|C]])|x y z _ I1 _ I2]; try apply fr_is_fr in C; cbn in *.
    - now rewrite C.
    - rewrite C, orb_true_r. reflexivity.
    - rewrite C. apply orb_true_r.
    - destruct x, y, z; cbn in *; congruence. }
  split; [|split].
  - intros x H. apply Hb in H. destruct x; discriminate.
  - intros x y H H'. apply Hb in H. apply Ec in H'. destruct x, y; discriminate.
  - intros w u _ _ R W. unfold writes in W. cbn in R, W. destruct w, u; cbn in *; try discriminate; tauto.
Qed.

Lemma listed_not_SC : ~ SC_consistent both_overlook listed.
Proof.
  intros S. apply (S wx). assert (A : forall a, events event listed a) by (intros []; cbn; tauto).
  apply t_trans with ry; [apply t_step; repeat split; auto; left; reflexivity|].
  apply t_trans with wy.
  { apply t_step. repeat split; auto. right; right; right. exists iy. repeat split; auto; discriminate. }
  apply t_trans with rx; [apply t_step; repeat split; auto; left; reflexivity|].
  apply t_step. repeat split; auto. right; right; right. exists ix. repeat split; auto; discriminate.
Qed.

Example buffering_not_robust : ~ robust buffering.
Proof.
  intros R. apply listed_not_SC.
  apply (R [1; 4]); auto using both_overlook_well_formed, listed_graph, listed_consistent.
  exists []. split; [reflexivity|easy].
Qed.

(** So the hypotheses of [uncoverable_robust] and of [not_robust_success] can be met. *)
Example buffering_coverable : ~ ~ coverable (net_of buffering).
Proof. intros N. apply buffering_not_robust. now apply uncoverable_robust. Qed.
