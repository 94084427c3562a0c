(** ω-markings: markings of which places may hold any number, what is below them, and their successors. *)
From Coq Require Import List NArith Lia Bool FMapPositive.
Import ListNotations.
From Palisade Require Import Net Maps.
Local Open Scope N_scope.

Definition ole (a b : count) : bool :=
  match a, b with _, Omega => true | Fin x, Fin y => x <=? y | Omega, Fin _ => false end.

Definition leN (x : N) (c : count) : Prop := match c with Fin n => x <= n | Omega => True end.
Definition below (m : marking) (w : M.t count) : Prop := forall p, leN (m p) (oget w p).

Lemma ole_sound a b x : ole a b = true -> leN x a -> leN x b.
Proof. destruct a, b; simpl; try easy. rewrite N.leb_le. lia. Qed.

Lemma ole_zero c : ole (Fin 0) c = true.
Proof. now destruct c as [[|]|]. Qed.

(** * Comparing *)

Definition oval (o : option count) : count := match o with Some c => c | None => Fin 0 end.

Fixpoint leq (a b : M.t count) : bool :=
  match a with
  | M.Leaf _ => true
  | M.Node l o r =>
    match b with
    | M.Leaf _ => ole (oval o) (Fin 0) && (leq l (M.Leaf _) && leq r (M.Leaf _))
    | M.Node l' o' r' => ole (oval o) (oval o') && (leq l l' && leq r r')
    end
  end.

Lemma oget_leaf p : oget (M.Leaf _) p = Fin 0.
Proof. unfold oget. now destruct p. Qed.

Lemma oget_node l o r p :
  oget (M.Node l o r) p = match p with xH => oval o | xO q => oget l q | xI q => oget r q end.
Proof. unfold oget. now destruct p. Qed.

Lemma leq_sound a : forall b p, leq a b = true -> ole (oget a p) (oget b p) = true.
Proof.
  induction a as [|l IHl o r IHr]; intros b p H.
  - rewrite oget_leaf. apply ole_zero.
  - destruct b as [|l' o' r']; simpl in H; rewrite !andb_true_iff in H; destruct H as [Ho [Hl Hr]].
    + rewrite oget_leaf, oget_node. destruct p; auto.
      * specialize (IHr _ p Hr). now rewrite oget_leaf in IHr.
      * specialize (IHl _ p Hl). now rewrite oget_leaf in IHl.
    + rewrite !oget_node. destruct p; auto.
Qed.

Lemma below_leq m a b : leq a b = true -> below m a -> below m b.
Proof. intros H Hm p. eapply ole_sound; [apply leq_sound, H | apply Hm]. Qed.

(** * Firing *)

Definition osub (c : count) (n : N) := match c with Fin x => Fin (x - n) | Omega => Omega end.
Definition oadd (c : count) (n : N) := match c with Fin x => Fin (x + n) | Omega => Omega end.

Lemma oget_add w p c q : oget (M.add p c w) q = if Pos.eqb q p then c else oget w q.
Proof.
  unfold oget. destruct (Pos.eqb_spec q p).
  - subst. now rewrite M.gss.
  - now rewrite M.gso.
Qed.

Fixpoint take (v : vec) (w : M.t count) : M.t count :=
  match v with [] => w | (p, n) :: v' => take v' (M.add p (osub (oget w p) n) w) end.
Fixpoint put (v : vec) (w : M.t count) : M.t count :=
  match v with [] => w | (p, n) :: v' => put v' (M.add p (oadd (oget w p) n) w) end.

Lemma take_spec v : forall w p, oget (take v w) p = osub (oget w p) (get v p).
Proof.
  induction v as [|[q n] v IH]; intros w p; simpl.
  - destruct (oget w p); cbn [osub oadd]; try reflexivity; f_equal; lia.
  - rewrite IH, oget_add. destruct (Pos.eqb_spec p q).
    + subst. destruct (oget w q); cbn [osub oadd]; try reflexivity; f_equal; lia.
    + destruct (oget w p); cbn [osub oadd]; try reflexivity; f_equal; lia.
Qed.

Lemma put_spec v : forall w p, oget (put v w) p = oadd (oget w p) (get v p).
Proof.
  induction v as [|[q n] v IH]; intros w p; simpl.
  - destruct (oget w p); cbn [osub oadd]; try reflexivity; f_equal; lia.
  - rewrite IH, oget_add. destruct (Pos.eqb_spec p q).
    + subst. destruct (oget w q); cbn [osub oadd]; try reflexivity; f_equal; lia.
    + destruct (oget w p); cbn [osub oadd]; try reflexivity; f_equal; lia.
Qed.

Definition successor (w : M.t count) (t : transition) := put (post t) (take (pre t) w).

Lemma successor_sound m m' t w : below m w -> fires t m m' -> below m' (successor w t).
Proof.
  intros Hb Hf p. specialize (Hb p). destruct (Hf p) as [He ->].
  unfold successor. rewrite put_spec, take_spec. destruct (oget w p); simpl in *; lia.
Qed.

(** Each entry of [v], by itself, may be there. *)
Definition enough (w : M.t count) (v : vec) : bool :=
  forallb (fun '(p, n) => match oget w p with Fin x => n <=? x | Omega => true end) v.

Lemma enough_complete m w v : below m w -> covers m v -> enough w v = true.
Proof.
  intros Hb Hc. apply forallb_forall. intros [p n] Hin.
  specialize (Hb p). specialize (Hc p). apply get_in in Hin.
  destruct (oget w p); simpl in *; auto. apply N.leb_le. lia.
Qed.

(** The initial markings are below the ω-marking that says them. *)
Lemma below_initially pb m : initial pb m -> below m (initially pb).
Proof. intros Hm p. specialize (Hm p). destruct (oget (initially pb) p); simpl; lia. Qed.
