(** Lists and maps, in forms that the extracted program works through without a deep stack. *)
From Coq Require Import List NArith Lia FMapPositive.
Import ListNotations.
From Palisade Require Import Net.
Local Open Scope N_scope.

(** * Lists *)

(** [f] of each element, in order. *)
Definition images {A B} (f : A -> B) (l : list A) : list B :=
  rev_append (fold_left (fun acc x => f x :: acc) l []) [].

Lemma images_map {A B} (f : A -> B) l : images f l = map f l.
Proof.
  unfold images. rewrite rev_append_rev, app_nil_r.
  assert (G : forall acc, rev (fold_left (fun acc x => f x :: acc) l acc) = rev acc ++ map f l).
  { induction l as [|x l IH]; intros acc; simpl; [now rewrite app_nil_r|].
    rewrite IH. simpl. now rewrite <- app_assoc. }
  apply G.
Qed.

(** What [f] makes of each element, one after the other. *)
Definition collect {A B} (f : A -> list B) (l : list A) : list B :=
  rev_append (fold_left (fun acc x => rev_append (f x) acc) l []) [].

Lemma collect_flat_map {A B} (f : A -> list B) l : collect f l = flat_map f l.
Proof.
  unfold collect. rewrite rev_append_rev, app_nil_r.
  assert (G : forall acc, rev (fold_left (fun acc x => rev_append (f x) acc) l acc) = rev acc ++ flat_map f l).
  { induction l as [|x l IH]; intros acc; simpl; [now rewrite app_nil_r|].
    rewrite IH, rev_append_rev, rev_app_distr, rev_involutive. now rewrite app_assoc. }
  apply G.
Qed.

