(** Siphons, traps and inequalities: what they show of all reachable markings, and which demands they refute. *)
From Coq Require Import List NArith ZArith Lia Bool FMapPositive.
Import ListNotations.
From Palisade Require Import Net Maps.
Local Open Scope Z_scope.

(** * Weighted sums *)

Definition zval (o : option Z) : Z := match o with Some y => y | None => 0 end.
Definition kget (K : M.t Z) (p : place) : Z := zval (M.find p K).

(** The sum of [K p * f p] over all places. *)
Fixpoint tsum (K : M.t Z) (f : positive -> Z) : Z :=
  match K with
  | M.Leaf _ => 0
  | M.Node l o r =>
    match o with Some y => y * f xH | None => 0 end + tsum l (fun p => f (xO p)) + tsum r (fun p => f (xI p))
  end.

Lemma kget_node l o r p :
  kget (M.Node l o r) p = match p with xH => zval o | xO q => kget l q | xI q => kget r q end.
Proof. now destruct p. Qed.

Lemma kget_leaf p : kget (M.Leaf _) p = 0.
Proof. unfold kget. now destruct p. Qed.

Lemma tsum_ext K : forall f g, (forall p, f p = g p) -> tsum K f = tsum K g.
Proof.
  induction K; intros f g H; simpl; auto.
  rewrite (IHK1 _ (fun p => g (xO p))), (IHK2 _ (fun p => g (xI p))) by auto. now rewrite H.
Qed.

Lemma tsum_add K : forall f g, tsum K (fun p => f p + g p) = tsum K f + tsum K g.
Proof.
  induction K; intros f g; simpl; auto.
  rewrite (IHK1 (fun p => f (xO p))), (IHK2 (fun p => f (xI p))). destruct o; lia.
Qed.

Lemma tsum_sub K : forall f g, tsum K (fun p => f p - g p) = tsum K f - tsum K g.
Proof.
  induction K; intros f g; simpl; auto.
  rewrite (IHK1 (fun p => f (xO p))), (IHK2 (fun p => f (xI p))). destruct o; lia.
Qed.

Lemma tsum_zero K : forall f, (forall p, f p = 0) -> tsum K f = 0.
Proof.
  induction K; intros f H; simpl; auto.
  rewrite IHK1, IHK2, H by auto. destruct o; lia.
Qed.

Lemma tsum_point K : forall q n, tsum K (fun p => if Pos.eqb p q then n else 0) = n * kget K q.
Proof.
  induction K as [|l IHl o r IHr]; intros q n; simpl.
  - rewrite kget_leaf. lia.
  - rewrite kget_node. destruct q; simpl.
    + rewrite (IHr q n), (tsum_zero l) by auto. destruct o; lia.
    + rewrite (IHl q n), (tsum_zero r) by auto. destruct o; lia.
    + rewrite (tsum_zero l), (tsum_zero r) by auto. destruct o; simpl; lia.
Qed.

Lemma tsum_le K : forall f g, (forall p y, M.find p K = Some y -> y * f p <= y * g p) -> tsum K f <= tsum K g.
Proof.
  induction K as [|l IHl o r IHr]; intros f g H; simpl; [lia|].
  assert (Hl : tsum l (fun p => f (xO p)) <= tsum l (fun p => g (xO p))) by (apply IHl; intros p y E; now apply (H (xO p))).
  assert (Hr : tsum r (fun p => f (xI p)) <= tsum r (fun p => g (xI p))) by (apply IHr; intros p y E; now apply (H (xI p))).
  destruct o as [y|]; [specialize (H xH y eq_refl)|]; lia.
Qed.

Definition kadd (p : place) (y : Z) (K : M.t Z) : M.t Z := M.add p (kget K p + y) K.

