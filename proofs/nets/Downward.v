(** Downward certificates: a set of ω-markings that no step leaves and that covers no target. *)
From Coq Require Import List NArith Lia Bool FMapPositive.
Import ListNotations.
From Palisade Require Import Net Maps Omega.
Local Open Scope N_scope.

(** * Transitions by the first place that they take from *)

(** A transition with the places on which it leaves more than it takes. *)
Record prepared := { made_of : transition; rises : list place }.

Definition prepare (t : transition) : prepared :=
  {| made_of := t;
     rises := let taken := sums (pre t) in let left := sums (post t) in
              fold_left (fun l '(p, _) => if den left p <=? den taken p then l else p :: l) (post t) [] |}.

Lemma prepare_rises t p : get (pre t) p < get (post t) p -> In p (rises (prepare t)).
Proof.
  intros H. simpl.
  assert (F : In p (map fst (post t))).
  { destruct (get_in_inv (post t) p) as [n I]; [lia|]. apply in_map_iff. exists (p, n). auto. }
  set (keep := fun (l : list place) '((q, _) : place * N) =>
    if den (sums (post t)) q <=? den (sums (pre t)) q then l else q :: l).
  assert (Keep : forall v l, In p l -> In p (fold_left keep v l)).
  { induction v as [|[q k] v IH]; intros l I; simpl; auto. apply IH.
    destruct (_ <=? _); simpl; auto. }
  assert (G : forall v l, In p (map fst v) -> In p (fold_left keep v l)).
  { induction v as [|[q k] v IH]; intros l I; simpl in *; [easy|]. destruct I as [->|I]; auto.
    apply Keep. rewrite !sums_spec. destruct (N.leb_spec (get (post t) p) (get (pre t) p)); [lia|]. simpl. auto. }
  apply G, F.
Qed.

Definition key (t : transition) : option place :=
  match pre t with (p, Npos _) :: _ => Some p | _ => None end.

Record index := { keyed : M.t (list prepared); unkeyed : list prepared }.

Definition bucket (ix : index) (p : place) : list prepared :=
  match M.find p (keyed ix) with Some l => l | None => [] end.

Definition insert (ix : index) (t : transition) : index :=
  match key t with
  | Some p => {| keyed := M.add p (prepare t :: bucket ix p) (keyed ix); unkeyed := unkeyed ix |}
  | None => {| keyed := keyed ix; unkeyed := prepare t :: unkeyed ix |}
  end.

Definition has (ix : index) (t : transition) : Prop :=
  match key t with Some p => In (prepare t) (bucket ix p) | None => In (prepare t) (unkeyed ix) end.

Lemma insert_has ix t : has (insert ix t) t.
Proof.
  unfold has, insert. destruct (key t) as [p|] eqn:E; cbn [keyed unkeyed]; simpl; auto.
  unfold bucket. simpl. rewrite M.gss. simpl; auto.
Qed.

Lemma insert_keeps ix t u : has ix u -> has (insert ix t) u.
Proof.
  unfold has, insert. destruct (key u) as [p|] eqn:Eu, (key t) as [q|] eqn:Et; simpl; auto.
  unfold bucket at 2; simpl. destruct (Pos.eq_dec p q); [subst; rewrite M.gss; simpl; auto|].
  rewrite M.gso by auto. unfold bucket. auto.
Qed.

Definition index_of (l : list transition) : index :=
  fold_left insert l {| keyed := M.empty _; unkeyed := [] |}.

Lemma fold_insert_has l : forall ix t, has ix t \/ In t l -> has (fold_left insert l ix) t.
Proof.
  induction l as [|u l IH]; intros ix t H; simpl.
  - destruct H; [auto | easy].
  - apply IH. destruct H as [H|[->|H]]; auto using insert_has, insert_keeps.
Qed.

(** [P] holds of all transitions that may be enabled at [w]. *)
Definition forall_enabled (ix : index) (w : M.t count) (P : prepared -> bool) : bool :=
  let test t := if enough w (pre (made_of t)) then P t else true in
  forallb test (unkeyed ix) && entries (fun p _ => forallb test (bucket ix p)) w.

Lemma forall_enabled_sound ix w P t m :
  forall_enabled ix w P = true -> has ix t -> below m w -> covers m (pre t) -> P (prepare t) = true.
Proof.
  unfold forall_enabled, has. rewrite andb_true_iff, forallb_forall. intros [H1 H2] Ht Hb Hc.
  assert (E := enough_complete _ _ _ Hb Hc).
  unfold key in Ht. destruct (pre t) as [|[p [|k]] v] eqn:Ep.
  - specialize (H1 _ Ht). simpl in H1. rewrite Ep in H1. now rewrite E in H1.
  - specialize (H1 _ Ht). simpl in H1. rewrite Ep in H1. now rewrite E in H1.
  - assert (F : exists c, M.find p w = Some c).
    { specialize (Hb p). specialize (Hc p). simpl in Hc. rewrite Pos.eqb_refl in Hc.
      unfold oget in Hb. destruct (M.find p w); eauto. simpl in Hb. lia. }
    destruct F as [c F]. assert (H3 := entries_sound _ _ H2 _ _ F). simpl in H3.
    rewrite forallb_forall in H3. specialize (H3 _ Ht). simpl in H3. rewrite Ep in H3. now rewrite E in H3.
Qed.

(** * The check *)

Section Downward.
  Variable pb : problem.
  Variable set : list (M.t count).
  Variable hint : M.t count -> option positive.      (* untrusted: which marking of the set is above *)

  Definition inside (numbered : M.t (M.t count)) (w : M.t count) : bool :=
    match hint w with
    | Some i => match M.find i numbered with Some u => leq w u | None => false end
    | None => false
    end.

  Definition D (m : marking) : Prop := exists u, In u set /\ below m u.

  Lemma inside_sound w m : inside (number set) w = true -> below m w -> D m.
  Proof.
    unfold inside. destruct (hint w) as [i|]; [|easy]. destruct (M.find i _) as [u|] eqn:E; [|easy].
    intros. exists u. eauto using below_leq, number_in.
  Qed.

  (** The successor is below the marking that it comes from. *)
  Definition stays (w : M.t count) (t : prepared) : bool :=
    forallb (fun p => match oget w p with Omega => true | Fin _ => false end) (rises t).

  Lemma stays_sound w t m m' : stays w (prepare t) = true -> below m w -> fires t m m' -> below m' w.
  Proof.
    unfold stays. rewrite forallb_forall. intros H Hb Hf p. specialize (Hb p). destruct (Hf p) as [He ->].
    destruct (N.le_gt_cases (get (post t) p) (get (pre t) p)) as [L|L].
    - destruct (oget w p); simpl in *; auto. lia.
    - specialize (H _ (prepare_rises _ _ L)). destruct (oget w p); [easy|]. simpl. auto.
  Qed.

  Definition check_downward : bool :=
    let ix := index_of (transitions pb) in
    let numbered := number set in
    inside numbered (initially pb) &&
    forallb (fun w =>
      forallb (fun g => negb (enough w g)) (targets pb) &&
      forall_enabled ix w (fun t => if stays w t then true else inside numbered (successor w (made_of t)))) set.

  Theorem check_downward_sound : check_downward = true -> ~ coverable pb.
  Proof.
    unfold check_downward. rewrite andb_true_iff, forallb_forall. intros [H0 H].
    apply invariant_uncoverable with (I := D).
    - intros m Hm. eapply inside_sound; eauto using below_initially.
    - intros m t m' (u & Hu & Hb) Ht Hf.
      specialize (H _ Hu). apply andb_true_iff in H. destruct H as [_ H].
      assert (G := fun C => forall_enabled_sound _ _ _ t m H C Hb (fun p => proj1 (Hf p))).
      cbv beta in G. destruct (stays u (prepare t)) eqn:S.
      + exists u. split; auto. eauto using stays_sound.
      + eapply inside_sound; [apply G, fold_insert_has; auto|]. eapply successor_sound; eauto.
    - intros m g (u & Hu & Hb) Hg Hc.
      specialize (H _ Hu). apply andb_true_iff in H. destruct H as [H _].
      rewrite forallb_forall in H. specialize (H g Hg).
      apply negb_true_iff in H. rewrite (enough_complete m) in H; easy.
  Qed.
End Downward.