(** The elements of a list, numbered from 1. *)
Definition number {A} (l : list A) : M.t A :=
  snd (fold_left (fun '(i, m) x => (Pos.succ i, M.add i x m)) l (1%positive, M.empty A)).

Lemma number_in {A} (l : list A) i x : M.find i (number l) = Some x -> In x l.
Proof.
  unfold number.
  assert (G : forall l k (m : M.t A) i x,
    M.find i (snd (fold_left (fun '(i, m) x => (Pos.succ i, M.add i x m)) l (k, m))) = Some x ->
    In x l \/ M.find i m = Some x).
  { clear. induction l as [|y l IH]; intros k m i x H; simpl in *; auto.
    apply IH in H. destruct H as [H|H]; auto.
    destruct (Pos.eq_dec i k) as [->|D].
    - rewrite M.gss in H. inversion H. auto.
    - rewrite M.gso in H by auto. auto. }
  intros H. apply G in H. destruct H as [H|H]; auto. rewrite M.gempty in H. discriminate.
Qed.

(** The same for those with a number of the set alone. *)
Definition number_some {A} (wanted : M.t unit) (l : list A) : M.t A :=
  snd (fold_left (fun '(i, m) x =>
    (Pos.succ i, match M.find i wanted with Some _ => M.add i x m | None => m end)) l (1%positive, M.empty A)).

Lemma number_some_in {A} wanted (l : list A) i x : M.find i (number_some wanted l) = Some x -> In x l.
Proof.
  unfold number_some.
  assert (G : forall l k (m : M.t A) i x,
    M.find i (snd (fold_left (fun '(i, m) x =>
      (Pos.succ i, match M.find i wanted with Some _ => M.add i x m | None => m end)) l (k, m))) = Some x ->
    In x l \/ M.find i m = Some x).
  { clear. induction l as [|y l IH]; intros k m i x H; simpl in *; auto.
    apply IH in H. destruct H as [H|H]; auto. destruct (M.find k wanted); auto.
    destruct (Pos.eq_dec i k) as [->|D].
    - rewrite M.gss in H. inversion H. auto.
    - rewrite M.gso in H by auto. auto. }
  intros H. apply G in H. destruct H as [H|H]; auto. rewrite M.gempty in H. discriminate.
Qed.

(** * Maps *)

(** [f] holds of all entries. On the way down the bits of the key pile up in [path], the last one first. *)
Fixpoint unwind (path p : positive) : positive :=
  match path with xH => p | xO path' => unwind path' (xO p) | xI path' => unwind path' (xI p) end.

Fixpoint entries_at {A} (f : positive -> A -> bool) (path : positive) (m : M.t A) : bool :=
  match m with
  | M.Leaf _ => true
  | M.Node l o r =>
    if entries_at f (xO path) l then
      if match o with Some x => f (unwind path xH) x | None => true end then entries_at f (xI path) r else false
    else false
  end.

Definition entries {A} (f : positive -> A -> bool) (m : M.t A) : bool := entries_at f xH m.

Lemma entries_at_spec {A} (f : positive -> A -> bool) (m : M.t A) : forall path,
  entries_at f path m = true <-> forall p x, M.find p m = Some x -> f (unwind path p) x = true.
Proof.
  induction m as [|l IHl o r IHr]; intros path; simpl.
  - split; auto. intros _ p x H. destruct p; discriminate.
  - split.
    + destruct (entries_at f (xO path) l) eqn:L; [|easy].
      destruct (match o with Some x => f (unwind path xH) x | None => true end) eqn:O; [|easy].
      intros R [p|p|] x H; simpl in H.
      * exact (proj1 (IHr _) R p x H).
      * exact (proj1 (IHl _) L p x H).
      * now subst.
    + intros H. rewrite (proj2 (IHl (xO path))), (proj2 (IHr (xI path))).
      * destruct o as [x|]; auto. now rewrite (H xH x).
      * intros p x F. apply (H (xI p)), F.
      * intros p x F. apply (H (xO p)), F.
Qed.

Lemma entries_sound {A} (f : positive -> A -> bool) m :
  entries f m = true -> forall p x, M.find p m = Some x -> f p x = true.
Proof. apply (entries_at_spec f m xH). Qed.

Lemma entries_complete {A} (f : positive -> A -> bool) m :
  (forall p x, M.find p m = Some x -> f p x = true) -> entries f m = true.
Proof. apply (entries_at_spec f m xH). Qed.

(** * Vectors *)

(** A vector's entry, added to [acc]. *)
Fixpoint get_onto (v : vec) (p : place) (acc : N) : N :=
  match v with
  | [] => acc
  | (q, n) :: v' => get_onto v' p (if Pos.eqb p q then acc + n else acc)
  end.

Lemma get_onto_get v p : forall acc, get_onto v p acc = acc + get v p.
Proof.
  induction v as [|[q n] v IH]; intros acc; simpl; [lia|]. rewrite IH. destruct (Pos.eqb p q); lia.
Qed.

Lemma get_in v p n : In (p, n) v -> n <= get v p.
Proof.
  induction v as [|[q k] v IH]; simpl; [easy|]. intros [E|H].
  - inversion E; subst. rewrite Pos.eqb_refl. lia.
  - specialize (IH H). lia.
Qed.

Lemma get_in_inv v p : get v p <> 0 -> exists n, In (p, n) v.
Proof.
  induction v as [|[q k] v IH]; simpl; [easy|]. intros H. destruct (Pos.eqb_spec p q).
  - subst. eauto.
  - destruct IH as [x I]; [lia|]. eauto.
Qed.

Lemma get_notin (v : vec) p : ~ In p (map fst v) -> get v p = 0.
Proof.
  intros H. destruct (N.eq_dec (get v p) 0) as [|D]; auto.
  destruct (get_in_inv _ _ D) as [n I]. destruct H. apply in_map_iff. exists (p, n). auto.
Qed.

(** Numbers of tokens by place, as a map. *)
Definition den (m : M.t N) : marking := fun p => match M.find p m with Some n => n | None => 0 end.

Lemma den_add m p n q : den (M.add p n m) q = if Pos.eqb q p then n else den m q.
Proof. unfold den. destruct (Pos.eqb_spec q p); [subst; now rewrite M.gss | now rewrite M.gso]. Qed.

Lemma den_leaf p : den (M.Leaf _) p = 0.
Proof. unfold den. now destruct p. Qed.

Definition nval (o : option N) : N := match o with Some n => n | None => 0 end.

Lemma den_node l o r p :
  den (M.Node l o r) p = match p with xH => nval o | xO q => den l q | xI q => den r q end.
Proof. unfold den. now destruct p. Qed.

(** [m] with [v] added. *)
Fixpoint plus (v : vec) (m : M.t N) : M.t N :=
  match v with [] => m | (p, n) :: v' => plus v' (M.add p (den m p + n) m) end.

Lemma plus_spec v : forall m p, den (plus v m) p = den m p + get v p.
Proof.
  induction v as [|[q n] v IH]; intros m p; simpl; [lia|].
  rewrite IH, den_add. destruct (Pos.eqb_spec p q); subst; lia.
Qed.

(** [m] with [v] taken away, as far as it is there. *)
Fixpoint minus (v : vec) (m : M.t N) : M.t N :=
  match v with [] => m | (p, n) :: v' => minus v' (M.add p (den m p - n) m) end.

Lemma minus_spec v : forall m p, den (minus v m) p = den m p - get v p.
Proof.
  induction v as [|[q n] v IH]; intros m p; simpl; [lia|].
  rewrite IH, den_add. destruct (Pos.eqb_spec p q); subst; lia.
Qed.

Definition sums (v : vec) : M.t N := plus v (M.empty N).

Lemma sums_spec v p : den (sums v) p = get v p.
Proof. unfold sums. rewrite plus_spec. unfold den. rewrite M.gempty. lia. Qed.

(** [a] has no more than [b], anywhere. *)
Fixpoint mle (a b : M.t N) : bool :=
  match a with
  | M.Leaf _ => true
  | M.Node l o r =>
    match b with
    | M.Leaf _ => N.eqb (nval o) 0 && (mle l (M.Leaf _) && mle r (M.Leaf _))
    | M.Node l' o' r' => (nval o <=? nval o') && (mle l l' && mle r r')
    end
  end.

Lemma mle_sound a : forall b p, mle a b = true -> den a p <= den b p.
Proof.
  induction a as [|l IHl o r IHr]; intros b p H.
  - rewrite den_leaf. lia.
  - destruct b as [|l' o' r']; simpl in H; apply andb_prop in H; destruct H as [Ho H];
      apply andb_prop in H; destruct H as [Hl Hr].
    + apply N.eqb_eq in Ho. rewrite den_leaf, den_node. destruct p.
      * specialize (IHr _ p Hr). now rewrite den_leaf in IHr.
      * specialize (IHl _ p Hl). now rewrite den_leaf in IHl.
      * lia.
    + rewrite !den_node. destruct p; auto. now apply N.leb_le.
Qed.