Lemma tsum_set p z : forall K f, tsum (M.add p z K) f = tsum K f + (z - kget K p) * f p.
Proof.
  induction p; intros [|l o r] f; cbn [M.add tsum]; try rewrite kget_leaf; try rewrite kget_node;
    try rewrite IHp; try rewrite kget_leaf; cbn [tsum zval]; try lia.
  destruct o; cbn [zval]; lia.
Qed.

Lemma tsum_kadd p y K f : tsum (kadd p y K) f = tsum K f + y * f p.
Proof. unfold kadd. rewrite tsum_set. lia. Qed.

Definition zof (f : place -> N) : place -> Z := fun p => Z.of_N (f p).

(** The weight of a vector, by looking up its entries. *)
Fixpoint vdot_onto (K : M.t Z) (v : vec) (acc : Z) : Z :=
  match v with [] => acc | (p, n) :: v' => vdot_onto K v' (acc + Z.of_N n * kget K p) end.
Definition vdot K v := vdot_onto K v 0.

Lemma vdot_tsum K v : vdot K v = tsum K (zof (get v)).
Proof.
  unfold vdot. assert (G : forall acc, vdot_onto K v acc = acc + tsum K (zof (get v))); [|apply (G 0)].
  induction v as [|[q n] v IH]; intros acc; simpl.
  - rewrite tsum_zero; [lia|reflexivity].
  - rewrite IH. transitivity (acc + tsum K (fun p => (if Pos.eqb p q then Z.of_N n else 0) + zof (get v) p)).
    + rewrite tsum_add, tsum_point. lia.
    + f_equal. apply tsum_ext. intros p. unfold zof. simpl. destruct (Pos.eqb p q); lia.
Qed.

(** The weight of a map of tokens, by going through both. *)
Fixpoint mdot (K : M.t Z) (g : M.t N) : Z :=
  match K, g with
  | M.Leaf _, _ | _, M.Leaf _ => 0
  | M.Node l o r, M.Node l' o' r' =>
    match o, o' with Some y, Some n => y * Z.of_N n | _, _ => 0 end + (mdot l l' + mdot r r')
  end.

