(** From graphs to runs: if some C11 graph of a program (relaxed, acquire and release accesses, acquire and release fences) is
    not SC, then an SC run of the program ends in a configuration that the search for attacks reports ([not_robust_success]).
    Programs are given by what their threads can do; there may be any number of threads. *)
From Coq Require Import Relations Classical List Permutation.
Import ListNotations.
From Palisade Require Import LastEvent Sorting.

Section Program.
  Variables T Loc Val : Type.
  Record label := { is_read : Prop; is_write : Prop; at_loc : Loc; read_val : Val; written : Val;
    acquires : Prop; releases : Prop }.
  (** [Prog t h]: thread [t] (there may be any number of threads) can do these accesses, in this order. *)
  Variable Prog : T -> list label -> Prop.

  Variable E : Type.
  Variable tid : E -> T.
  Variable lab : E -> label.
  Variables po rf mo : E -> E -> Prop.
  Definition isR e := is_read (lab e).
  Definition isW e := is_write (lab e).
  Definition loc e := at_loc (lab e).

  Hypothesis po_tid : forall a b, po a b -> tid a = tid b.
  Hypothesis po_total : forall a b, tid a = tid b -> a = b \/ po a b \/ po b a.
  Hypothesis rf_dom : forall a b, rf a b -> isW a.
  Hypothesis rf_loc : forall a b, rf a b -> loc a = loc b.
  Hypothesis rf_val : forall a b, rf a b -> read_val (lab b) = written (lab a).
  Hypothesis rf_fun : forall a b r, rf a r -> rf b r -> a = b.
  Hypothesis mo_dom : forall a b, mo a b -> isW a /\ isW b.
  Hypothesis mo_loc : forall a b, mo a b -> loc a = loc b.
  Hypothesis mo_trans : forall a b c, mo a b -> mo b c -> mo a c.
  Hypothesis mo_irr : forall a, ~ mo a a.
  Hypothesis mo_total : forall a b, isW a -> isW b -> loc a = loc b -> a = b \/ mo a b \/ mo b a.

  (** An event that neither reads nor writes is a fence. *)
  Definition accesses e := isR e \/ isW e.

  (** The release sequence of a write goes on with updates. What a releasing write, or a write behind a releasing fence, makes
      known is what an acquiring read of its release sequence, or an acquiring fence behind such a read, learns. *)
  Inductive sequence (P : E -> Prop) (a : E) : E -> Prop :=
  | sequence_start : P a -> isW a -> sequence P a a
  | sequence_update w u : sequence P a w -> P u -> rf w u -> isW u -> sequence P a u.
  Definition makes_known (P : E -> Prop) (a g : E) : Prop :=
    P a /\ releases (lab a) /\ ((a = g /\ isW a) \/ (~ accesses a /\ po a g)).
  Definition learns (P : E -> Prop) (r b : E) : Prop :=
    P b /\ acquires (lab b) /\ ((r = b /\ isR b) \/ (~ accesses b /\ po r b)).
  Definition sync (P : E -> Prop) (a b : E) : Prop :=
    exists g w r, makes_known P a g /\ sequence P g w /\ rf w r /\ P r /\ learns P r b.

  Lemma sequence_in P a w : sequence P a w -> P a /\ P w.
  Proof. induction 1; tauto. Qed.

  Lemma sync_porf P x y : sync P x y -> clos_trans E (porf E po rf P) x y.
  Proof.
    intros (g & w & r & (Px & _ & A) & S & R & Pr & (Py & _ & B)).
    assert (C : clos_trans E (porf E po rf P) g r).
    { clear A B. revert r Pr R. induction S as [Pg Wg|w u S IH Pu Rwu Wu]; intros r Pr R.
      - apply t_step. repeat split; auto.
      - eapply t_trans; [apply (IH u Pu Rwu)|]. apply t_step. repeat split; auto. }
    assert (Pg := proj1 (sequence_in _ _ _ S)).
    assert (C' : clos_trans E (porf E po rf P) x r).
    { destruct A as [[-> _]|[_ A]]; auto. eapply t_trans; [|exact C]. apply t_step. repeat split; auto. }
    destruct B as [[<- _]|[_ B]]; auto. eapply t_trans; [exact C'|]. apply t_step. repeat split; auto.
  Qed.

  Lemma sequence_mono (P Q : E -> Prop) g w : (forall z, P z -> Q z) -> sequence P g w -> sequence Q g w.
  Proof. intros I S. induction S; [constructor; auto|econstructor; eauto]. Qed.

  Lemma sync_mono (P Q : E -> Prop) x y : (forall z, P z -> Q z) -> sync P x y -> sync Q x y.
  Proof.
    intros I (g & w & r & (Px & A1 & A2) & S & R & Pr & (Py & B1 & B2)). exists g, w, r.
    split; [split; auto|]. split; [eapply sequence_mono; eauto|]. split; [auto|]. split; [auto|]. split; auto.
  Qed.

  Lemma sync_local (H : E -> Prop) e x y : (forall z, H z \/ z = e -> ~ po e z /\ ~ rf e z) ->
    H y -> sync (fun z => H z \/ z = e) x y -> sync H x y.
  Proof.
    intros N Hy (g & w & r & (Px & A1 & A2) & S & R & Pr & (Py & B1 & B2)).
    assert (G : forall v z, sequence (fun z => H z \/ z = e) g v -> H z \/ z = e -> rf v z -> sequence H g v).
    { clear - N. intros v z S. revert z. induction S as [Pg Wg|w u S IH Pu Rwu Wu]; intros z Hz Rz.
      - destruct Pg as [Pg| ->]; [now constructor|]. destruct (N z Hz) as [_ F]. destruct (F Rz).
      - destruct Pu as [Pu| ->]; [|destruct (N z Hz) as [_ F]; destruct (F Rz)].
        apply sequence_update with w; auto. apply (IH u); auto. }
    assert (S' := G w r S Pr R).
    assert (Hg := proj1 (sequence_in _ _ _ S')).
    exists g, w, r. split; [|split; [exact S'|split; [exact R|split]]].
    - split; [|auto]. destruct A2 as [[-> _]|[_ A2]]; auto. destruct Px as [Px| ->]; auto.
      destruct (N g (or_introl Hg)) as [F _]. destruct (F A2).
    - destruct B2 as [[-> _]|[_ B2]]; auto. destruct Pr as [Pr| ->]; auto.
      destruct (N y (or_introl Hy)) as [F _]. destruct (F B2).
    - split; auto.
  Qed.

  Notation SC := (SC E po rf mo).
  Notation consistent := (consistent E po rf mo isW sync).
  Notation scstep := (scstep E po rf mo).
  Notation behind := (behind E rf mo).
  Notation violation := (violation E po rf mo isW sync).
  Notation events := (events E).

  (** What the events of the thread of [e] in [k] have done. *)
  Variable tid_dec : forall a b : T, {a = b} + {a <> b}.
  Definition of (t : T) (k : list E) : list E := filter (fun x => if tid_dec (tid x) t then true else false) k.
  Definition history (t : T) (k : list E) : list label := map lab (of t k).

  (** [l] is a graph of the program: its order respects po and rf, reads have sources, threads do what they can. *)
  Record graph (l : list E) : Prop := {
    g_sorted : sorted E po rf l;
    g_sources : forall r, In r l -> isR r -> exists w, In w l /\ rf w r;
    g_program : forall l1 e l2, l = l1 ++ e :: l2 -> Prog (tid e) (history (tid e) l1 ++ [lab e]) }.

  (** * Runs under SC: lists of events, memory is the last write. *)
  Definition last_write (k : list E) (x : Loc) (w : E) : Prop :=
    exists k1 k2, k = k1 ++ w :: k2 /\ isW w /\ loc w = x /\ forall v, In v k2 -> isW v -> loc v <> x.

  Definition sc_step (k : list E) (e : E) : Prop :=
    Prog (tid e) (history (tid e) k ++ [lab e]) /\
    (isR e -> exists w, last_write k (loc e) w /\ rf w e /\ read_val (lab e) = written (lab w)).

  Definition sc_run (k : list E) : Prop := forall k1 e k2, k = k1 ++ e :: k2 -> sc_step k1 e.

  (** * Any order of an SC graph that respects its edges is a run *)

  Lemma of_in t k x : In x (of t k) <-> In x k /\ tid x = t.
  Proof. unfold of. rewrite filter_In. destruct (tid_dec (tid x) t); intuition congruence. Qed.

  Lemma of_nodup t k : NoDup k -> NoDup (of t k).
  Proof. apply NoDup_filter. Qed.

  Lemma forward_filter (R : E -> E -> Prop) f k : forward E R k -> forward E R (filter f k).
  Proof.
    induction k as [|a k IH]; intros F; simpl; auto.
    assert (F' : forward E R k). { intros k1 x k2 -> y Hy. apply (F (a :: k1) x k2 eq_refl). simpl. tauto. }
    destruct (f a); auto. apply forward_cons; auto.
    - apply (F [] a k eq_refl). auto.
    - intros x I. apply filter_In in I. destruct I as [I _]. destruct (in_split _ _ I) as (k1 & k2 & ->).
      apply (F (a :: k1) x k2 eq_refl). simpl. auto.
  Qed.

  Lemma forward_weaken (R R' : E -> E -> Prop) k :
    (forall a b, In a k -> In b k -> R' a b -> R a b) -> forward E R k -> forward E R' k.
  Proof.
    intros I F k1 x k2 -> y Hy C. apply (F k1 x k2 eq_refl y Hy). apply I; auto.
    - apply in_or_app. simpl. auto.
    - apply in_or_app. simpl. destruct Hy; subst; auto.
  Qed.

  Lemma sorted_nodup l : sorted E po rf l -> NoDup l.
  Proof.
    induction l as [|e l IH] using rev_ind; intros S; [constructor|].
    assert (N : ~ In e l) by (apply (S l e [] eq_refl)).
    assert (ND := IH (sorted_app _ _ _ _ _ S)).
    apply NoDup_rev in ND. rewrite <- (rev_involutive (l ++ [e])). apply NoDup_rev.
    rewrite rev_app_distr. simpl. constructor; auto. now rewrite <- in_rev.
  Qed.

  Lemma sorted_forward l : sorted E po rf l -> forward E (fun a b => po a b \/ rf a b) l.
  Proof. intros S k1 x k2 -> y Hy [C|C]; destruct (S k1 x k2 eq_refl) as [_ K]; destruct (K y Hy); auto. Qed.

  (** The history of a thread does not depend on the order. *)
  Lemma history_eq t l k : NoDup l -> forward E po l -> forward E po k ->
    Permutation (of t l) (of t k) -> history t l = history t k.
  Proof.
    intros ND Fl Fk Pm. unfold history. f_equal. apply forward_unique with (R := po); auto using of_nodup.
    - now apply forward_filter.
    - now apply forward_filter.
    - intros x y Ix Iy. apply of_in in Ix, Iy. apply po_total. intuition congruence.
  Qed.

  Lemma in_prefix_before (R : E -> E -> Prop) k1 e k2 x : forward E R (k1 ++ e :: k2) -> In x (k1 ++ e :: k2) -> R x e -> In x k1.
  Proof.
    intros F I C. apply in_app_or in I. destruct I as [I|[->|I]]; auto; exfalso.
    - apply (F k1 x k2 eq_refl x); auto.
    - destruct (in_split _ _ I) as (k3 & k4 & ->).
      apply (F (k1 ++ e :: k3) x k4 ltac:(now rewrite <- app_assoc) e); auto. left. apply in_or_app. simpl. auto.
  Qed.

  (** The events of [e]'s thread that come before [e] are the same in any two orders that respect po. *)
  Lemma forward_prefix (R : E -> E -> Prop) k k' : forward E R (k ++ k') -> forward E R k.
  Proof. intros F k1 x k2 -> y Hy. apply (F k1 x (k2 ++ k')); auto. now rewrite <- app_assoc. Qed.

  Lemma before_sub a a1 a2 b1 b2 : NoDup (a1 ++ a :: a2) -> forward E po (a1 ++ a :: a2) -> forward E po (b1 ++ a :: b2) ->
    Permutation (a1 ++ a :: a2) (b1 ++ a :: b2) -> forall x, In x (of (tid a) a1) -> In x (of (tid a) b1).
  Proof.
    intros ND F F' Pm x I. apply of_in in I. destruct I as [I Ht]. apply of_in. split; auto.
    apply in_prefix_before with (R := po) (e := a) (k2 := b2); auto.
    - eapply Permutation_in; [exact Pm|]. apply in_or_app; auto.
    - destruct (po_total x a Ht) as [->|[C|C]]; auto; exfalso.
      + apply NoDup_remove_2 in ND. apply ND. apply in_or_app; auto.
      + apply (F a1 a a2 eq_refl x); auto.
  Qed.

  Lemma before_same l1 e l2 k1 k2 :
    Permutation (l1 ++ e :: l2) (k1 ++ e :: k2) -> NoDup (l1 ++ e :: l2) ->
    forward E po (l1 ++ e :: l2) -> forward E po (k1 ++ e :: k2) ->
    history (tid e) l1 = history (tid e) k1.
  Proof.
    intros Pm ND Fl Fk. assert (NDk : NoDup (k1 ++ e :: k2)) by (eapply Permutation_NoDup; eauto).
    assert (NDl1 : NoDup l1) by (clear - ND; induction l1; [constructor|inversion ND; subst; constructor; auto; intros I; apply H1; apply in_or_app; auto]).
    assert (NDk1 : NoDup k1) by (clear - NDk; induction k1; [constructor|inversion NDk; subst; constructor; auto; intros I; apply H1; apply in_or_app; auto]).
    apply history_eq; eauto using forward_prefix. apply NoDup_Permutation; auto using of_nodup.
    intros x. split; eapply before_sub; eauto. now symmetry.
  Qed.

  (** ** An SC graph, in any order that respects its edges, is a run. *)
  Theorem order_is_run l k : graph l -> Permutation l k -> forward E (scstep (events l)) k -> sc_run k.
  Proof.
    intros [Gs Gr Gp] Pm F k1 e k2 Ek.
    assert (ND := sorted_nodup _ Gs).
    assert (Inl : forall x, In x k -> In x l) by (intros x; apply Permutation_in; now symmetry).
    assert (Fpo : forward E po k) by (eapply forward_weaken; [|exact F]; intros a b Ia Ib C; repeat split; auto; apply Inl; auto).
    assert (Flp : forward E po l) by (eapply forward_weaken; [|apply sorted_forward, Gs]; simpl; auto).
    assert (Ie : In e l) by (apply Inl; subst; apply in_or_app; simpl; auto).
    split.
    - destruct (in_split _ _ Ie) as (l1 & l2 & El). rewrite El in *. rewrite Ek in *.
      rewrite <- (before_same l1 e l2 k1 k2); auto. eapply Gp; eauto.
    - intros Re. destruct (Gr e Ie Re) as (w & Iw & Rw). exists w. split; [|split; auto].
      assert (Wk : In w k) by (eapply Permutation_in; eauto).
      assert (I1 : In w k1).
      { rewrite Ek in F, Wk. eapply in_prefix_before; eauto. repeat split; auto. }
      destruct (in_split _ _ I1) as (k3 & k4 & E1). exists k3, k4. split; auto. split; [eauto|]. split; [eauto|].
      intros v Iv Wv Lv. assert (Ivk : In v k) by (rewrite Ek, E1; apply in_or_app; left; apply in_or_app; simpl; auto).
      assert (Lwv : loc w = loc v) by (rewrite Lv; eauto).
      destruct (in_split _ _ Iv) as (k5 & k6 & E4).
      assert (Kv : k = (k3 ++ w :: k5) ++ v :: (k6 ++ e :: k2)) by (rewrite Ek, E1, E4; repeat (rewrite <- app_assoc; simpl); reflexivity).
      destruct (mo_total w v (rf_dom _ _ Rw) Wv Lwv) as [->|[M|M]].
      + assert (NDk : NoDup k) by (eapply Permutation_NoDup; eauto). rewrite Kv in NDk.
        apply NoDup_remove_2 in NDk. apply NDk. apply in_or_app. left. apply in_or_app. simpl; auto.
      + (* e reads w, which v overwrites before e *)
        destruct (classic (e = v)) as [->|D].
        * assert (NDk : NoDup k) by (eapply Permutation_NoDup; eauto). rewrite Ek in NDk.
          apply NoDup_remove_2 in NDk. apply NDk. rewrite E1. apply in_or_app. left. apply in_or_app. simpl; auto.
        * assert (S : scstep (events l) e v).
          { split; [exact Ie|]. split; [exact (Inl _ Ivk)|]. right; right; right. exists w. repeat split; auto. }
          apply (F k1 e k2 Ek v); auto. left. rewrite E1, E4. apply in_or_app. right. simpl. right. apply in_or_app. simpl; auto.
      + assert (S : scstep (events l) v w) by (split; [exact (Inl _ Ivk)|split; auto]).
        apply (F _ v _ Kv w); auto. left. apply in_or_app. simpl; auto.
  Qed.

  (** * The attack: what the instrumented program looks for *)

  (** What the bit [s] follows along a run: same thread, or accesses that conflict. *)
  Definition dep (c b : E) : Prop :=
    tid c = tid b \/ (loc c = loc b /\ accesses c /\ accesses b /\ (isW c \/ isW b)).

  Hypothesis rf_read : forall a b, rf a b -> isR b.

  Lemma scstep_dep P c b : scstep P c b -> dep c b.
  Proof.
    intros (_ & _ & [C|[C|[C|(w & _ & R & M & _)]]]); unfold dep, accesses.
    - left. auto.
    - assert (W := rf_dom _ _ C). assert (R := rf_read _ _ C). right. split; [now apply rf_loc|]. tauto.
    - destruct (mo_dom _ _ C). right. split; [now apply mo_loc|]. tauto.
    - destruct (mo_dom _ _ M). assert (Rc := rf_read _ _ R). right.
      split; [transitivity (loc w); [symmetry|]; eauto|]. tauto.
  Qed.

  Lemma partition (P : E -> Prop) l : exists a b, Permutation l (a ++ b) /\ (forall x, In x a -> ~ P x) /\ (forall x, In x b -> P x).
  Proof.
    induction l as [|x l (a & b & Pm & A & B)].
    - exists [], []. simpl. repeat split; auto; intros ? [].
    - destruct (classic (P x)).
      + exists a, (x :: b). split; [|split; auto].
        * etransitivity; [apply perm_skip, Pm|apply Permutation_middle].
        * intros y [<-|I]; auto.
      + exists (x :: a), b. split; [|split; auto].
        * simpl. now apply perm_skip.
        * intros y [<-|I]; auto.
  Qed.

  (** [knows k2 f]: a path of happens-before, inside the run, leads from an access of [x] at or after [w'] to [f]. *)
  Definition knows (H : E -> Prop) (tail : list E) (x : Loc) (f : E) : Prop :=
    exists a, In a tail /\ accesses a /\ loc a = x /\ clos_refl_trans E (hbstep E po sync H) a f.

  (** All of an attack but that [e] has to be consistent. *)
  Definition opening (k1 : list E) (w' : E) (k2 : list E) (e : E) : Prop :=
    let k := k1 ++ w' :: k2 in
    sc_run k /\
    isW w' /\ loc e = loc w' /\
    (forall p b q, k2 = p ++ b :: q -> exists c, In c (w' :: p) /\ dep c b) /\
    Prog (tid e) (history (tid e) k ++ [lab e]) /\
    (exists f, In f (w' :: k2) /\ tid f = tid e) /\
    (isR e -> exists w, last_write k1 (loc e) w /\ read_val (lab e) = written (lab w)) /\
    (isW e -> ~ isR w').

  Definition attack (k1 : list E) (w' : E) (k2 : list E) (e : E) : Prop :=
    let k := k1 ++ w' :: k2 in
    opening k1 w' k2 e /\
    (forall f, In f k -> tid f = tid e -> ~ knows (events k) (w' :: k2) (loc w') f).

  (** [e] would come before [w']: it is a write placed there, or it reads what [w'] overwrites. *)
  Definition overlooked e w' := mo e w' \/ exists w, rf w e /\ mo w w'.

  (** A last event that makes a graph not SC, in any model: what comes before it is a run that opens an attack. All accesses of
      its location from [w'] on are stale for it. *)
  Lemma last_event_opens l l1 e l2 w' f : graph l -> l = l1 ++ e :: l2 ->
    SC (events l1) -> ~ events l1 e -> (forall x, G E (events l1) e x -> ~ po e x /\ ~ rf e x) ->
    atomic E rf mo isW (G E (events l1) e) -> first E rf mo (events l1) e w' ->
    events l1 f -> clos_refl_trans E (scstep (events l1)) w' f -> po f e ->
    exists k1 k2, opening k1 w' k2 e /\ Permutation l1 (k1 ++ w' :: k2) /\
      forward E (scstep (events (k1 ++ w' :: k2))) (k1 ++ w' :: k2) /\ NoDup (k1 ++ w' :: k2) /\ overlooked e w' /\
      forall x, In x (w' :: k2) -> accesses x -> loc x = loc w' -> stale E rf mo (events l1) e x.
  Proof.
    intros Gl El Hsc Fr Out At Fw Hf Rf Pf. assert (Gl' := Gl). destruct Gl' as [Gs Gr Gp].
    set (H := events l1) in *.
    assert (G1 : graph l1).
    { split.
      - subst l. eapply sorted_app; eauto.
      - intros r Ir Rr. destruct (Gr r) as (w & Iw & Rw); [subst l; apply in_or_app; auto|auto|]. exists w. split; auto.
        clear Gr Gp Gl. destruct (in_split _ _ Ir) as (a & b & Eab). rewrite El, Eab in Gs, Iw.
        assert (F := sorted_forward _ Gs). rewrite <- app_assoc in F, Iw. simpl in F, Iw.
        rewrite Eab. apply in_or_app. left. eapply in_prefix_before; [exact F|exact Iw|right; exact Rw].
      - intros a x b Ex. eapply Gp. rewrite El, Ex, <- app_assoc. simpl. reflexivity. }
    destruct Fw as [[Hw Bw] Fst].
    (* the order: what is not behind w', w', what is behind it *)
    destruct (partition (fun x => hbsc E po rf mo H w' x) l1) as (a & b & Pm & Na & Pb).
    assert (Iw : In w' a).
    { assert (I : In w' (a ++ b)) by (eapply Permutation_in; eauto). apply in_app_or in I. destruct I as [I|I]; auto.
      destruct (Hsc w' (Pb _ I)). }
    destruct (in_split _ _ Iw) as (a1 & a2 & Ea).
    assert (NDl : NoDup l1) by (apply sorted_nodup; apply G1).
    assert (Pm' : Permutation l1 ((a1 ++ a2) ++ w' :: b)).
    { rewrite Pm, Ea. rewrite <- !app_assoc. simpl. apply Permutation_app_head.
      apply Permutation_middle. }
    assert (NDp := Permutation_NoDup Pm' NDl).
    assert (Sub : forall x, In x ((a1 ++ a2) ++ w' :: b) -> H x) by (intros x I; exact (Permutation_in _ (Permutation_sym Pm') I)).
    assert (Ac : acyclic E (scstep H) H).
    { assert (Inc : forall u v, clos_trans E (fun x y => H x /\ H y /\ scstep H x y) u v -> hbsc E po rf mo H u v).
      { intros u v C. induction C as [u v S|u v z C1 I1 C2 I2]; [apply t_step; apply S|eapply t_trans; [exact I1|exact I2]]. }
      intros x C. exact (Hsc x (Inc _ _ C)). }
    assert (NDA : NoDup (a1 ++ a2) /\ NoDup b).
    { clear - NDp. induction (a1 ++ a2) as [|x r IH]; simpl in NDp.
      - split; [constructor|]. now inversion NDp.
      - inversion NDp; subst. destruct (IH H2). split; auto. constructor; auto. intros I. apply H1. apply in_or_app; auto. }
    destruct NDA as [NDA NDB].
    destruct (topological E (scstep H) _ (a1 ++ a2) H eq_refl NDA Ac) as (k1 & P1 & F1); [intros; apply Sub, in_or_app; auto|].
    destruct (topological E (scstep H) _ b H eq_refl NDB Ac) as (k2 & P2 & F2); [intros; apply Sub, in_or_app; simpl; auto|].
    set (k := k1 ++ w' :: k2).
    assert (Pk : Permutation l1 k).
    { unfold k. rewrite Pm'. apply Permutation_app; auto. }
    assert (Ink : forall x, In x k <-> H x) by (intros x; split; intros I; [exact (Permutation_in _ (Permutation_sym Pk) I)|exact (Permutation_in _ Pk I)]).
    assert (In2 : forall x, In x k2 -> hbsc E po rf mo H w' x) by (intros x I; apply Pb; eapply Permutation_in; [symmetry|]; eauto).
    assert (In1 : forall x, In x k1 -> ~ hbsc E po rf mo H w' x).
    { intros x I. apply Na. rewrite Ea. apply (Permutation_in _ (Permutation_sym P1)) in I.
      apply in_app_or in I. apply in_or_app. simpl. tauto. }
    assert (Fk : forward E (scstep H) k).
    { apply forward_app; auto.
      - apply forward_cons; auto.
        + intros S. apply (Hsc w'). now apply t_step.
        + intros x I S. apply (Hsc w'). eapply t_trans; [apply In2; eauto|now apply t_step].
      - intros x y Ix Iy S. apply (In1 y Iy). destruct Ix as [<-|Ix]; [now apply t_step|].
        eapply t_trans; [apply In2; eauto|now apply t_step]. }
    assert (NDk : NoDup k) by (eapply Permutation_NoDup; eauto).
    assert (Behind : forall x, clos_refl_trans E (scstep H) w' x -> In x (w' :: k2)).
    { intros x R. apply rt_t in R. destruct R as [->|R]; [simpl; auto|]. right.
      assert (I : In x k). { apply Ink. apply clos_trans_tn1 in R. inversion R as [? S|? ? S]; apply S. }
      unfold k in I. apply in_app_or in I. destruct I as [I|[->|I]]; auto; [destruct (In1 x I R)|destruct (Hsc x R)]. }
    assert (Ww : isW w'). { destruct Bw as [B|(w & _ & _ & B & _)]; now destruct (mo_dom _ _ B). }
    assert (Lw : loc e = loc w').
    { destruct Bw as [B|(w & _ & R & B & _)]; [eauto|]. transitivity (loc w); [symmetry|]; eauto. }
    assert (Run : sc_run k) by (eapply order_is_run; eauto).
    assert (Fkp : forward E po k) by (eapply forward_weaken; [|exact Fk]; intros x y Ix Iy C; repeat split; auto; now apply Ink).
    assert (Fke : forward E (scstep (events k)) k).
    { eapply forward_weaken; [|exact Fk]. intros x y Ix Iy (_ & _ & C). split; [now apply Ink|]. split; [now apply Ink|].
      destruct C as [C|[C|[C|(w & Pw & C)]]]; auto. right; right; right. exists w. split; auto. now apply Ink. }
    assert (Over : overlooked e w').
    { destruct Bw as [B|(w & _ & R & B & _)]; [left; exact B|right; eauto]. }
    exists k1, k2. fold k. split; [|split; [exact Pk|split; [exact Fke|split; [exact NDk|split; [exact Over|]]]]].
    { unfold opening. fold k. split; [exact Run|]. split; [exact Ww|]. split; [exact Lw|]. split; [|split; [|split; [|split]]].
    - (* every later step joins *)
      intros p x q Eq. assert (Bx := In2 x ltac:(rewrite Eq; apply in_or_app; simpl; auto)).
      assert (C : exists c, clos_refl_trans E (scstep H) w' c /\ scstep H c x).
      { apply clos_trans_tn1 in Bx. inversion Bx as [? S|y ? S Tn]; subst.
        - exists w'. split; [apply rt_refl|auto].
        - exists y. split; auto. apply clos_tn1_trans in Tn. clear - Tn. induction Tn; [now apply rt_step|eapply rt_trans; eauto]. }
      destruct C as (c & Rc & Sc). exists c. split; [|eapply scstep_dep; eauto].
      assert (Ic : In c (k1 ++ w' :: p)).
      { apply in_prefix_before with (R := scstep H) (e := x) (k2 := q).
        - replace ((k1 ++ w' :: p) ++ x :: q) with k; auto. unfold k. rewrite Eq, <- app_assoc. reflexivity.
        - replace ((k1 ++ w' :: p) ++ x :: q) with k; [apply Ink, Sc|]. unfold k. rewrite Eq, <- app_assoc. reflexivity.
        - auto. }
      apply in_app_or in Ic. destruct Ic as [Ic|Ic]; auto. exfalso.
      apply rt_t in Rc. destruct Rc as [->|Rc]; [|exact (In1 _ Ic Rc)].
      unfold k in NDk. apply NoDup_remove_2 in NDk. apply NDk. apply in_or_app; auto.
    - (* e's thread can go on with e *)
      assert (Eh : history (tid e) l1 = history (tid e) k).
      { assert (Fl1 : forward E po l1) by (eapply forward_weaken; [|apply sorted_forward, G1]; simpl; auto).
        apply history_eq; auto. apply NoDup_Permutation; auto using of_nodup.
        intros x. rewrite !of_in, Ink. reflexivity. }
      rewrite <- Eh. eapply Gp; eauto.
    - exists f. split; [apply Behind; auto|auto].
    - (* the value that e reads is the one before w' *)
      intros Re. destruct (Gr e) as (w & Iwl & Rw); [rewrite El; apply in_or_app; simpl; auto|auto|].
      assert (Hw0 : H w). { rewrite El in Gs, Iwl. eapply in_prefix_before; [apply sorted_forward, Gs|exact Iwl|right; exact Rw]. }
      exists w. split; auto.
      assert (Mw : mo w w').
      { destruct Bw as [B|(w1 & _ & R1 & B & _)]; [|now rewrite (rf_fun _ _ _ Rw R1)].
        destruct (At w e) as [M _]; auto; try (left; exact Hw0); try (right; reflexivity); [now destruct (mo_dom _ _ B)|eauto]. }
      assert (I1 : In w k1).
      { eapply in_prefix_before; [exact Fk|now apply Ink|]. repeat split; auto. }
      destruct (in_split _ _ I1) as (p & q & Ep). exists p, q. split; auto. split; [eauto|]. split; [eauto|].
      intros v Iv Wv Lv. assert (Hv : H v) by (apply Ink; unfold k; rewrite Ep; apply in_or_app; left; apply in_or_app; simpl; auto).
      assert (Ik1 : In v k1) by (rewrite Ep; apply in_or_app; simpl; auto).
      assert (Lwv : loc w = loc v) by (rewrite Lv; eauto).
      destruct (mo_total w v (rf_dom _ _ Rw) Wv Lwv) as [->|[M|M]].
      + unfold k in NDk. rewrite Ep in NDk. rewrite <- app_assoc in NDk. simpl in NDk.
        apply NoDup_remove_2 in NDk. apply NDk. apply in_or_app. right. apply in_or_app. auto.
      + (* v is behind, so w' comes first *)
        assert (Bv : LastEvent.behind E rf mo H e v).
        { split; auto. right. exists w. repeat split; auto. intros ->. contradiction. }
        destruct (Fst v Bv) as [->|Mv].
        * unfold k in NDk. apply NoDup_remove_2 in NDk. apply NDk. apply in_or_app; auto.
        * apply (In1 v Ik1). apply t_step. repeat split; auto.
      + destruct (in_split _ _ Iv) as (q1 & q2 & Eq).
        assert (Kk : k = (p ++ w :: q1) ++ v :: (q2 ++ w' :: k2)) by (unfold k; rewrite Ep, Eq; repeat (rewrite <- app_assoc; simpl); reflexivity).
        apply (Fk _ v _ Kk w); [left; apply in_or_app; simpl; auto|]. repeat split; auto.
    - (* an update that read what e would write behind *)
      intros We Rw'. destruct (g_sources _ G1 w' Hw Rw') as (w0 & I0 & R0).
      destruct (At w0 w') as [M0 Nxt]; auto; try (left; auto; fail).
      assert (Mew : mo e w').
      { destruct Bw as [B|(w & Pw & R & M & D)]; auto.
        destruct (At w e) as [_ N]; auto; try (left; exact Pw); try (right; reflexivity).
        destruct (N w'); auto. left; auto. congruence. }
      destruct (mo_total w0 e) as [->|[M|M]]; auto.
      + eauto.
      + rewrite Lw. eauto.
      + destruct (Nxt e (or_intror eq_refl) M) as [Q|M'].
        * apply Fr. rewrite Q. exact Hw.
        * apply (mo_irr e). eauto.
      + assert (B0 : LastEvent.behind E rf mo H e w0) by (split; auto).
        destruct (Fst _ B0) as [->|M']; [exact (mo_irr _ M0)|]. apply (mo_irr w0). eauto. }
    intros x Ix Ax Lx. assert (Hx : H x) by (apply Ink; unfold k; apply in_or_app; auto).
        assert (Aft : forall v, In v (w' :: k2) -> isW v -> loc v = loc w' -> LastEvent.behind E rf mo H e v).
        { intros v Iv Wv Lv. assert (Hv : H v) by (apply Ink; unfold k; apply in_or_app; auto).
          assert (V : v = w' \/ mo w' v).
          { destruct Iv as [<-|Iv]; auto. destruct (mo_total w' v) as [|[M|M]]; auto. exfalso.
            apply (Hsc w'). eapply t_trans; [apply In2; eauto|]. apply t_step. repeat split; auto. }
          destruct V as [->|V]; [split; auto|]. eapply behind_mo; eauto. split; auto. }
        destruct (classic (isW x)) as [Wx|Nx]; [left; auto|].
        destruct Ax as [Rdx|]; [|tauto]. right.
        destruct (g_sources _ G1 x Hx Rdx) as (w & Iwl & Rw). exists w. split; auto.
        apply Aft; eauto; [|transitivity (loc x); eauto].
        destruct (classic (w = w')) as [->|D]; [simpl; auto|]. 
        assert (Ik : In w k) by now apply Ink. unfold k in Ik. apply in_app_or in Ik. destruct Ik as [Ik|Ik]; auto. exfalso.
        (* x would read a write before w' *)
        assert (M : mo w w').
        { destruct (mo_total w w') as [|[M|M]]; eauto; [transitivity (loc x); eauto|congruence|].
          exfalso. apply (In1 w Ik). apply t_step. repeat split; auto. }
        assert (S : scstep H x w').
        { repeat split; auto. right; right; right. exists w. repeat split; auto. intros ->. tauto. }
        destruct Ix as [<-|Ix]; [tauto|]. apply (Hsc w'). eapply t_trans; [apply In2; eauto|now apply t_step].
  Qed.

  Theorem attack_complete l : graph l -> consistent (events l) -> ~ SC (events l) ->
    exists k1 w' k2 e, attack k1 w' k2 e /\ forward E (scstep (events (k1 ++ w' :: k2))) (k1 ++ w' :: k2) /\
      NoDup (k1 ++ w' :: k2) /\ overlooked e w'.
  Proof.
    intros Gl Ra Ns.
    destruct (violation_complete E po rf mo isW mo_dom mo_trans mo_irr rf_fun rf_dom sync sync_porf sync_mono sync_local Loc loc mo_loc rf_loc mo_total l (g_sorted _ Gl) Ra Ns)
      as (l1 & e & l2 & w' & f & El & (Hsc & Fr & Out & At & Fw & Hf & Rf & Pf & Kn)).
    destruct (last_event_opens l l1 e l2 w' f Gl El Hsc Fr Out At Fw Hf Rf Pf) as (k1 & k2 & Op & Pk & Fs & ND & Ov & St).
    exists k1, w', k2, e. split; [|auto]. split; [exact Op|]. set (k := k1 ++ w' :: k2) in *. set (H := events l1) in *.
    assert (Ink : forall x, In x k <-> H x)
      by (intros x; split; intros I; [exact (Permutation_in _ (Permutation_sym Pk) I)|exact (Permutation_in _ Pk I)]).
    intros g Ig Tg (x & Ix & Ax & Lx & Rx). assert (Hg : H g) by now apply Ink. apply (Kn x (St x Ix Ax Lx)).
    assert (Pge : po g e). { destruct (po_total g e Tg) as [->|[C|C]]; auto; [contradiction|].
      destruct (Out g) as [C' _]; [left; auto|contradiction]. }
    assert (Mono : forall u v, clos_refl_trans E (hbstep E po sync (events k)) u v -> u = v \/ hb E po sync (G E H e) u v).
        { intros u v R. apply rt_t in R. destruct R as [|R]; auto. right. eapply hb_mono; [exact sync_mono| |exact R].
      intros z Iz. left. now apply Ink. }
    assert (Last : hb E po sync (G E H e) g e) by (apply t_step; split; [left; auto|split; [right; auto|auto]]).
    destruct (Mono _ _ Rx) as [->|R]; auto. eapply t_trans; eauto.
  Qed.

  (** * What threads know, followed along the run: three bits for each thread and one for each location's last write *)

  Record kstate := {
    cur : T -> Prop;      (* what the thread knows *)
    acq : T -> Prop;      (* what an acquiring fence would add *)
    rel : T -> Prop;      (* what it knew at its last releasing fence *)
    msg : Loc -> Prop }.  (* what the last write of a location passes on *)

  Definition kstep (x : Loc) (st : kstate) (b : E) : kstate :=
    let t := tid b in
    let own := accesses b /\ loc b = x in
    let read := isR b /\ msg st (loc b) in
    let cur' := cur st t \/ own \/ (acquires (lab b) /\ (read \/ (~ accesses b /\ acq st t))) in
    {| cur := fun u => cur st u \/ (u = t /\ cur');
       acq := fun u => acq st u \/ (u = t /\ (cur' \/ read));
       rel := fun u => rel st u \/ (u = t /\ ~ accesses b /\ releases (lab b) /\ cur');
       msg := fun y => (isW b /\ y = loc b /\ (rel st t \/ (releases (lab b) /\ cur') \/ (isR b /\ msg st y))) \/
                       (~ (isW b /\ y = loc b) /\ msg st y) |}.
  Definition knone : kstate := {| cur := fun _ => False; acq := fun _ => False; rel := fun _ => False; msg := fun _ => False |}.

  Lemma last_write_unique k x w f : last_write k x w -> last_write k x f -> w = f.
  Proof.
    intros (a1 & a2 & E1 & Ww & Lw & Nw) (b1 & b2 & E2 & Wf & Lf & Nf). subst k. revert b1 E2.
    induction a1 as [|a a1 IH]; intros [|b b1] E2; simpl in E2; inversion E2; subst; auto.
    - exfalso. apply (Nw f); auto. apply in_or_app; simpl; auto.
    - exfalso. apply (Nf w); auto. apply in_or_app; simpl; auto.
    - eauto.
  Qed.

  (** [passes H tail x w]: what acquires from the write [w] knows. *)
  Definition passes (H : E -> Prop) (tail : list E) (x : Loc) (w : E) : Prop :=
    exists a g, knows H tail x a /\ makes_known H a g /\ sequence H g w.

  Record kmeaning (k : list E) (H : E -> Prop) (tail : list E) (x : Loc) (st : kstate) : Prop := {
    m_cur : forall t, cur st t -> exists f, In f k /\ tid f = t /\ knows H tail x f;
    m_acq : forall t, acq st t -> (exists f, In f k /\ tid f = t /\ knows H tail x f) \/
                                  (exists r w, In r k /\ tid r = t /\ rf w r /\ passes H tail x w);
    m_rel : forall t, rel st t -> exists f, In f k /\ tid f = t /\ ~ accesses f /\ releases (lab f) /\ knows H tail x f;
    m_msg : forall y, msg st y -> exists w, last_write k y w /\ passes H tail x w }.

  Lemma kbits_sound k1 tail x : sc_run (k1 ++ tail) -> forward E po (k1 ++ tail) -> NoDup (k1 ++ tail) ->
    forall p q, tail = p ++ q ->
    kmeaning (k1 ++ p) (events (k1 ++ tail)) tail x (fold_left (kstep x) p knone).
  Proof.
    intros Run F ND. set (H := events (k1 ++ tail)). induction p as [|b p IH] using rev_ind; intros q Eq.
    - simpl. split; intros ? [].
    - rewrite <- app_assoc in Eq. simpl in Eq. specialize (IH _ Eq). rewrite fold_left_app. simpl.
      set (st := fold_left (kstep x) p knone) in *. destruct IH as [Ic Ia Ir Im].
      assert (Ek : k1 ++ tail = (k1 ++ p) ++ b :: q) by (rewrite Eq, app_assoc; reflexivity).
      assert (Ib : In b tail) by (rewrite Eq; apply in_or_app; simpl; auto).
      assert (Hb : H b) by (unfold H, LastEvent.events; apply in_or_app; auto).
      assert (Hp : forall f, In f (k1 ++ p) -> H f) by (intros f I; unfold H, LastEvent.events; rewrite Ek; apply in_or_app; auto).
      rewrite app_assoc.
      assert (Old : forall f, In f (k1 ++ p) -> In f ((k1 ++ p) ++ [b])) by (intros; apply in_or_app; auto).
      assert (New : In b ((k1 ++ p) ++ [b])) by (apply in_or_app; simpl; auto).
      assert (Po : forall f, In f (k1 ++ p) -> tid f = tid b -> po f b).
      { intros f If Tf. destruct (po_total f b Tf) as [->|[C|C]]; auto; exfalso.
        - rewrite Ek in ND. apply NoDup_remove_2 in ND. apply ND. apply in_or_app; auto.
        - apply (F _ b _ Ek f); auto. }
      assert (Kb : forall f, H f -> knows H tail x f -> po f b \/ sync H f b -> knows H tail x b).
      { intros f Hf (a & Aa & Ca & La & Ra) C. exists a. repeat (split; [assumption|]).
        eapply rt_trans; [eauto|]. apply rt_step. split; auto. }
      assert (Src : isR b -> forall f, last_write (k1 ++ p) (loc b) f -> rf f b).
      { intros Rb f Lf. destruct (Run _ _ _ Ek) as [_ Rd]. destruct (Rd Rb) as (w & Lw & Rw & _).
        now rewrite (last_write_unique _ _ _ _ Lf Lw). }
      assert (Learn : forall r w, passes H tail x w -> rf w r -> H r -> learns H r b -> knows H tail x b).
      { intros r w (a & g & Ka & Mk & Sg) R Hr Lr. apply (Kb a); [apply Mk|exact Ka|]. right.
        exists g, w, r. auto. }
      set (cur' := cur st (tid b) \/ (accesses b /\ loc b = x) \/
        (acquires (lab b) /\ ((isR b /\ msg st (loc b)) \/ (~ accesses b /\ acq st (tid b))))).
      assert (C' : cur' -> knows H tail x b).
      { intros [C|[[Ab Lb]|[Aq [[Rb M]|[Nb A]]]]].
        - destruct (Ic _ C) as (f & If & Tf & Kf). apply (Kb f); auto.
        - exists b. repeat (split; [assumption|]). apply rt_refl.
        - destruct (Im _ M) as (w & Lw & Pw). apply (Learn b w); auto. split; [auto|]. split; auto.
        - destruct (Ia _ A) as [(f & If & Tf & Kf)|(r & w & Ir' & Tr & Rw & Pw)]; [apply (Kb f); auto|].
          apply (Learn r w); auto. split; [auto|]. split; auto. }
      split; simpl.
      + intros t [C|[-> C]]; [|exists b; auto]. destruct (Ic _ C) as (f & If & Tf & Kf). exists f. auto.
      + intros t [A|[-> [C|[Rb M]]]].
        * destruct (Ia _ A) as [(f & If & Tf & Kf)|(r & w & Ir' & Tr & Rw & Pw)]; [left; exists f; auto|].
          right. exists r, w. auto.
        * left. exists b. auto.
        * right. destruct (Im _ M) as (w & Lw & Pw). exists b, w. auto.
      + intros t [R|[-> [Nb [Rl C]]]]; [|exists b; auto 6]. destruct (Ir _ R) as (f & If & Tf & Nf & Rf & Kf). exists f. auto 6.
      + assert (Lb : isW b -> last_write ((k1 ++ p) ++ [b]) (loc b) b)
          by (intros Wb; exists (k1 ++ p), []; repeat split; auto).
        intros y [(Wb & -> & [R|[[Rl C]|[Rb M]]])|[Nb M]].
        * exists b. split; [auto|]. destruct (Ir _ R) as (f & If & Tf & Nf & Rf & Kf). exists f, b.
          split; [exact Kf|]. split; [|constructor; auto]. split; [auto|]. split; auto.
        * exists b. split; [auto|]. exists b, b. split; [auto|]. split; [|constructor; auto]. split; auto.
        * exists b. split; [auto|]. destruct (Im _ M) as (w & Lw & a & g & Ka & Mk & Sg). exists a, g.
          split; [exact Ka|]. split; [exact Mk|]. apply sequence_update with w; auto.
        * destruct (Im y M) as (w & (c1 & c2 & Ec & Ww & Lw & Nw) & Pw). exists w. split; auto.
          exists c1, (c2 ++ [b]). split; [rewrite Ec, <- app_assoc; reflexivity|]. split; auto. split; auto.
          intros v Iv Wv Lv. apply in_app_or in Iv. destruct Iv as [Iv|[<-|[]]]; [eapply Nw; eauto|]. apply Nb. auto.
  Qed.

  (** Success of the instrumented program: the run, its steps after [w'] joined by levels, bit [s] set and bit [k] not. *)
  Definition success (k1 : list E) (w' : E) (k2 : list E) (e : E) : Prop :=
    opening k1 w' k2 e /\ ~ cur (fold_left (kstep (loc w')) (w' :: k2) knone) (tid e).

  Theorem not_robust_success l : graph l -> consistent (events l) -> ~ SC (events l) ->
    exists k1 w' k2 e, success k1 w' k2 e /\ forward E (scstep (events (k1 ++ w' :: k2))) (k1 ++ w' :: k2) /\
      NoDup (k1 ++ w' :: k2) /\ overlooked e w'.
  Proof.
    intros Gl Ra Ns.
    destruct (attack_complete l Gl Ra Ns) as (k1 & w' & k2 & e & (Op & K) & Fs & ND & Ov).
    assert (F : forward E po (k1 ++ w' :: k2)).
    { eapply forward_weaken; [|exact Fs]. intros x y Ix Iy P. repeat split; auto. }
    exists k1, w', k2, e. split; [|auto]. split; [exact Op|]. assert (A := proj1 Op).
    intros Kt. destruct (kbits_sound k1 (w' :: k2) (loc w') A F ND (w' :: k2) [] ltac:(now rewrite app_nil_r)) as [I _ _ _].
    destruct (I _ Kt) as (f & If & Tf & Kf). exact (K f If Tf Kf).
  Qed.
End Program.
