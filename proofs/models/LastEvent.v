(** Robustness against C11 without SC accesses and SC fences: one last event. Graphs over any type of events; a set [P] of
    events gives the graph restricted to it. Which events synchronise is a parameter: all that are related by reads-from
    (release/acquire), or a releasing write or fence with what acquires from its release sequence. *)
From Coq Require Import Relations Classical List.
Import ListNotations.

Section Graph.
  Variable E : Type.
  Variables po rf mo : E -> E -> Prop.
  Variable Wr : E -> Prop.                       (* writes, read-modify-writes among them *)

  Hypothesis mo_dom : forall a b, mo a b -> Wr a /\ Wr b.
  Hypothesis mo_trans : forall a b c, mo a b -> mo b c -> mo a c.
  Hypothesis mo_irr : forall a, ~ mo a a.
  Hypothesis rf_fun : forall a b r, rf a r -> rf b r -> a = b.
  Hypothesis rf_dom : forall a b, rf a b -> Wr a.

  (** [sync P]: what synchronises in the graph [P]. It is a path of po and rf, and depends on events before alone. *)
  Variable sync : (E -> Prop) -> E -> E -> Prop.
  Definition porf (P : E -> Prop) x y := P x /\ P y /\ (po x y \/ rf x y).
  Hypothesis sync_porf : forall P x y, sync P x y -> clos_trans E (porf P) x y.
  Hypothesis sync_mono : forall (P Q : E -> Prop) x y, (forall z, P z -> Q z) -> sync P x y -> sync Q x y.
  Hypothesis sync_local : forall (H : E -> Prop) e x y, (forall z, H z \/ z = e -> ~ po e z /\ ~ rf e z) ->
    H y -> sync (fun z => H z \/ z = e) x y -> sync H x y.

  Definition frel (P : E -> Prop) r x := exists w, P w /\ rf w r /\ mo w x /\ r <> x.
  Definition ecostep (P : E -> Prop) x y := P x /\ P y /\ (rf x y \/ mo x y \/ frel P x y).
  Definition hbstep (P : E -> Prop) x y := P x /\ P y /\ (po x y \/ sync P x y).
  Definition scstep (P : E -> Prop) x y := P x /\ P y /\ (po x y \/ rf x y \/ mo x y \/ frel P x y).

  Definition eco P := clos_trans E (ecostep P).
  Definition hb P := clos_trans E (hbstep P).
  Definition hbsc P := clos_trans E (scstep P).

  Definition SC P := forall x, ~ hbsc P x x.
  Definition atomic (P : E -> Prop) :=
    forall w u, P w -> P u -> rf w u -> Wr u -> mo w u /\ forall x, P x -> mo w x -> x = u \/ mo u x.
  Definition consistent P :=
    (forall x, ~ hb P x x) /\ (forall x y, hb P x y -> ~ eco P y x) /\ atomic P.

  Lemma hb_sc P x y : hb P x y -> hbsc P x y.
  Proof.
    assert (S : forall x y, clos_trans E (porf P) x y -> hbsc P x y).
    { induction 1 as [a b (A & B & C)|]; [apply t_step; unfold scstep; tauto | eapply t_trans; eauto]. }
    induction 1 as [a b (A & B & [C|C])|]; [apply t_step; unfold scstep; tauto | eauto | eapply t_trans; eauto].
  Qed.
  Lemma eco_sc P x y : eco P x y -> hbsc P x y.
  Proof.
    induction 1 as [x y (A & B & C)|]; [apply t_step; unfold scstep; tauto | eapply t_trans; eauto].
  Qed.

  Section Last.
    Variable H : E -> Prop.                      (* all but the last event *)
    Variable e : E.
    Hypothesis fresh : ~ H e.
    Definition G x := H x \/ x = e.
    Hypothesis e_po : forall x, G x -> ~ po e x.
    Hypothesis e_rf : forall x, G x -> ~ rf e x.

    (** The writes behind: those that [e] overlooks. [w'] is the first of them. *)
    Definition behind x := H x /\ (mo e x \/ frel H e x).
    Definition first w' := behind w' /\ forall x, behind x -> x = w' \/ mo w' x.

    Lemma HG x : H x -> G x. Proof. unfold G; auto. Qed.

    Lemma frel_HG x y : frel H x y -> frel G x y.
    Proof. intros (w & ? & ?). exists w. split; auto using HG. Qed.

    Lemma frel_GH x y : G x -> frel G x y -> frel H x y.
    Proof.
      intros Hx (w & [Hw| ->] & Hr & Hm & Hn); [exists w; auto|]. destruct (e_rf _ Hx Hr).
    Qed.

    Lemma sc_HG x y : scstep H x y -> scstep G x y.
    Proof. intros (A & B & C). repeat split; auto using HG. intuition auto using frel_HG. Qed.
    Lemma sc_GH x y : H x -> H y -> scstep G x y -> scstep H x y.
    Proof. intros A B (_ & _ & C). repeat split; auto. intuition auto using frel_GH, HG. Qed.
    Lemma eco_HG x y : ecostep H x y -> ecostep G x y.
    Proof. intros (A & B & C). repeat split; auto using HG. intuition auto using frel_HG. Qed.
    Lemma eco_GH x y : H x -> H y -> ecostep G x y -> ecostep H x y.
    Proof. intros A B (_ & _ & C). repeat split; auto. intuition auto using frel_GH, HG. Qed.

    (** What leaves [e] leads behind. *)
    Lemma out_sc a : scstep G e a -> behind a.
    Proof.
      intros (_ & [Ha| ->] & [C|[C|[C|C]]]).
      - destruct (e_po a); auto using HG.
      - destruct (e_rf a); auto using HG.
      - split; auto.
      - split; auto. right. apply frel_GH; auto. unfold G; auto.
      - destruct (e_po e); auto. unfold G; auto.
      - destruct (e_rf e); auto. unfold G; auto.
      - destruct (mo_irr e C).
      - destruct C as (w & _ & _ & _ & D). congruence.
    Qed.

    Lemma ecostep_sc P x y : ecostep P x y -> scstep P x y.
    Proof. unfold ecostep, scstep. tauto. Qed.

    Variable w' : E.
    Hypothesis Hfirst : first w'.
    Hypothesis atom : atomic G.

    (** What comes to [e] but by program order comes before [w'], by a step in [H]. *)
    Lemma bypass b : H b -> ecostep G b e -> ecostep H b w'.
    Proof.
      intros Hb (_ & _ & C). destruct Hfirst as [[Hw B] _]. split; [auto|]. split; [auto|].
      assert (Ge : G e) by (unfold G; auto).
      assert (Later : Wr e -> mo e w').
      { intros We. destruct B as [B|(w & Pw & Rw & Mw & Nw)]; auto.
        destruct (atom w e (HG _ Pw) Ge Rw We) as [_ A]. destruct (A w' (HG _ Hw) Mw); auto. congruence. }
      destruct C as [C|[C|(w0 & [P0| ->] & R0 & M0 & N0)]].
      - (* e reads b *)
        right. left. destruct B as [B|(w & Pw & Rw & Mw & Nw)].
        + assert (We := proj1 (mo_dom _ _ B)). destruct (atom b e (HG _ Hb) Ge C We) as [A _]. eauto.
        + now rewrite <- (rf_fun _ _ _ Rw C).
      - (* b is before e in mo *)
        right. left. apply mo_trans with e; auto. apply Later. now destruct (mo_dom _ _ C).
      - (* b reads what is before e in mo *)
        right. right. assert (We := proj2 (mo_dom _ _ M0)). specialize (Later We).
        exists w0. repeat split; eauto. intros ->.
        destruct (atom w0 w' (HG _ P0) (HG _ Hw) R0 (proj2 (mo_dom _ _ Later))) as [_ A].
        destruct (A e Ge M0) as [D|D]; [congruence|]. apply (mo_irr e). eauto.
      - destruct (e_rf b (HG _ Hb) R0).
    Qed.

    (** A path from [H] to [e]: up to its first visit. *)
    Lemma to_e y z : clos_trans_1n E (scstep G) y z -> z = e -> H y ->
      exists b, clos_refl_trans E (scstep H) y b /\ H b /\ scstep G b e.
    Proof.
      induction 1 as [y z S|y x z S T IH]; intros -> Hy.
      - exists y. split; [apply rt_refl|]. auto.
      - destruct S as (A & [Hx| ->] & C).
        + destruct (IH eq_refl Hx) as (b & R & Hb & S). exists b. split; auto.
          apply rt_trans with x; auto. apply rt_step. apply sc_GH; auto. repeat split; auto using HG.
        + exists y. split; [apply rt_refl|]. split; auto. repeat split; auto. unfold G; auto.
    Qed.

    Lemma in_H_or_through_e x y : hbsc G x y ->
      hbsc H x y \/ (clos_refl_trans E (scstep G) x e /\ clos_refl_trans E (scstep G) e y).
    Proof.
      induction 1 as [x y S|x y z T1 IH1 T2 IH2].
      - destruct S as ([Hx| ->] & [Hy| ->] & C).
        + left. apply t_step. apply sc_GH; auto. repeat split; auto using HG.
        + right. split; [apply rt_step|apply rt_refl]. repeat split; auto using HG. unfold G; auto.
        + right. split; [apply rt_refl|apply rt_step]. repeat split; auto using HG. unfold G; auto.
        + right. split; apply rt_refl.
      - assert (R : forall a b, hbsc G a b -> clos_refl_trans E (scstep G) a b).
        { induction 1; [now apply rt_step | eapply rt_trans; eauto]. }
        destruct IH1 as [A|[A B]]; [destruct IH2 as [C|[C D]]|].
        + left. eapply t_trans; eauto.
        + right. split; auto. eapply rt_trans; eauto.
        + right. split; auto. eapply rt_trans; eauto.
    Qed.

    Lemma rt_t R (x y : E) : clos_refl_trans E R x y -> x = y \/ clos_trans E R x y.
    Proof.
      induction 1 as [| |x y z A [->|IH1] B [->|IH2]]; auto.
      - right. now apply t_step.
      - right. eapply t_trans; eauto.
    Qed.

    Hypothesis H_sc : SC H.

    (** ** One last event: [H + e] is not SC iff [w'] has a path to [e]'s thread. *)
    Theorem one_last_event :
      (exists x, hbsc G x x) <-> (exists f, H f /\ clos_refl_trans E (scstep H) w' f /\ po f e).
    Proof.
      split.
      - intros (x & Hx). destruct (in_H_or_through_e _ _ Hx) as [A|[A B]]; [destruct (H_sc _ A)|].
        assert (C : hbsc G e e).
        { apply rt_t in A. apply rt_t in B. destruct A as [->|A], B as [B|B]; subst; auto. eapply t_trans; eauto. }
        clear x Hx A B. apply clos_trans_t1n in C.
        assert (D : exists a b, behind a /\ clos_refl_trans E (scstep H) a b /\ H b /\ scstep G b e).
        { inversion C as [y S|y z S T]; subst.
          - apply out_sc in S. destruct S as [S _]. tauto.
          - apply out_sc in S. destruct (to_e _ _ T eq_refl) as (b & R & Hb & Sb); [apply S|]. eauto 6. }
        destruct D as (a & b & Ba & R & Hb & Sb).
        assert (R' : clos_refl_trans E (scstep H) w' b).
        { destruct (proj2 Hfirst a Ba) as [->|M]; auto. apply rt_trans with a; auto. apply rt_step.
          destruct Hfirst as [[? _] _], Ba as [? _]. unfold scstep. tauto. }
        assert (Sb' := Sb). destruct Sb' as (_ & Ge & [C'|C']).
        + exists b. auto.
        + exfalso. assert (Eb : ecostep G b e) by (unfold ecostep; auto using HG).
          apply bypass in Eb; auto. apply ecostep_sc in Eb.
          apply (H_sc b). apply rt_t in R'. destruct R' as [->|R']; [now apply t_step|].
          eapply t_trans; [apply t_step|]; eauto.
      - intros (f & Hf & R & P). exists e. destruct Hfirst as [[Hw B] _].
        assert (R' : clos_refl_trans E (scstep G) w' f).
        { clear - R fresh. induction R; [apply rt_step; now apply sc_HG | apply rt_refl | eapply rt_trans; eauto]. }
        assert (S1 : scstep G e w') by (repeat split; auto using HG; unfold G; intuition auto using frel_HG).
        assert (S2 : scstep G f e) by (repeat split; auto using HG; unfold G; auto).
        apply t_trans with w'; [now apply t_step|].
        apply rt_t in R'. destruct R' as [->|R']; [now apply t_step|].
        apply t_trans with f; auto. now apply t_step.
    Qed.

    (** ** Which [e] are consistent (release/acquire): it must not know a write behind, nor a reader of one. *)
    Definition stale a := behind a \/ exists w, behind w /\ H a /\ rf w a.

    Lemma stale_H a : stale a -> H a.
    Proof. intros [[? _]|(w & _ & ? & _)]; auto. Qed.

    Lemma behind_mo a b : behind a -> H b -> mo a b -> behind b.
    Proof.
      intros [Ha [A|(w & Pw & Rw & Mw & Nw)]] Hb M; split; auto; [left; eauto|].
      right. exists w. repeat split; eauto. congruence.
    Qed.

    Lemma stale_eco a b : stale a -> ecostep H a b -> stale b.
    Proof.
      intros Sa (Ha & Hb & C).
      assert (K : forall x w, behind w -> H x -> rf w x -> Wr x -> behind x).
      { intros x w Bw Hx R Wx. destruct (atom w x (HG _ (proj1 Bw)) (HG _ Hx) R Wx) as [M _].
        eapply behind_mo; eauto. }
      destruct Sa as [Ba|(w & Bw & _ & R)].
      - destruct C as [C|[C|(w0 & P0 & R0 & M0 & N0)]].
        + right. exists a. auto.
        + left. eapply behind_mo; eauto.
        + (* a is a read-modify-write behind that reads w0 *)
          left. assert (Wa : Wr a). { destruct Ba as [_ [A|(w & _ & _ & A & _)]]; now destruct (mo_dom _ _ A). }
          destruct (atom w0 a (HG _ P0) (HG _ Ha) R0 Wa) as [_ A]. destruct (A b (HG _ Hb) M0) as [->|M]; [congruence|].
          eapply behind_mo; eauto.
      - destruct C as [C|[C|(w0 & P0 & R0 & M0 & N0)]].
        + right. exists a. split; [eapply K; eauto|auto].
        + left. apply behind_mo with a; auto. eapply K; eauto. now destruct (mo_dom _ _ C).
        + left. rewrite (rf_fun _ _ _ R0 R) in M0. eapply behind_mo; eauto.
    Qed.

    (** Eco-paths: detours over [e] can be left out; from [e] they lead to what is stale. *)
    Lemma eco_from x y : clos_trans_n1 E (ecostep G) x y ->
      (H x -> H y -> eco H x y) /\
      (H x -> y = e -> exists b, clos_refl_trans E (ecostep H) x b /\ H b /\ ecostep G b e) /\
      (x = e -> H y -> stale y).
    Proof.
      assert (Out : forall a, ecostep G e a -> behind a) by (intros a S; apply out_sc, ecostep_sc, S).
      assert (W'a : forall a, behind a -> w' = a \/ ecostep H w' a).
      { intros a Ba. destruct (proj2 Hfirst a Ba) as [->|M]; auto. right.
        destruct Hfirst as [[? _] _], Ba as [? _]. unfold ecostep. auto. }
      induction 1 as [y S|y z S T IH].
      - split; [|split].
        + intros. apply t_step. now apply eco_GH.
        + intros Hx ->. exists x. repeat split; auto; try apply rt_refl; apply S.
        + intros -> _. left. auto.
      - destruct IH as (I1 & I2 & I3). assert (Gy : G y) by apply S. destruct Gy as [Hy| ->].
        + split; [|split].
          * intros Hx Hz. eapply t_trans; [apply I1; auto|]. apply t_step. now apply eco_GH.
          * intros Hx ->. exists y. repeat split; auto; try apply S.
            assert (A := I1 Hx Hy). clear - A. induction A; [now apply rt_step | eapply rt_trans; eauto].
          * intros -> Hz. eapply stale_eco; [apply I3; auto|]. now apply eco_GH.
        + split; [|split].
          * intros Hx Hz. destruct (I2 Hx eq_refl) as (b & R & Hb & Sb). apply bypass in Sb; auto.
            assert (Q : clos_trans E (ecostep H) x w').
            { apply rt_t in R. destruct R as [->|R]; [now apply t_step|]. eapply t_trans; [eauto|now apply t_step]. }
            destruct (W'a z (Out _ S)) as [<-|A]; auto. eapply t_trans; [eauto|now apply t_step].
          * intros Hx ->. destruct (out_sc e (ecostep_sc _ _ _ S)). tauto.
          * intros _ _. left. auto.
    Qed.

    Lemma sync_from P x y : sync P x y -> P x /\ P y /\ exists z, P z /\ (po x z \/ rf x z).
    Proof.
      intros C. apply sync_porf in C. split; [|split].
      - apply clos_trans_t1n in C. inversion C as [? A|? ? A]; apply A.
      - apply clos_trans_tn1 in C. inversion C as [? A|? ? A]; apply A.
      - apply clos_trans_t1n in C. inversion C as [z A|z ? A]; destruct A as (_ & A & B); eauto.
    Qed.

    Lemma from_e_no_hb y : ~ hb G e y.
    Proof.
      assert (N : forall z, G z -> ~ (po e z \/ sync G e z)).
      { intros z Gz [C|C]; [eapply e_po; eauto|]. destruct (sync_from _ _ _ C) as (_ & _ & u & Gu & [R|R]); [eapply e_po|eapply e_rf]; eauto. }
      intros Hy. apply clos_trans_t1n in Hy.
      inversion Hy as [z (_ & Gz & C)|z z2 (_ & Gz & C)]; subst; eapply N; eauto.
    Qed.

    Lemma hb_GH x y : hb G x y -> H x /\ (H y -> hb H x y).
    Proof.
      intros T. split.
      - assert (Gx : G x). { apply clos_trans_t1n in T. inversion T as [? A|? ? A]; apply A. }
        destruct Gx as [| ->]; auto. destruct (from_e_no_hb _ T).
      - induction T as [x y (A & B & C)|x y z T1 IH1 T2 IH2]; intros Hy.
        + assert (Hx : H x). { destruct A as [| ->]; auto. destruct (from_e_no_hb y). apply t_step. split; [right; reflexivity|auto]. }
          apply t_step. split; [auto|]. split; [auto|]. destruct C as [C|C]; auto. right. apply (sync_local H e); auto.
        + assert (Gy : G y). { apply clos_trans_t1n in T2. inversion T2 as [? A|? ? A]; apply A. }
          destruct Gy as [Hy'| ->]; [|destruct (from_e_no_hb _ T2)].
          eapply t_trans; [apply IH1|apply IH2]; auto.
    Qed.

    Theorem last_event_consistent : consistent G <-> (forall a, stale a -> ~ hb G a e).
    Proof.
      assert (Out : forall a, behind a -> ecostep G e a)
        by (intros a [Ha C]; repeat split; auto using HG; unfold G; intuition auto using frel_HG).
      split.
      - intros (_ & C & _) a Sa Ha. apply (C _ _ Ha). destruct Sa as [B|(w & B & Ga & R)].
        + apply t_step. auto.
        + apply t_trans with w; apply t_step; auto. destruct B as [Hw _]. unfold ecostep. auto using HG.
      - intros K. split; [|split; auto].
        + intros x Hx. destruct (hb_GH _ _ Hx) as [A B]. apply (H_sc x). apply hb_sc. auto.
        + intros x y Hx Hy. destruct (hb_GH _ _ Hx) as [A B].
          assert (Gy : G y). { apply clos_trans_t1n in Hy. inversion Hy as [? D|? ? D]; apply D. }
          apply clos_trans_tn1 in Hy. destruct (eco_from _ _ Hy) as (I1 & I2 & I3). destruct Gy as [Hy'| ->].
          * apply (H_sc x). eapply t_trans; [apply hb_sc, B; auto|]. apply eco_sc. auto.
          * apply (K x); auto.
    Qed.
  End Last.

  (** * The first prefix that is not sequentially consistent *)

  Lemma hbsc_mono (P Q : E -> Prop) x y : (forall z, P z -> Q z) -> hbsc P x y -> hbsc Q x y.
  Proof.
    intros I. induction 1 as [x y (A & B & C)|]; [apply t_step | eapply t_trans; eauto].
    repeat split; auto. destruct C as [C|[C|[C|(w & Pw & C)]]]; auto. right; right; right. exists w. auto.
  Qed.
  Lemma hb_mono (P Q : E -> Prop) x y : (forall z, P z -> Q z) -> hb P x y -> hb Q x y.
  Proof.
    intros I. induction 1 as [x y (A & B & C)|]; [apply t_step | eapply t_trans; eauto].
    split; [auto|]. split; [auto|]. destruct C as [C|C]; auto. right. eapply sync_mono; eauto.
  Qed.
  Lemma eco_mono (P Q : E -> Prop) x y : (forall z, P z -> Q z) -> eco P x y -> eco Q x y.
  Proof.
    intros I. induction 1 as [x y (A & B & C)|]; [apply t_step | eapply t_trans; eauto].
    repeat split; auto. destruct C as [C|[C|(w & Pw & C)]]; auto. right; right. exists w. auto.
  Qed.
  Lemma consistent_mono (P Q : E -> Prop) : (forall z, P z -> Q z) -> consistent Q -> consistent P.
  Proof.
    intros I (A & B & C). split; [|split].
    - intros x Hx. apply (A x). eauto using hb_mono.
    - intros x y Hx Hy. apply (B x y); eauto using hb_mono, eco_mono.
    - intros w u Pw Pu R Wu. destruct (C w u (I _ Pw) (I _ Pu) R Wu). auto.
  Qed.

  (** A list of events in an order that respects po and rf. *)
  Definition sorted (l : list E) : Prop :=
    forall l1 x l2, l = l1 ++ x :: l2 -> ~ In x l1 /\ forall y, In y l1 \/ y = x -> ~ po x y /\ ~ rf x y.

  Lemma sorted_app l l' : sorted (l ++ l') -> sorted l.
  Proof. intros S l1 x l2 ->. apply (S l1 x (l2 ++ l')). rewrite <- app_assoc. reflexivity. Qed.

  Definition events (l : list E) : E -> Prop := fun x => In x l.

  Lemma first_prefix l : sorted l -> (exists x, hbsc (events l) x x) ->
    exists l1 e l2, l = l1 ++ e :: l2 /\ SC (events l1) /\ exists x, hbsc (G (events l1) e) x x.
  Proof.
    induction l as [|e l IH] using rev_ind; intros S (x & Hx).
    - exfalso. apply clos_trans_t1n in Hx. inversion Hx as [? ([] & _)|? ? ([] & _)].
    - destruct (classic (SC (events l))) as [Y|N].
      + exists l, e, []. repeat split; auto. exists x. eapply hbsc_mono; [|exact Hx].
        intros z Hz. apply in_app_or in Hz. unfold G, events. simpl in Hz. intuition.
      + destruct IH as (l1 & e1 & l2 & -> & A & B); [eapply sorted_app; eauto|apply not_all_not_ex; exact N|].
        exists l1, e1, (l2 ++ [e]). rewrite <- app_assoc. auto.
  Qed.

  (** Modification order is total on the writes of a location. *)
  Variable Loc : Type.
  Variable loc : E -> Loc.
  Hypothesis mo_loc : forall a b, mo a b -> loc a = loc b.
  Hypothesis rf_loc : forall a b, rf a b -> loc a = loc b.
  Hypothesis mo_total : forall a b, Wr a -> Wr b -> loc a = loc b -> a = b \/ mo a b \/ mo b a.

  Lemma behind_total H e a b : behind H e a -> behind H e b -> a = b \/ mo a b \/ mo b a.
  Proof.
    assert (K : forall a, behind H e a -> Wr a /\ loc a = loc e).
    { intros x (_ & [M|(w & _ & R & M & _)]); split; try (now destruct (mo_dom _ _ M)).
      - symmetry. auto.
      - rewrite <- (mo_loc _ _ M). auto. }
    intros A B. destruct (K _ A), (K _ B). apply mo_total; congruence.
  Qed.

  Lemma first_exists l e : (exists a, behind (events l) e a) -> exists w', first (events l) e w'.
  Proof.
    intros (a0 & B0). assert (M : forall k, (exists a, behind (events l) e a /\ In a k) ->
      exists w, behind (events l) e w /\ forall x, behind (events l) e x -> In x k -> x = w \/ mo w x).
    { induction k as [|c k IH]; intros (a & Ba & Ia); [destruct Ia|].
      destruct (classic (exists a, behind (events l) e a /\ In a k)) as [Y|N].
      - destruct (IH Y) as (w & Bw & L). destruct (classic (behind (events l) e c)) as [Bc|Nc].
        + destruct (behind_total _ _ _ _ Bc Bw) as [->|[D|D]].
          * exists w. split; auto. intros x Bx [->|I]; auto.
          * exists c. split; auto. intros x Bx [->|I]; auto. destruct (L x Bx I) as [->|]; eauto.
          * exists w. split; auto. intros x Bx [->|I]; auto.
        + exists w. split; auto. intros x Bx [->|I]; [tauto|auto].
      - destruct Ia as [->|Ia]; [|destruct N; eauto]. exists a. split; auto.
        intros x Bx [->|I]; auto. destruct N; eauto. }
    destruct (M l) as (w & Bw & L). { exists a0. split; auto. apply B0. }
    exists w. split; auto. intros x Bx. apply L; auto. apply Bx.
  Qed.

  (** * Theorem 1, about graphs *)

  Definition violation (H : E -> Prop) (e w' f : E) : Prop :=
    SC H /\ ~ H e /\ (forall x, G H e x -> ~ po e x /\ ~ rf e x) /\ atomic (G H e) /\ first H e w' /\
    H f /\ clos_refl_trans E (scstep H) w' f /\ po f e /\         (* w' is before e's thread: bit s *)
    (forall a, stale H e a -> ~ hb (G H e) a e).                   (* e does not know: bit k *)

  Theorem violation_complete l : sorted l -> consistent (events l) -> ~ SC (events l) ->
    exists l1 e l2 w' f, l = l1 ++ e :: l2 /\ violation (events l1) e w' f.
  Proof.
    intros S R N. apply not_all_not_ex in N. destruct (first_prefix l S N) as (l1 & e & l2 & -> & A & x & Hx).
    destruct (S l1 e l2 eq_refl) as [Fr Out].
    assert (Sub : forall z, G (events l1) e z -> events (l1 ++ e :: l2) z).
    { intros z [Hz| ->]; apply in_or_app; simpl; auto. }
    assert (RG := consistent_mono _ _ Sub R). assert (At : atomic (G (events l1) e)) by apply RG.
    assert (P1 : forall y, G (events l1) e y -> ~ po e y) by (intros y Hy; apply Out; exact Hy).
    assert (P2 : forall y, G (events l1) e y -> ~ rf e y) by (intros y Hy; apply Out; exact Hy).
    assert (B : exists a, behind (events l1) e a).
    { apply not_all_not_ex. intros None. destruct (in_H_or_through_e _ _ P2 _ _ Hx) as [C|[C D]]; [destruct (A _ C)|].
      assert (T : hbsc (G (events l1) e) e e).
      { apply rt_t in C. apply rt_t in D. destruct C as [->|C], D as [D|D]; subst; auto. eapply t_trans; eauto. }
      apply clos_trans_t1n in T. inversion T as [? U|? ? U]; subst; apply out_sc in U; auto; eapply None; eauto. }
    destruct (first_exists _ _ B) as (w' & Fw).
    destruct (proj1 (one_last_event _ _ Fr P1 P2 w' Fw At A)) as (f & Hf & Rf & Pf); [eauto|].
    exists l1, e, l2, w', f. split; auto.
    split; [exact A|]. split; [exact Fr|]. split; [intros y Hy; split; auto|]. split; [exact At|].
    split; [exact Fw|]. split; [exact Hf|]. split; [exact Rf|]. split; [exact Pf|].
    exact (proj1 (last_event_consistent _ _ Fr P1 P2 w' Fw At A) RG).
  Qed.

  Theorem violation_sound H e w' f : violation H e w' f -> consistent (G H e) /\ ~ SC (G H e).
  Proof.
    intros (A & Fr & Out & At & Fw & Hf & Rf & Pf & K).
    assert (P1 : forall y, G H e y -> ~ po e y) by (intros y Hy; now apply Out).
    assert (P2 : forall y, G H e y -> ~ rf e y) by (intros y Hy; now apply Out).
    split.
    - now apply (last_event_consistent _ _ Fr P1 P2 w' Fw At A).
    - intros S. destruct (proj2 (one_last_event _ _ Fr P1 P2 w' Fw At A)) as (x & Hx); [eauto|]. exact (S x Hx).
  Qed.
End Graph.

