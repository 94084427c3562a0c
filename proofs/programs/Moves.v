(** Firing in a program's net, in terms of configurations: threads, memory, and what is noted about locations. *)
From Coq Require Import List NArith Lia Bool Permutation FMapPositive.
Import ListNotations.
From Palisade Require Import Net Maps Programs AttackNet.
Local Open Scope N_scope.

(** * Tokens are counted *)

Definition amount (l : list spot) : marking := get (tokens l).
Definition one (s : spot) (p : place) : N := if Pos.eqb p (number_of s) then 1 else 0.

Lemma amount_nil p : amount [] p = 0.
Proof. reflexivity. Qed.

Lemma amount_cons s l p : amount (s :: l) p = one s p + amount l p.
Proof. unfold amount, tokens. rewrite !images_map. reflexivity. Qed.

Lemma amount_app a b p : amount (a ++ b) p = amount a p + amount b p.
Proof. induction a as [|s a IH]; simpl; [reflexivity|]. rewrite !amount_cons, IH. lia. Qed.

Lemma amount_moves_pre a b p : get (pre (moves a b)) p = amount a p.
Proof. reflexivity. Qed.
Lemma amount_moves_post a b p : get (post (moves a b)) p = amount b p.
Proof. reflexivity. Qed.

Lemma amount_perm a b p : Permutation a b -> amount a p = amount b p.
Proof. induction 1; rewrite ?amount_cons; lia. Qed.

(** * Configurations *)

Definition upd {A} (f : location -> A) (x : location) (a : A) : location -> A :=
  fun y => if Pos.eqb y x then a else f y.

Lemma upd_same {A} (f : location -> A) x a : upd f x a x = a.
Proof. unfold upd. now rewrite Pos.eqb_refl. Qed.
Lemma upd_other {A} (f : location -> A) x a y : y <> x -> upd f x a y = f y.
Proof. unfold upd. destruct (Pos.eqb_spec y x); congruence. Qed.

Fixpoint set_nth {A} (n : nat) (a : A) (l : list A) : list A :=
  match l, n with
  | [], _ => []
  | _ :: l', O => a :: l'
  | b :: l', S n' => b :: set_nth n' a l'
  end.

Lemma nth_set_same {A} (l : list A) : forall n a b, nth_error l n = Some b -> nth_error (set_nth n a l) n = Some a.
Proof. induction l as [|c l IH]; intros [|n] a b H; simpl in *; try discriminate; eauto. Qed.
Lemma nth_set_other {A} (l : list A) : forall n a i, i <> n -> nth_error (set_nth n a l) i = nth_error l i.
Proof.
  induction l as [|c l IH]; intros [|n] a [|i] D; simpl; try reflexivity; try congruence. apply IH. congruence.
Qed.

Definition at_spot (t : state * mark) : spot := At (fst t) (snd t).
Definition location_spots (mem : location -> value) (lev : location -> level) (msg : location -> message) (x : location) :=
  [Holds x (mem x); Touched x (lev x); Says x (msg x)].

Lemma threads_split ths n q m : nth_error ths n = Some (q, m) ->
  exists other, (forall p, amount (map at_spot ths) p = one (At q m) p + other p) /\
    forall q' m' p, amount (map at_spot (set_nth n (q', m') ths)) p = one (At q' m') p + other p.
Proof.
  revert n. induction ths as [|t ths IH]; intros [|n] H; simpl in H; try discriminate.
  - inversion H. subst. exists (amount (map at_spot ths)). split; intros; simpl; now rewrite amount_cons.
  - destruct (IH n H) as (other & A & B). exists (fun p => one (at_spot t) p + other p).
    split; intros; simpl; rewrite amount_cons, ?A, ?B; lia.
Qed.

Lemma spots_same mem lev msg x v l s xs : ~ In x xs -> forall p,
  amount (flat_map (location_spots (upd mem x v) (upd lev x l) (upd msg x s)) xs) p =
  amount (flat_map (location_spots mem lev msg) xs) p.
Proof.
  intros N p. induction xs as [|y xs IH]; auto. simpl. rewrite !amount_cons, IH by (simpl in N; tauto).
  assert (y <> x) by (intros ->; simpl in N; tauto). now rewrite !upd_other.
Qed.

Lemma locations_split locs x mem lev msg : NoDup locs -> In x locs ->
  exists other,
    (forall p, amount (flat_map (location_spots mem lev msg) locs) p =
       one (Holds x (mem x)) p + one (Touched x (lev x)) p + one (Says x (msg x)) p + other p) /\
    forall v l s p, amount (flat_map (location_spots (upd mem x v) (upd lev x l) (upd msg x s)) locs) p =
       one (Holds x v) p + one (Touched x l) p + one (Says x s) p + other p.
Proof.
  induction locs as [|y locs IH]; intros ND I; [easy|]. inversion ND; subst.
  destruct (Pos.eq_dec y x) as [->|D].
  - exists (amount (flat_map (location_spots mem lev msg) locs)). split; intros.
    + simpl. rewrite !amount_cons. lia.
    + simpl. rewrite !amount_cons, !upd_same, spots_same by auto. lia.
  - destruct I as [I|I]; [congruence|]. destruct (IH H2 I) as (other & A & B).
    exists (fun p => amount (location_spots mem lev msg y) p + other p). split; intros.
    + simpl. unfold location_spots at 2. rewrite !amount_cons, A, amount_nil. lia.
    + simpl. unfold location_spots at 2. rewrite !amount_cons, B, amount_nil, !upd_other by auto. lia.
Qed.

(** * Steps of the net *)

Section Moves.
  Variable rl : rules.
  Variable P : program.
  Notation locs := (map fst (memory P)).
  Hypothesis distinct : NoDup locs.

  Definition spots ths mem lev msg (control : list spot) : list spot :=
    map at_spot ths ++ flat_map (location_spots mem lev msg) locs ++ control.

  Definition reach ths mem lev msg control : Prop := reachable (net_of rl P) (amount (spots ths mem lev msg control)).

  Lemma amount_spots ths mem lev msg control p : amount (spots ths mem lev msg control) p =
    amount (map at_spot ths) p + amount (flat_map (location_spots mem lev msg) locs) p + amount control p.
  Proof. unfold spots. rewrite !amount_app. lia. Qed.

  (** What an edge does where memory holds [v]: whether it reads, writes, acquires and releases, and what it leaves. *)
  Inductive performs : action -> bool -> bool -> bool -> bool -> location -> value -> value -> Prop :=
  | performs_load x v a : performs (Load x v a) true false a false x v v
  | performs_store x v v' r : In v (values_of P x) -> performs (Store x v' r) false true false r x v v'
  | performs_update x v v' a r : performs (Update x v v' a r) true true a r x v v'.

  Lemma edge_in e t : In e (edges P) -> In t (edge_moves rl (known_values P) e) -> In t (transitions (net_of rl P)).
  Proof. intros. simpl. rewrite collect_flat_map. apply in_flat_map. eauto. Qed.

  Lemma access_in e r w ac re x v v' t : In e (edges P) -> performs (does e) r w ac re x v v' ->
    In t (access_moves rl r w ac re x v v' (source e) (target e)) -> In t (transitions (net_of rl P)).
  Proof.
    intros Ie Pf It. apply edge_in with e; auto. unfold edge_moves.
    inversion Pf; subst; apply in_or_app || apply in_flat_map; auto.
    exists v. split; auto. apply in_or_app. auto.
  Qed.

  Lemma fire ths mem lev msg control ths' mem' lev' msg' control' a b :
    reach ths mem lev msg control -> In (moves a b) (transitions (net_of rl P)) ->
    (forall p, exists rest, amount (spots ths mem lev msg control) p = amount a p + rest /\
       amount (spots ths' mem' lev' msg' control') p = amount b p + rest) ->
    reach ths' mem' lev' msg' control'.
  Proof.
    intros R I H. eapply reach_fire; [exact R|exact I|]. intros p. rewrite amount_moves_pre, amount_moves_post.
    destruct (H p) as (rest & -> & ->). lia.
  Qed.

  Lemma internal_step ths mem lev msg control n q m e : reach ths mem lev msg control ->
    nth_error ths n = Some (q, m) -> In e (edges P) -> does e = Internal -> source e = q ->
    reach (set_nth n (target e, m) ths) mem lev msg control.
  Proof.
    intros R Hn Ie De <-. destruct (threads_split _ _ _ _ Hn) as (other & A & B).
    eapply fire with (a := [At (source e) m]) (b := [At (target e) m]); [exact R| |].
    - apply edge_in with e; auto. unfold edge_moves. rewrite De. apply in_map_iff. exists m. split; auto.
      destruct m; simpl; auto 6.
    - intros p. exists (other p + amount (flat_map (location_spots mem lev msg) locs) p + amount control p).
      rewrite !amount_spots, A, B, !amount_cons, amount_nil. lia.
  Qed.

  Lemma fence_step ths mem lev msg control n q m e a r : reach ths mem lev msg control ->
    nth_error ths n = Some (q, m) -> In e (edges P) -> does e = Fence a r -> source e = q ->
    reach (set_nth n (target e, fence_mark rl a r m) ths) mem lev msg control.
  Proof.
    intros R Hn Ie De <-. destruct (threads_split _ _ _ _ Hn) as (other & A & B).
    eapply fire with (a := [At (source e) m]) (b := [At (target e) (fence_mark rl a r m)]); [exact R| |].
    - apply edge_in with e; auto. unfold edge_moves. rewrite De. apply in_map_iff. exists m. split; auto.
      destruct m; simpl; auto 6.
    - intros p. exists (other p + amount (flat_map (location_spots mem lev msg) locs) p + amount control p).
      rewrite !amount_spots, A, B, !amount_cons, amount_nil. lia.
  Qed.

  (** The three kinds of accesses, by what is noted about the location. *)
  Lemma access_step ths mem lev msg n e m r w ac re x v v' control m' l s control' a b :
    reach ths mem lev msg control ->
    nth_error ths n = Some (source e, m) -> In e (edges P) -> performs (does e) r w ac re x v v' -> In x locs -> mem x = v ->
    In (moves a b) (access_moves rl r w ac re x v v' (source e) (target e)) ->
    (forall p, exists rest,
       one (At (source e) m) p + (one (Holds x v) p + one (Touched x (lev x)) p + one (Says x (msg x)) p) + amount control p =
         amount a p + rest /\
       one (At (target e) m') p + (one (Holds x v') p + one (Touched x l) p + one (Says x s) p) + amount control' p =
         amount b p + rest) ->
    reach (set_nth n (target e, m') ths) (upd mem x v') (upd lev x l) (upd msg x s) control'.
  Proof.
    intros R Hn Ie Pf Ix Mx It H. destruct (threads_split _ _ _ _ Hn) as (other & A & B).
    destruct (locations_split locs x mem lev msg distinct Ix) as (other' & C & D).
    eapply fire with (a := a) (b := b); [exact R|eapply access_in; eauto|].
    intros p. destruct (H p) as (rest & E1 & E2). exists (rest + other p + other' p).
    rewrite !amount_spots, A, B, C, D, Mx. lia.
  Qed.

  Lemma before_step ths mem lev msg n e r w ac re x v v' :
    reach ths mem lev msg [Before] -> nth_error ths n = Some (source e, Apart) -> In e (edges P) ->
    performs (does e) r w ac re x v v' -> In x locs -> mem x = v ->
    reach (set_nth n (target e, Apart) ths) (upd mem x v') (upd lev x (lev x)) (upd msg x (msg x)) [Before].
  Proof.
    intros R Hn Ie Pf Ix Mx. eapply access_step; eauto.
    - unfold access_moves. left. reflexivity.
    - intros p. exists (one (Touched x (lev x)) p + one (Says x (msg x)) p). rewrite !amount_cons, amount_nil. lia.
  Qed.

  Lemma guess_step ths mem lev msg n e r ac re x v v' :
    reach ths mem lev msg [Before] -> nth_error ths n = Some (source e, Apart) -> In e (edges P) ->
    performs (does e) r true ac re x v v' -> In x locs -> mem x = v -> lev x = Untouched -> msg x = Silent ->
    reach (set_nth n (target e, guess_mark rl r) ths) (upd mem x v') (upd lev x WasWritten) (upd msg x Overlooked) [Behind v r].
  Proof.
    intros R Hn Ie Pf Ix Mx Lx Sx. eapply access_step; eauto.
    - unfold access_moves. right. left. reflexivity.
    - intros p. exists 0. rewrite Lx, Sx, !amount_cons, amount_nil. lia.
  Qed.

  Lemma after_step ths mem lev msg n e m r w ac re x v v' control :
    In (msg x) (told rl) -> reach ths mem lev msg control -> nth_error ths n = Some (source e, m) -> In e (edges P) ->
    performs (does e) r w ac re x v v' -> In x locs -> mem x = v -> joins w m (lev x) = true ->
    reach (set_nth n (target e, access_mark rl r w ac m (msg x)) ths) (upd mem x v') (upd lev x (touch w (lev x)))
      (upd msg x (passing rl r w re m (access_mark rl r w ac m (msg x)) (msg x))) control.
  Proof.
    intros Tl R Hn Ie Pf Ix Mx J. eapply access_step; eauto.
    - unfold access_moves. right. apply in_or_app. right. apply in_flat_map. exists m. split; [destruct m; simpl; auto 6|].
      apply in_flat_map. exists (lev x). split; [destruct (lev x); simpl; auto|]. rewrite J.
      apply in_map_iff. exists (msg x). auto.
    - intros p. exists (amount control p). rewrite !amount_cons, amount_nil. lia.
  Qed.

  (** The last event covers the target. *)
  Lemma last_step wr ths mem lev msg n q m x v u : reach ths mem lev msg [Behind v u] ->
    nth_error ths n = Some (q, m) -> In m (last_marks rl wr) -> In x locs -> msg x = Overlooked ->
    (forall t, In t (last_moves rl wr q x v u) -> In t (transitions (net_of rl P))) -> coverable (net_of rl P).
  Proof.
    intros R Hn Hm Ix Sx It. destruct (threads_split _ _ _ _ Hn) as (other & A & B).
    destruct (locations_split locs x mem lev msg distinct Ix) as (other' & C & D).
    exists (fun p => one Success p + other p + one (Holds x (mem x)) p + one (Touched x (lev x)) p + other' p), (tokens [Success]).
    split; [|split].
    - eapply reach_fire with (t := moves [At q m; Says x Overlooked; Behind v u] [Success]); [exact R| |].
      + apply It. unfold last_moves. apply in_map_iff. exists m. auto.
      + intros p. rewrite amount_moves_pre, amount_moves_post, amount_spots, A, C, Sx, !amount_cons, amount_nil. lia.
    - simpl. auto.
    - intros p. change (get (tokens [Success]) p) with (amount [Success] p). rewrite amount_cons, amount_nil. lia.
  Qed.
End Moves.