Lemma mdot_tsum K : forall g, mdot K g = tsum K (zof (den g)).
Proof.
  induction K as [|l IHl o r IHr]; intros [|l' o' r']; auto.
  - rewrite tsum_zero; auto. intros p. unfold zof. now rewrite den_leaf.
  - simpl mdot. simpl tsum. rewrite IHl, IHr.
    unfold zof at 3. rewrite den_node.
    rewrite (tsum_ext l (fun p => zof (den (M.Node l' o' r')) (xO p)) (zof (den l'))),
      (tsum_ext r (fun p => zof (den (M.Node l' o' r')) (xI p)) (zof (den r'))).
    + destruct o, o'; simpl; lia.
    + intros p. unfold zof. now rewrite den_node.
    + intros p. unfold zof. now rewrite den_node.
Qed.

(** * Evidence *)

Record trap := { trap_places : list place; multiplier : Z }.
Record refutation := { weights : M.t Z; traps : list trap }.

Definition mem (S : M.t unit) (p : place) : bool := match M.find p S with Some _ => true | None => false end.

Definition touches (inside : place -> bool) (v : vec) : bool :=
  existsb (fun '(p, n) => inside p && negb (N.eqb n 0)) v.

Lemma touches_spec inside v : touches inside v = true <-> exists p, inside p = true /\ (get v p <> 0)%N.
Proof.
  unfold touches. rewrite existsb_exists. split.
  - intros ([p n] & Hin & H). cbv beta iota in H. rewrite andb_true_iff, negb_true_iff, N.eqb_neq in H.
    exists p. split; [easy|]. apply get_in in Hin. lia.
  - intros (p & Hp & Hn). induction v as [|[q n] v IH]; simpl in *; [lia|].
    destruct (Pos.eqb_spec p q).
    + subst. destruct (N.eqb_spec n 0).
      * subst. destruct IH as (x & ? & ?); [lia|]. exists x. simpl; auto.
      * exists (q, n). split; [simpl; auto|]. rewrite Hp. simpl andb. now apply negb_true_iff, N.eqb_neq.
    + destruct IH as (x & ? & ?); [lia|]. exists x. simpl; auto.
Qed.

(** Whether a map of tokens has one on a place of the set. *)
Fixpoint meets (S : M.t unit) (g : M.t N) : bool :=
  match S, g with
  | M.Leaf _, _ | _, M.Leaf _ => false
  | M.Node l o r, M.Node l' o' r' =>
    if match o, o' with Some _, Some n => negb (N.eqb n 0) | _, _ => false end then true
    else if meets l l' then true else meets r r'
  end.

Lemma meets_sound S : forall g, meets S g = true -> exists p, mem S p = true /\ (den g p <> 0)%N.
Proof.
  induction S as [|l IHl o r IHr]; intros [|l' o' r'] H; simpl in H; try discriminate.
  destruct (match o, o' with Some _, Some n => negb (N.eqb n 0) | _, _ => false end) eqn:E.
  - exists xH. destruct o, o'; try discriminate. apply negb_true_iff, N.eqb_neq in E. auto.
  - destruct (meets l l') eqn:L.
    + destruct (IHl _ L) as (p & A & B). exists (xO p). auto.
    + destruct (IHr _ H) as (p & A & B). exists (xI p). auto.
Qed.

Section Invariant.
  Variable pb : problem.
  Variable siphon : M.t unit.

  Definition disabled (t : transition) : bool := touches (mem siphon) (pre t).

  Notation ts := (transitions pb).

  (** * The siphon *)

  Definition check_siphon : bool :=
    entries (fun p _ => match oget (initially pb) p with Fin 0 => true | _ => false end) siphon &&
    forallb (fun t => if touches (mem siphon) (post t) then disabled t else true) ts.

  Definition dry (m : marking) : Prop := forall p, mem siphon p = true -> m p = 0%N.

  Lemma dry_fires t m m' : dry m -> fires t m m' -> disabled t = false.
  Proof.
    intros Hd Hf. destruct (disabled t) eqn:E; auto. apply touches_spec in E.
    destruct E as (p & Hp & Hn). specialize (Hd p Hp). destruct (Hf p). lia.
  Qed.

  Hypothesis Hs : check_siphon = true.

  Lemma reachable_dry m : reachable pb m -> dry m.
  Proof.
    unfold check_siphon in Hs. rewrite andb_true_iff, forallb_forall in Hs. destruct Hs as [H0 H1].
    induction 1 as [m Hm|m t m' R IH Ht Hf]; intros p Hp.
    - unfold mem in Hp. destruct (M.find p siphon) as [u|] eqn:E; [|easy].
      apply (entries_sound _ _ H0) in E. specialize (Hm p).
      destruct (oget (initially pb) p) as [[|]|]; try easy.
    - assert (Hd := dry_fires _ _ _ IH Hf).
      specialize (H1 t Ht). rewrite Hd in H1.
      destruct (Hf p) as [He ->]. rewrite (IH p Hp).
      destruct (N.eq_dec (get (post t) p) 0); [lia|].
      assert (touches (mem siphon) (post t) = true) by (apply touches_spec; eauto).
      rewrite H in H1. discriminate.
  Qed.

  (** * Inequalities *)

  Definition start (p : place) : Z := match oget (initially pb) p with Fin n => Z.of_N n | Omega => 0 end.

  Definition check_weights (w : M.t Z) : bool :=
    entries (fun p y => match oget (initially pb) p with Omega => y <=? 0 | Fin _ => true end) w &&
    forallb (fun t => if vdot w (post t) <=? vdot w (pre t) then true else disabled t) ts.

  Lemma weights_sound w m : check_weights w = true -> reachable pb m -> tsum w (zof m) <= tsum w start.
  Proof.
    unfold check_weights. rewrite andb_true_iff, forallb_forall. intros [H0 H1].
    induction 1 as [m Hm|m t m' R IH Ht Hf].
    - apply tsum_le. intros p y E. apply (entries_sound _ _ H0) in E.
      specialize (Hm p). unfold start, zof. destruct (oget (initially pb) p); [subst; lia|].
      apply Z.leb_le in E. nia.
    - specialize (H1 t Ht). rewrite (dry_fires _ _ _ (reachable_dry _ R) Hf) in H1.
      destruct (vdot w (post t) <=? vdot w (pre t)) eqn:V; [|easy]. rewrite Z.leb_le, !vdot_tsum in V.
      transitivity (tsum w (fun p => zof m p - zof (get (pre t)) p + zof (get (post t)) p)).
      + apply Z.eq_le_incl, tsum_ext. intros p. destruct (Hf p). unfold zof. lia.
      + rewrite tsum_add, tsum_sub. lia.
  Qed.

  (** * Traps *)

  Definition to_set (Q : list place) : M.t unit := fold_left (fun s p => M.add p tt s) Q (M.empty _).

  Definition check_trap (q : trap) : bool :=
    let Q := to_set (trap_places q) in
    (0 <=? multiplier q) &&
    existsb (fun p => match oget (initially pb) p with Fin (Npos _) => true | _ => false end) (trap_places q) &&
    forallb (fun t => if touches (mem Q) (pre t) then
                        if touches (mem Q) (post t) then true else disabled t else true) ts.

  Lemma to_set_spec Q : forall p, mem (to_set Q) p = true <-> In p Q.
  Proof.
    unfold to_set. intros p.
    assert (G : forall s, mem (fold_left (fun s p => M.add p tt s) Q s) p = true <-> mem s p = true \/ In p Q).
    { induction Q as [|q Q IH]; intros s; simpl; [tauto|]. rewrite IH. unfold mem at 1.
      destruct (Pos.eq_dec p q); [subst; rewrite M.gss; tauto|].
      rewrite M.gso by auto. fold (mem s p). intuition congruence. }
    rewrite G. unfold mem at 1. rewrite M.gempty. intuition congruence.
  Qed.

  Lemma trap_sound q m : check_trap q = true -> reachable pb m -> exists p, In p (trap_places q) /\ (0 < m p)%N.
  Proof.
    unfold check_trap. rewrite !andb_true_iff, existsb_exists, forallb_forall. intros [[_ H0] H1].
    induction 1 as [m Hm|m t m' R (p & Hp & Hn) Ht Hf].
    - destruct H0 as (p & Hp & H0). exists p. split; auto. specialize (Hm p).
      destruct (oget (initially pb) p) as [[|]|]; try easy. lia.
    - specialize (H1 t Ht). rewrite (dry_fires _ _ _ (reachable_dry _ R) Hf) in H1.
      destruct (touches (mem (to_set (trap_places q))) (pre t)) eqn:P.
      + destruct (touches (mem (to_set (trap_places q))) (post t)) eqn:Q; [|easy].
        apply touches_spec in Q. destruct Q as (p' & Hp' & Hn'). apply to_set_spec in Hp'.
        exists p'. split; auto. destruct (Hf p') as [He ->]. lia.
      + exists p. split; auto. destruct (Hf p) as [He ->].
        destruct (N.eq_dec (get (pre t) p) 0); [lia|].
        assert (touches (mem (to_set (trap_places q))) (pre t) = true)
          by (apply touches_spec; exists p; rewrite to_set_spec; auto). congruence.
  Qed.

  (** * Refutations *)

  Definition lower (z : Z) (Q : list place) (K : M.t Z) : M.t Z := fold_left (fun K p => kadd p (- z) K) Q K.
  Definition coefficients (r : refutation) : M.t Z :=
    fold_left (fun K q => lower (multiplier q) (trap_places q) K) (traps r) (weights r).

  Definition bound (r : refutation) : Z :=
    fold_left (fun b q => b - multiplier q) (traps r) (tsum (weights r) start).

  Definition check_refutation (r : refutation) : bool :=
    check_weights (weights r) && forallb check_trap (traps r).

  (** A checked refutation: coefficients that are not negative outside the siphon, and the bound. *)
  Definition separator : Type := (M.t Z * Z)%type.
  Definition separator_of (r : refutation) : option separator :=
    if check_refutation r then
      let K := coefficients r in
      if entries (fun p c => if 0 <=? c then true else mem siphon p) K then Some (K, bound r) else None
    else None.

  (** Whether it refutes demands, a map of tokens. *)
  Definition refutes (s : separator) (g : M.t N) : bool := snd s <? mdot (fst s) g.

  Fixpoint msum (Q : list place) (m : place -> Z) : Z := match Q with [] => 0 | p :: Q' => m p + msum Q' m end.

  Lemma lower_sum z Q f : forall K, tsum (lower z Q K) f = tsum K f - z * msum Q f.
  Proof.
    unfold lower. induction Q as [|p Q IH]; intros K; simpl; [lia|]. rewrite IH, tsum_kadd. lia.
  Qed.

  Lemma msum_pos Q m p : In p Q -> (0 < m p)%N -> 1 <= msum Q (zof m).
  Proof.
    assert (P : forall Q, 0 <= msum Q (zof m)) by (induction Q0; simpl; unfold zof in *; lia).
    induction Q as [|q Q IH]; simpl; [easy|]. intros [->|H] Hm; specialize (P Q); unfold zof in *; [lia|].
    specialize (IH H Hm). lia.
  Qed.

  Lemma coefficients_bound r m : check_refutation r = true -> reachable pb m ->
    tsum (coefficients r) (zof m) <= bound r.
  Proof.
    unfold check_refutation, coefficients, bound. rewrite andb_true_iff, forallb_forall. intros [Hw Ht] R.
    assert (G := weights_sound _ _ Hw R). revert G.
    generalize (weights r), (tsum (weights r) start). induction (traps r) as [|q l IH]; intros K b G; simpl; auto.
    apply IH. { intros; apply Ht; simpl; auto. }
    assert (Hq := Ht q (or_introl eq_refl)). destruct (trap_sound _ _ Hq R) as (p & Hp & Hn).
    rewrite lower_sum. assert (X := msum_pos _ _ _ Hp Hn).
    unfold check_trap in Hq. rewrite !andb_true_iff, Z.leb_le in Hq. nia.
  Qed.

  (** A marking that has all of [g]. *)
  Definition has_all (m : marking) (g : M.t N) : Prop := forall p, (den g p <= m p)%N.

  Lemma refutes_sound r s g m :
    separator_of r = Some s -> refutes s g = true -> reachable pb m -> ~ has_all m g.
  Proof.
    unfold separator_of, refutes. destruct (check_refutation r) eqn:Hr; [|easy].
    destruct (entries _ _) eqn:Hc; [|easy]. intros E. inversion E; subst; clear E. simpl.
    rewrite Z.ltb_lt, mdot_tsum. intros Hb R Hg.
    assert (tsum (coefficients r) (zof (den g)) <= tsum (coefficients r) (zof m)).
    { apply tsum_le. intros p y F. apply (entries_sound _ _ Hc) in F. cbv beta in F.
      specialize (Hg p). unfold zof. destruct (0 <=? y) eqn:Y.
      - apply Z.leb_le in Y. nia.
      - rewrite (reachable_dry _ R p F) in *. assert (den g p = 0%N) by lia. rewrite H. lia. }
    assert (G := coefficients_bound r m Hr R). lia.
  Qed.

  Lemma meets_refutes g m : meets siphon g = true -> reachable pb m -> ~ has_all m g.
  Proof.
    intros H R Hg. apply meets_sound in H. destruct H as (p & Hp & Hn). specialize (Hg p).
    rewrite (reachable_dry _ R p Hp) in Hg. lia.
  Qed.

  (** * What the invariant refutes *)

  Definition outside (l : list separator) (g : M.t N) : bool :=
    if meets siphon g then true else existsb (fun s => refutes s g) l.

  Definition valid (l : list separator) : Prop := forall s, In s l -> exists r, separator_of r = Some s.

  Lemma outside_sound l g m : valid l -> outside l g = true -> reachable pb m -> ~ has_all m g.
  Proof.
    unfold outside. intros V H R. destruct (meets siphon g) eqn:E; [eauto using meets_refutes|].
    apply existsb_exists in H. destruct H as (s & Hin & H). destruct (V s Hin) as [r Er].
    exact (refutes_sound _ _ _ _ Er H R).
  Qed.

  Lemma covers_has_all m g : covers m g -> has_all m (sums g).
  Proof. intros H p. rewrite sums_spec. apply H. Qed.

  (** All refutations of a certificate, if each is valid. *)
  Fixpoint separators_onto (rs : list refutation) (acc : list separator) : option (list separator) :=
    match rs with
    | [] => Some (rev_append acc [])
    | r :: rs' => match separator_of r with Some s => separators_onto rs' (s :: acc) | None => None end
    end.
  Definition separators (rs : list refutation) : option (list separator) := separators_onto rs [].

  Lemma separators_valid rs l : separators rs = Some l -> valid l.
  Proof.
    unfold separators. assert (G : forall rs acc l, separators_onto rs acc = Some l -> valid acc -> valid l).
    { induction rs0 as [|r rs0 IH]; intros acc l0 H V; simpl in H.
      - inversion H. subst. intros s I. rewrite rev_append_rev, app_nil_r, <- in_rev in I. auto.
      - destruct (separator_of r) as [s|] eqn:E; [|easy]. apply (IH _ _ H). intros s' [<-|I]; eauto. }
    intros H. apply (G _ _ _ H). intros s [].
  Qed.
End Invariant.

(** * Separator certificates: one refutation for each target, in order *)

Fixpoint refutes_each (siphon : M.t unit) (gs : list vec) (l : list separator) : bool :=
  match gs, l with
  | [], [] => true
  | g :: gs', s :: l' =>
    if (if meets siphon (sums g) then true else refutes s (sums g)) then refutes_each siphon gs' l' else false
  | _, _ => false
  end.

Definition check_separator (pb : problem) (siphon : M.t unit) (rs : list refutation) : bool :=
  if check_siphon pb siphon then
    match separators pb siphon rs with
    | Some l => refutes_each siphon (targets pb) l
    | None => false
    end
  else false.

Lemma refutes_each_outside siphon gs : forall l g,
  refutes_each siphon gs l = true -> In g gs -> outside siphon l (sums g) = true.
Proof.
  induction gs as [|g' gs IH]; intros [|s l] g H I; simpl in *; try easy.
  unfold outside. destruct I as [->|I].
  - destruct (meets siphon (sums g)); auto. destruct (refutes s (sums g)) eqn:E; [|easy]. simpl. now rewrite E.
  - specialize (IH l g). unfold outside in IH. destruct (meets siphon (sums g)); auto.
    simpl. rewrite IH; auto using orb_true_r.
    destruct (if meets siphon (sums g') then true else refutes s (sums g')); easy.
Qed.

Theorem check_separator_sound pb siphon rs : check_separator pb siphon rs = true -> ~ coverable pb.
Proof.
  unfold check_separator. destruct (check_siphon pb siphon) eqn:Hs; [|easy].
  destruct (separators pb siphon rs) as [l|] eqn:E; [|easy]. intros H (m & g & R & Hg & Hc).
  apply (outside_sound pb siphon Hs l (sums g) m); eauto using separators_valid, refutes_each_outside, covers_has_all.
Qed.
